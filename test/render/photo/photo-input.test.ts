import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Cutout } from "../../../src/core/card.ts";
import { cmykJpeg, openLab, type Pixels, photo, png16, swappedJpeg, withOrientation } from "./photo-lab.ts";

let lab: Awaited<ReturnType<typeof openLab>>;
let upright: Cutout;
let man: Cutout;

beforeAll(async () => {
  lab = await openLab();
  upright = await cutOf(photo("astronaut.png"));
  man = await cutOf(photo("unsplash_man.jpg"));
});

afterAll(() => lab?.close());

async function cutOf(bytes: Uint8Array): Promise<Cutout> {
  const result = await lab.cutOut(bytes);
  if (!result.ok) throw new Error(`refused: ${result.reason}`);
  return result.cutout;
}

/** The mean colour of the middle of a face, red, green and blue. */
async function faceColour({ bytes, framing }: Cutout): Promise<number[]> {
  const { rgba, width }: Pixels = await lab.pixelsOf(bytes);
  const face = framing.face;
  if (!face) throw new Error("no face");
  const sums = [0, 0, 0];
  let count = 0;
  for (let y = face.y + face.height * 0.3; y < face.y + face.height * 0.7; y++) {
    for (let x = face.x + face.width * 0.3; x < face.x + face.width * 0.7; x++, count++) {
      for (const k of sums.keys())
        sums[k] = (sums[k] ?? 0) + (rgba[4 * (Math.floor(y) * width + Math.floor(x)) + k] ?? 0);
    }
  }
  return sums.map((sum) => sum / count);
}

describe("every encoding of one photo gives the same player", () => {
  const encodings: Record<string, () => Promise<Uint8Array>> = {
    JPEG: async () => new Bun.Image(photo("astronaut.png")).jpeg({ quality: 92 }).bytes(),
    "JPEG turned as its EXIF orientation says": async () => {
      const turned = await new Bun.Image(photo("astronaut.png")).rotate(270).jpeg({ quality: 92 }).bytes();
      return withOrientation(turned, 6);
    },
    WebP: async () => new Bun.Image(photo("astronaut.png")).webp({ quality: 92 }).bytes(),
    "PNG with 16 bits": async () => png16(await lab.pixelsOf(photo("astronaut.png")), 2),
  };
  for (const [name, encode] of Object.entries(encodings)) {
    test(name, async () => {
      const cutout = await cutOf(await encode());
      const expected = upright.framing.face;
      const face = cutout.framing.face;
      expect(Math.abs((face?.x ?? 0) - (expected?.x ?? 0))).toBeLessThan(8);
      expect(Math.abs((face?.y ?? 0) - (expected?.y ?? 0))).toBeLessThan(8);
      expect(Math.abs(cutout.width - upright.width)).toBeLessThan(12);
      const [r = 0, g = 0, b = 0] = await faceColour(cutout);
      const [R = 0, G = 0, B = 0] = await faceColour(upright);
      expect(Math.max(Math.abs(r - R), Math.abs(g - G), Math.abs(b - B))).toBeLessThan(8);
    });
  }

  test("JPEG in a colour space of its own, as its ICC profile says", async () => {
    const [r = 0, g = 0, b = 0] = await faceColour(
      await cutOf(await swappedJpeg(await lab.pixelsOf(photo("astronaut.png")))),
    );
    const [R = 0, G = 0, B = 0] = await faceColour(upright);
    expect(Math.max(Math.abs(r - R), Math.abs(g - G), Math.abs(b - B))).toBeLessThan(8);
  });

  test("CMYK JPEG, in natural colours", async () => {
    const large = await lab.pixelsOf(photo("unsplash_man.jpg"));
    const cutout = await cutOf(cmykJpeg(large));
    const [r = 0, g = 0, b = 0] = await faceColour(cutout);
    const [R = 0, G = 0, B = 0] = await faceColour(man);
    expect(Math.max(Math.abs(r - R), Math.abs(g - G), Math.abs(b - B))).toBeLessThan(20);
  });

  test("grey PNG with 16 bits, as grey", async () => {
    const cutout = await cutOf(png16(await lab.pixelsOf(photo("astronaut.png")), 0));
    const [r = 0, g = 0, b = 0] = await faceColour(cutout);
    expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(2);
  });

  test("a player who comes cut out keeps that edge", async () => {
    const again = await cutOf(upright.bytes);
    expect(Math.abs(again.width - upright.width)).toBeLessThan(10);
    const [before, after] = [await lab.pixelsOf(upright.bytes), await lab.pixelsOf(again.bytes)];
    expect(solidPart(after) * again.width * again.height).toBeCloseTo(
      solidPart(before) * upright.width * upright.height,
      -3,
    );
  });
});

test("a small player in a photo of 13 million pixels is cut at the photo's full resolution", async () => {
  const astronaut = photo("astronaut.png");
  const [near, far] = await Promise.all([
    lab.draw([1000, 1000], [{ bytes: astronaut, at: [0, 0, 1000, 1000] }]),
    lab.draw([5200, 2500], [{ bytes: astronaut, at: [2100, 1500, 1000, 1000] }], { jpeg: 0.92 }),
  ]);
  const alone = await cutOf(near);
  const small = await cutOf(far);
  const [wide = 0, face = 0] = [alone, small].map(({ framing }) => framing.face?.width ?? 0);
  expect(Math.abs(face - wide)).toBeLessThan(0.1 * wide);
});

