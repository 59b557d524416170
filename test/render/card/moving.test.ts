import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtempDisposable, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type { Motion, MovingFormat } from "../../../src/core/card.ts";
import { frameSize, MAX_MOVING_BYTES } from "../../../src/core/moving-pictures.ts";
import { openSealedPage } from "../../../src/render/browser/browser.ts";
import { stillOfFilm } from "../../../src/render/card/formats/film-still.ts";
import { mp4Of, stillInMp4 } from "../../../src/render/card/formats/mp4.ts";
import { checkMp4Encoder } from "../../../src/render/card/formats/mp4-trial.ts";
import { riffChunksOf } from "../../../src/render/card/formats/riff.ts";
import { webm } from "../../../src/render/card/formats/webm.ts";
import { NO_VIDEO_ENCODER } from "../../../src/render/card/moving-picture.ts";
import { changeOf, drawFrame, FRAMES, poseOf } from "../../../src/render/card/page/moving.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput, closePages, cutout, openBrowser } from "./cards.ts";

const FFMPEG = Bun.which("ffmpeg");

/** A grey card of which the upper half is foil. */
function greyCard(width = 60, height = 80) {
  const rgba = new Uint8ClampedArray(width * height * 4).fill(90);
  for (let at = 3; at < rgba.length; at += 4) rgba[at] = 255;
  const foil = new Uint8Array(width * height).fill(255, 0, (width * height) / 2);
  return { width, height, rgba, foil, ground: null };
}

function frameOf(scene: ReturnType<typeof greyCard>, motion: Motion, number: number): Uint8ClampedArray {
  const [out, spare] = [scene.rgba, scene.rgba].map((like) => new Uint8ClampedArray(like.length));
  if (!out || !spare) throw new Error("no room");
  drawFrame(scene, poseOf(motion, number), out, spare);
  return out;
}

const brightest = (pixels: Uint8ClampedArray) =>
  pixels.reduce((most, value, at) => ((at & 3) === 3 ? most : Math.max(most, value)), 0);

test("light begins and ends outside of the card, and is brighter on foil than beside it", () => {
  const scene = greyCard();
  for (const number of [0, FRAMES.foil - 1]) expect(frameOf(scene, "foil", number)).toEqual(scene.rgba);
  const middle = frameOf(scene, "foil", FRAMES.foil / 2);
  const half = middle.length / 2;
  expect(brightest(middle.subarray(0, half))).toBeGreaterThan(200);
  expect(brightest(middle.subarray(half))).toBeGreaterThan(110);
  expect(brightest(middle.subarray(half))).toBeLessThan(190);
});

test("a reveal begins in the dark and turned away, and ends as the card", () => {
  const scene = greyCard();
  const first = frameOf(scene, "reveal", 0);
  const seen = first.reduce((sum, value, at) => sum + ((at & 3) === 3 && value > 0 ? 1 : 0), 0);
  expect(seen).toBeLessThan(0.75 * scene.width * scene.height);
  expect(first[(40 * 60 + 45) * 4]).toBeLessThan(30);
  expect(frameOf(scene, "reveal", FRAMES.reveal - 1)).toEqual(scene.rgba);
});

test("what changes from frame to frame, laid over each other, is each frame", () => {
  const scene = greyCard();
  // An edge that is half see-through, which must never be laid over itself.
  for (let y = 0; y < scene.height; y++) scene.rgba[y * scene.width * 4 + 3] = 128;
  const shown = new Uint8ClampedArray(scene.rgba.length);
  const canvas = new Uint8ClampedArray(scene.rgba.length);
  for (let number = 0; number < FRAMES.reveal; number++) {
    const next = frameOf(scene, "reveal", number);
    const changed = changeOf(next, shown, scene.width, scene.height);
    if (changed) {
      const { x, y, width, height, isPatch } = changed.change;
      expect([x % 2, y % 2]).toEqual([0, 0]);
      for (let row = 0; row < height; row++)
        for (let column = 0; column < width; column++) {
          const from = (row * width + column) * 4;
          if (isPatch && changed.pixels[from + 3] === 0) continue;
          canvas.set(changed.pixels.subarray(from, from + 4), ((y + row) * scene.width + x + column) * 4);
        }
    }
    expect(canvas.findIndex((value, at) => Math.abs(value - Number(next[at])) > 2)).toBe(-1);
  }
});

