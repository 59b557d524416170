import { setPriority } from "node:os";
import { PNG } from "pngjs";
import type { Pixels } from "../../render/card/formats/pixels.ts";
import { type CmykConverter, cmykConverter } from "./cmyk.ts";
import { encodeCmykJpeg } from "./cmyk-jpeg.ts";

/** The first message to the process is the profile; then it takes pictures, files of any format. */
export type CmykRequest = { profile: Uint8Array } | { file: Uint8Array; inkLimit: number };

/** A picture in inks, as JPEG. */
export interface CmykPicture {
  width: number;
  height: number;
  jpeg: Uint8Array;
}

/** What the process answers: to its start the profile's name, to a picture its inks. */
export type CmykAnswer = { name: string } | { picture: CmykPicture } | { failed: string };

/** Nothing that is seen at 300 dots an inch is lost, and a card takes two fifths of the lossless bytes. */
const JPEG_QUALITY = 95;
/**
 * So many percent of ink JPEG may add to a pixel beside an edge: the most that was measured on ten cards of
 * six templates, 12.4, rounded up to the next five.
 */
const JPEG_INK = 15;

/** Requests and renders go first. */
const NICENESS = 5;

/**
 * The process that turns one picture after the other into inks, until the process that started it is gone.
 * Run by the hidden command `convert-cmyk`.
 */
export function runCmykWorker(): void {
  setPriority(NICENESS);
  let converter: CmykConverter | undefined;
  const answer = (value: CmykAnswer) => process.send?.(value);
  process.on("message", async (message: CmykRequest) => {
    try {
      if ("file" in message) {
        if (!converter) throw new Error("a picture came before the profile");
        answer({ picture: await converted(converter, message.file, message.inkLimit) });
        return;
      }
      converter = await cmykConverter(message.profile);
      answer({ name: converter.name });
    } catch (error) {
      answer({ failed: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
  process.on("SIGINT", () => {});
}

async function converted(converter: CmykConverter, file: Uint8Array, inkLimit: number): Promise<CmykPicture> {
  const pixels = await decoded(file);
  const { width, height } = pixels;
  const inks = converter.convert(pixels, inkLimit - JPEG_INK);
  return { width, height, jpeg: encodeCmykJpeg(inks, width, height, JPEG_QUALITY) };
}

/** PNG without compression is the way to pixels from whatever Bun can read. */
async function decoded(file: Uint8Array): Promise<Pixels> {
  const png = await new Bun.Image(file).png({ compressionLevel: 0 }).bytes();
  const { data, width, height } = PNG.sync.read(Buffer.from(png.buffer, png.byteOffset, png.length));
  return { rgba: data, width, height };
}