describe("a JPEG large enough to be decoded at half its size gives the same player", () => {
  // Reduced to half, its longer side is 1,952 pixels; a cutout of the photo at full size may have 2,048.
  const large = (jpeg: Uint8Array) => new Bun.Image(jpeg).resize(2602, 3904);
  const HALF_PX = 1952;
  let jpeg: Uint8Array;
  let plain: Cutout;
  beforeAll(async () => {
    jpeg = await large(photo("unsplash_man.jpg")).jpeg({ quality: 92 }).bytes();
    plain = await cutOf(jpeg);
  });

  const same = async (cutout: Cutout) => {
    expect(Math.max(cutout.width, cutout.height)).toBeLessThanOrEqual(HALF_PX);
    expect(Math.abs(cutout.width - plain.width)).toBeLessThan(30);
    expect(Math.abs((cutout.framing.face?.y ?? 0) - (plain.framing.face?.y ?? 0))).toBeLessThan(30);
    const [r = 0, g = 0, b = 0] = await faceColour(cutout);
    const [R = 0, G = 0, B = 0] = await faceColour(plain);
    expect(Math.max(Math.abs(r - R), Math.abs(g - G), Math.abs(b - B))).toBeLessThan(8);
  };

  test("as a cutout that is nearly as large", async () => {
    await same(plain);
    expect(plain.height).toBeGreaterThan(1800);
    const [near = 0, far = 0] = [plain, man].map(
      ({ framing, height }) => (framing.face?.height ?? 0) / height,
    );
    expect(Math.abs(near - far)).toBeLessThan(0.04);
  });

  for (const [orientation, turn] of [
    [3, 180],
    [6, 270],
    [8, 90],
  ] as const)
    test(`turned as its EXIF orientation ${orientation} says`, async () => {
      const turned = new Bun.Image(jpeg).rotate(turn).jpeg({ quality: 92 });
      await same(await cutOf(withOrientation(await turned.bytes(), orientation)));
    });

  test("that lies on its side", async () => {
    const turned = new Bun.Image(jpeg).rotate(90).jpeg({ quality: 92 });
    await same(await cutOf(await turned.bytes()));
  });

  test("in a colour space of its own", async () => {
    const swapped = await swappedJpeg(await lab.pixelsOf(photo("unsplash_man.jpg")));
    // The profile's segment, behind the start of the image.
    const end = 4 + (swapped[4] ?? 0) * 256 + (swapped[5] ?? 0);
    const profile = swapped.subarray(2, end);
    const bare = Buffer.concat([swapped.subarray(0, 2), swapped.subarray(end)]);
    const pixels = await large(bare).jpeg({ quality: 92 }).bytes();
    await same(await cutOf(Buffer.concat([pixels.subarray(0, 2), profile, pixels.subarray(2)])));
  });

  test("or is refused when half of the file is missing", async () => {
    const result = await lab.cutOut(jpeg.subarray(0, jpeg.length / 2));
    expect(result.ok ? "cutout" : result.reason).toBe("undecodable");
  });
});

function solidPart({ rgba }: Pixels): number {
  let solid = 0;
  for (let i = 3; i < rgba.length; i += 4) if ((rgba[i] ?? 0) > 128) solid++;
  return solid / (rgba.length / 4);
}

describe("bytes that are no whole photo are refused, and the next photo is served", () => {
  const jpeg = photo("unsplash_man.jpg");
  const png = photo("astronaut.png");
  const bomb = png16({ rgba: new Uint8ClampedArray(4), width: 1, height: 1 }, 0);
  new DataView(bomb.buffer, bomb.byteOffset).setUint32(16, 60_000);
  new DataView(bomb.buffer, bomb.byteOffset).setUint32(20, 60_000);
  const broken: Record<string, Uint8Array> = {
    nothing: new Uint8Array(0),
    text: new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "half a JPEG": jpeg.subarray(0, jpeg.length / 2),
    "a JPEG's first bytes": jpeg.subarray(0, 300),
    "half a PNG": png.subarray(0, png.length / 2),
    "a PNG with a flipped byte": png.map((value, i) => (i === png.length >> 1 ? value ^ 0xff : value)),
    "a PNG that says it is 60,000 pixels wide": bomb,
    "a GIF": new TextEncoder().encode(
      "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;",
    ),
  };
  for (const [name, bytes] of Object.entries(broken)) {
    test(name, async () => {
      const result = await lab.cutOut(bytes);
      expect(result.ok ? "cutout" : result.reason).toBe("undecodable");
    });
  }

  test("the next photo after them", async () => {
    expect((await cutOf(photo("astronaut.png"))).bytes).toEqual(upright.bytes);
  });

  const photoPage = async () => {
    const page = (await lab.browser.pages()).find((one) => one.url().endsWith("/photo.html"));
    if (!page) throw new Error("no photo page");
    return page;
  };
  const crash = async () => {
    const page = await photoPage();
    const crashed = new Promise((resolve) => page.once("error", resolve));
    void (await page.createCDPSession()).send("Page.crash").catch(() => {});
    await crashed;
  };

  test("a page that crashed between two photos is replaced", async () => {
    await crash();
    expect((await cutOf(photo("astronaut.png"))).bytes).toEqual(upright.bytes);
  });

  test("a page that crashes during a photo is an error, and is replaced", async () => {
    const during = lab.cutOut(photo("astronaut.png"), {
      onStage: (stage) => {
        if (stage === "find") void crash();
      },
    });
    await expect(during).rejects.toThrow("crashed");
    expect((await cutOf(photo("astronaut.png"))).bytes).toEqual(upright.bytes);
  });
});