test("frames keep the card's shape within what their format has room for, with even sides", () => {
  const card = { width: 1024, height: 1280 };
  expect(frameSize({ format: "webm", motion: "foil" }, card)).toEqual(card);
  expect(frameSize({ format: "webm", motion: "reveal" }, { width: 2048, height: 2048 })).toEqual({
    width: 1440,
    height: 1440,
  });
  expect(frameSize({ format: "webp-animated", motion: "foil" }, { width: 1080, height: 1080 })).toEqual({
    width: 720,
    height: 720,
  });
  expect(frameSize({ format: "webp-animated", motion: "reveal" }, { width: 513, height: 641 })).toEqual({
    width: 446,
    height: 558,
  });
});

describe("a finished card", () => {
  let browser: Browser;
  let page: CardPage;
  let lab: PixelLab;
  beforeAll(async () => {
    browser = await openBrowser();
    page = await openCardPage(browser, await loadTemplate("club_card"), { captureMethod: "canvas" });
    lab = await openPixelLab(browser);
  });
  afterAll(closePages);

  const make = async (
    format: MovingFormat | "webp" | "png",
    motion?: Motion,
    size = { width: 512, height: 640 },
  ) => {
    const card = cardInput({ ...size, theme: "stadium", skill: 91 });
    Object.assign(card.style, { format, ...(motion && { motion }) });
    return page.render({ card, cutout: await cutout("man"), badge: null });
  };

  test("as an animated WebP shows the still first, moves for two seconds without end, and is the same each time", async () => {
    const { bytes, contentType, width, height } = await make("webp-animated");
    expect([contentType, width, height]).toEqual(["image/webp", 512, 640]);
    expect(bytes.length).toBeLessThan(MAX_MOVING_BYTES);
    const still = (await make("webp")).bytes;
    // Browsers that show one frame show the first.
    expect((await lab.compare(bytes, still)).psnr).toBeGreaterThan(33);
    const chunks = riffChunksOf(bytes);
    const frames = chunks.filter(({ type }) => type === "ANMF");
    expect(frames.length).toBeGreaterThan(25);
    const milliseconds = frames.map(({ data }) => Buffer.from(data).readUIntLE(12, 3));
    expect(milliseconds.reduce((sum, one) => sum + one, 0)).toBe(2000);
    expect(chunks.find(({ type }) => type === "ANIM")?.data.slice(4)).toEqual(new Uint8Array(2));
    const kept = stillOfFilm(bytes) ?? new Uint8Array();
    expect(await lab.compare(kept, still)).toMatchObject({ sameSize: true, largest: 0 });
    expect(Buffer.compare((await make("webp-animated")).bytes, bytes)).toBe(0);
  });

  test("as a video plays for three seconds, ends as the still, and is the same each time", async () => {
    const { bytes, contentType } = await make("webm", "reveal");
    expect(contentType).toBe("video/webm");
    expect(bytes.length).toBeLessThan(MAX_MOVING_BYTES);
    const shown = await played(browser, bytes, 2.98);
    expect([shown.duration, shown.width, shown.height]).toEqual([3, 512, 640]);
    const png = (await make("png")).bytes;
    expect(await meanDifference(browser, shown.picture, png)).toBeLessThan(3);
    expect(
      await lab.compare(stillOfFilm(bytes) ?? new Uint8Array(), (await make("webp")).bytes),
    ).toMatchObject({ sameSize: true });
    expect(Buffer.compare((await make("webm", "reveal")).bytes, bytes)).toBe(0);
  });

  test.skipIf(FFMPEG === null)(
    "as an MP4 is H.264 that any player takes, ends as the still, and is the same each time",
    async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "cardpress-mp4-"));
      const maker = { encoder: FFMPEG ?? "", scratch: folder.path };
      const film = await make("mp4", "reveal");
      expect(film.contentType).toBe("video/mp4");
      const { bytes, ...size } = await mp4Of(film, maker);
      expect(size).toEqual({ width: 512, height: 640 });
      expect(bytes.length).toBeLessThan(MAX_MOVING_BYTES);
      expect(await readdir(folder.path)).toEqual([]);
      const path = join(folder.path, "card.mp4");
      await Bun.write(path, bytes);
      expect(await probed(path)).toMatchObject({
        format: { format_name: expect.stringContaining("mp4"), duration: "3.000000" },
        streams: [
          {
            ...{ codec_name: "h264", pix_fmt: "yuv420p", color_range: "tv", color_space: "bt709" },
            ...{ width: 512, height: 640, r_frame_rate: "25/1", nb_frames: "75" },
          },
        ],
      });
      // What players need to begin comes before the frames.
      const file = Buffer.from(bytes);
      expect(file.indexOf("moov")).toBeLessThan(file.indexOf("mdat"));
      // Of a PNG by ffmpeg, which says how it is to be brightened, a browser shows other colours.
      const last = join(folder.path, "last.bmp");
      await ffmpeg("-sseof", "-0.05", "-i", path, "-frames:v", "1", last);
      const shown = `data:image/bmp;base64,${(await Bun.file(last).bytes()).toBase64()}`;
      expect(await meanDifference(browser, shown, (await make("png")).bytes)).toBeLessThan(3);
      expect(
        await lab.compare(stillOfFilm(bytes) ?? new Uint8Array(), (await make("webp")).bytes),
      ).toMatchObject({ sameSize: true });
      const again = await mp4Of(await make("mp4", "reveal"), maker);
      expect(Buffer.compare(again.bytes, bytes)).toBe(0);
    },
  );

  // Transparency is kept without loss, so that no quality makes a card of noise small enough.
  test("of nothing but noise gets smaller frames rather than more than two megabytes", async () => {
    const shown = page.page;
    await shown.evaluate((side) => {
      const noise = Object.assign(document.createElement("canvas"), {
        id: "noise",
        width: side,
        height: side,
      });
      noise.dataset.foil = "";
      noise.style.cssText = "position: absolute; inset: 0; width: 100%; height: 100%; visibility: visible";
      const pixels = new ImageData(side, side);
      for (let at = 0, seed = 1; at < pixels.data.length; at++) {
        seed = (seed * 1664525 + 1013904223) % 2 ** 32;
        pixels.data[at] = at % 4 === 3 ? seed / 2 ** 24 : seed > 2 ** 31 ? 255 : 0;
      }
      noise.getContext("2d")?.putImageData(pixels, 0, 0);
      const card = document.querySelector<HTMLElement>(".card");
      card?.append(noise);
      if (card) card.style.visibility = "hidden";
    }, 512);
    try {
      const made = await make("webp-animated", "reveal", { width: 512, height: 512 });
      expect(made.bytes.length).toBeLessThanOrEqual(MAX_MOVING_BYTES);
      expect(made.width).toBe(made.height);
      expect(made.width).toBeLessThan(500);
      expect(made.width).toBeGreaterThan(200);
    } finally {
      await shown.evaluate(() => {
        document.querySelector("#noise")?.remove();
        document.querySelector<HTMLElement>(".card")?.style.removeProperty("visibility");
      });
    }
  });

  test("as a video is refused where the browser encodes none", async () => {
    const encoder = await page.page.evaluateHandle(() => globalThis.VideoEncoder);
    await page.page.evaluate(() => Reflect.deleteProperty(globalThis, "VideoEncoder"));
    try {
      await expect(make("webm")).rejects.toThrow(NO_VIDEO_ENCODER);
    } finally {
      await page.page.evaluate((own) => Object.assign(globalThis, { VideoEncoder: own }), encoder);
    }
  });

  test("larger than its format has room for keeps its shape and its bytes", async () => {
    const { bytes, width, height } = await make("webp-animated", "reveal", { width: 1080, height: 1920 });
    expect({ width, height }).toEqual({ width: 374, height: 666 });
    expect(bytes.length).toBeLessThan(MAX_MOVING_BYTES);
  });
});

