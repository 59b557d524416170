import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { openLab, photo } from "./photo-lab.ts";

// Opening a browser with every network takes seconds on a busy machine.
setDefaultTimeout(60_000);

let lab: Awaited<ReturnType<typeof openLab>>;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab?.close());

/** A photo as a painter would have it: no detail, and each colour in six shades. */
async function painted(bytes: Uint8Array): Promise<Uint8Array> {
  const page = await lab.browser.newPage();
  const base64 = await page.evaluate(async (source) => {
    const bitmap = await createImageBitmap(
      new Blob([Uint8Array.from(atob(source), (letter) => letter.charCodeAt(0))]),
    );
    const scale = 900 / Math.max(bitmap.width, bitmap.height);
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    context.filter = "blur(3px)";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    pixels.data.forEach((value, i, all) => {
      if (i % 4 < 3) all[i] = (255 * Math.round((6 * value) / 255)) / 6;
    });
    context.putImageData(pixels, 0, 0);
    const png = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    let text = "";
    for (let i = 0; i < png.length; i += 8192) text += String.fromCharCode(...png.subarray(i, i + 8192));
    return btoa(text);
  }, bytes.toBase64());
  await page.close();
  return Uint8Array.fromBase64(base64);
}

test("a portrait made to look painted is refused with a reason of its own, and what to send instead", async () => {
  const man = photo("unsplash_man.jpg");
  const result = await lab.cutOut(await painted(man));
  expect(result).toMatchObject({ ok: false, reason: "not_a_photograph" });
  expect("message" in result && result.message).toContain("Use one where a camera took the player");
  expect(await lab.cutOut(man)).toMatchObject({ ok: true });
});
