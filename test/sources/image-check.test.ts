import { describe, expect, test } from "bun:test";
import { checkImage, UnusableImageError } from "../../src/sources/image-check.ts";
import { jpeg, png, turnedByExif, webp, withScans } from "./pictures.ts";

const LIMITS = { minSidePx: 16, maxPixels: 1_000_000, maxScans: 100, maxScanPixels: 15_000_000 };

describe("a picture that breaks off is refused, wherever that is", () => {
  test.each([
    ["JPEG", () => jpeg(300, 240)],
    ["progressive JPEG", () => jpeg(300, 240, true)],
    ["JPEG with a thumbnail's end marker in its EXIF block", async () => withThumbnail(await jpeg(300, 240))],
    ["PNG", async () => png(300, 240)],
    ["WebP", () => webp(300, 240)],
  ] as const)("%s", async (_, make) => {
    const whole = await make();
    await checkImage(whole, LIMITS);
    for (let length = 1; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      await expect(checkImage(cut, LIMITS), `${length} of ${whole.length}`).rejects.toThrow(
        UnusableImageError,
      );
    }
  });
});

test("the more pixels a JPEG has, the fewer scans it may have", async () => {
  const small = withScans(await jpeg(500, 300), 100);
  const large = withScans(await jpeg(1000, 1000), 16);
  await checkImage(small, LIMITS);
  await checkImage(withScans(await jpeg(1000, 1000), 15), LIMITS);
  await expect(checkImage(large, LIMITS)).rejects.toThrow("16 or more scans, too many for its size");
});

function withThumbnail(image: Uint8Array): Uint8Array {
  const withExif = Buffer.from(turnedByExif(image));
  // The last bytes of the block, behind its one entry, are free.
  withExif.write("\xff\xd9", 34, "latin1");
  return withExif;
}

test("a picture without picture data is refused", async () => {
  const whole = Buffer.from(await jpeg(300, 240));
  const scan = whole.lastIndexOf(Buffer.from([0xff, 0xda]));
  const scanless = Buffer.concat([whole.subarray(0, scan), whole.subarray(-2)]);
  const dataless = Buffer.concat([
    Buffer.from(png(300, 240)).subarray(0, 33),
    Buffer.from(png(1, 1)).subarray(-12),
  ]);
  for (const bytes of [scanless, dataless])
    await expect(checkImage(bytes, LIMITS)).rejects.toThrow("damaged");
});

test("hostile lengths and fill bytes end the walk instead of prolonging it", async () => {
  const picture = Buffer.from(await jpeg(300, 240));
  const ends = [
    Buffer.alloc(100_000, 0xff),
    Buffer.alloc(100_000, "\xff\0", "latin1"),
    Buffer.alloc(100_000, "\xff\xe0\0\0", "latin1"),
  ];
  for (const end of ends) {
    const bytes = Buffer.concat([picture.subarray(0, -2), end]);
    await expect(checkImage(bytes, LIMITS)).rejects.toThrow("breaks off");
  }
  const start = Buffer.from(png(300, 240)).subarray(0, 33);
  const jump = Buffer.from("ffffffff49444154deadbeef", "hex");
  await expect(checkImage(Buffer.concat([start, jump]), LIMITS)).rejects.toThrow("breaks off");
});