test("a video too large for its bytes gets a lower quality, and then smaller frames until it fits", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cardpress-mp4-"));
  const encoder = join(folder.path, "encoder");
  const log = join(folder.path, "log");
  // Its fifth try is small enough.
  const script = `#!/bin/sh
    for out; do :; done
    echo "$*" >> ${log}
    bytes=${MAX_MOVING_BYTES}
    test $(wc -l < ${log}) = 5 && bytes=9
    head -c $bytes /dev/zero > $out
  `;
  await Bun.write(encoder, script);
  await chmod(encoder, 0o755);
  const frames = [{ bytes: new Uint8Array(9), isKey: true }];
  const still = new Uint8Array(5).fill(7);
  const film = {
    width: 1080,
    height: 1350,
    bytes: webm({ width: 64, height: 64, framesPerSecond: 25, frames, still }),
  };
  const { bytes, ...size } = await mp4Of(film, { encoder, scratch: folder.path });
  expect(size).toEqual({ width: 454, height: 568 });
  expect(stillInMp4(bytes)).toEqual(still);
  const asked = (await Bun.file(log).text()).trim().split("\n");
  const encoded = asked.map((line) => /scale=(\d+:\d+).* -crf (\d+)/.exec(line)?.slice(1).join(" "));
  expect(encoded).toEqual(["1080:1350 20", "1080:1350 27", "810:1012 32", "606:758 32", "454:568 32"]);
});

test("an encoder that fails is quoted for the operator, and leaves nothing behind", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "cardpress-mp4-"));
  const encoder = join(folder.path, "encoder");
  await Bun.write(encoder, "#!/bin/sh\necho Unknown encoder libx264 >&2\nexit 3\n");
  await chmod(encoder, 0o755);
  const scratch = join(folder.path, "scratch");
  await mkdir(scratch);
  const trial = checkMp4Encoder({ encoder, scratch });
  await expect(trial).rejects.toThrow(
    /CARDPRESS_MP4_ENCODER is .*ended with code 3: Unknown encoder libx264/,
  );
  await expect(checkMp4Encoder({ encoder: `${encoder}-gone`, scratch })).rejects.toThrow(
    /CARDPRESS_MP4_ENCODER is .*no such file or directory.*unset it/i,
  );
  expect(await readdir(scratch)).toEqual([]);
});

async function ffmpeg(...args: string[]): Promise<void> {
  const { exited, stderr } = Bun.spawn([FFMPEG ?? "", "-v", "error", ...args], { stderr: "pipe" });
  if ((await exited) !== 0) throw new Error(await new Response(stderr).text());
}

async function probed(path: string): Promise<unknown> {
  const args = ["-v", "error", "-show_format", "-show_streams", "-of", "json", path];
  const { stdout } = Bun.spawn(["ffprobe", ...args], { stdout: "pipe" });
  return new Response(stdout).json();
}

/** What a browser makes of a video: its length, its size, and a PNG of the frame at a time. */
async function played(browser: Browser, webm: Uint8Array, seconds: number) {
  const files = (path: string) =>
    path === "/"
      ? { body: "<body></body>", contentType: "text/html" }
      : { body: webm, contentType: "video/webm" };
  const page = await openSealedPage(browser, files, "/");
  try {
    return await page.evaluate(async (at) => {
      const video = document.createElement("video");
      video.muted = true;
      video.src = URL.createObjectURL(await (await fetch("/card.webm")).blob());
      await new Promise((resolve, reject) => {
        video.onloadeddata = resolve;
        video.onerror = () => reject(new Error(video.error?.message));
      });
      // On a busy machine a seek may end before its frame has been decoded: what is drawn then is black.
      const painted = new Promise<void>((resolve) => {
        const look = (_: number, { mediaTime }: { mediaTime: number }) =>
          mediaTime > at - 0.1 ? resolve() : video.requestVideoFrameCallback(look);
        video.requestVideoFrameCallback(look);
      });
      await new Promise((resolve) => {
        video.onseeked = resolve;
        video.currentTime = at;
      });
      await painted;
      const { videoWidth: width, videoHeight: height, duration } = video;
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width, height });
      canvas.getContext("2d")?.drawImage(video, 0, 0);
      return { duration, width, height, picture: canvas.toDataURL("image/png") };
    }, seconds);
  } finally {
    await page.close();
  }
}

/** How far apart two pictures are where the second is opaque: mean of all channels, of 255. */
async function meanDifference(browser: Browser, first: string, second: Uint8Array): Promise<number> {
  const page = await openSealedPage(
    browser,
    () => ({ body: "<body></body>", contentType: "text/html" }),
    "/",
  );
  try {
    return await page.evaluate(
      async (addresses) => {
        const [a, b] = await Promise.all(
          addresses.map(async (src) => {
            const image = new Image();
            image.src = src;
            await image.decode();
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
            context?.drawImage(image, 0, 0);
            return context?.getImageData(0, 0, image.width, image.height).data ?? [];
          }),
        );
        let sum = 0;
        let count = 0;
        for (let at = 0; a && b && at < b.length; at += 4) {
          if (b[at + 3] !== 255) continue;
          for (let k = at; k < at + 3; k++) sum += Math.abs(Number(a[k]) - Number(b[k]));
          count += 3;
        }
        return sum / count;
      },
      [first, `data:image/png;base64,${Buffer.from(second).toString("base64")}`],
    );
  } finally {
    await page.close();
  }
}
