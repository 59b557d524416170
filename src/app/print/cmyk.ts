import {
  cmsFLAGS_BLACKPOINTCOMPENSATION,
  cmsInfoDescription,
  INTENT_RELATIVE_COLORIMETRIC,
  instantiate,
  TYPE_CMYK_8,
  TYPE_RGB_8,
} from "lcms-wasm";
// @ts-expect-error The compiler looks for a module; the runtime gives the path to the file, also in a compiled cardpress.
import lcmsWasm from "../../../node_modules/lcms-wasm/dist/lcms.wasm" with { type: "file" };
import type { Pixels } from "../../render/card/formats/pixels.ts";
import { INK_LIMIT, profileFault } from "./print-profile.ts";

/** What turns pixels into the inks of one press. */
export interface CmykConverter {
  /** The profile's own name for itself. */
  name: string;
  /**
   * Four bytes a pixel: cyan, magenta, yellow and black, 255 being full ink. Blocks this thread.
   * @param inkLimit the most ink in one place, as the sum of the four in percent
   */
  convert(pixels: Pixels, inkLimit: number): Uint8Array;
}

/** So many pixels at a time go through WebAssembly, whose memory never shrinks. */
const BAND_PIXELS = 65_536;

/**
 * Little CMS with this profile, from sRGB. Relative colorimetric with black point compensation: colours the
 * press can print stay as they are, and shadows keep their detail.
 *
 * Black is built as the profile builds it, from all four inks: a card is pixels, and nothing in them tells
 * text from a photo's shadow.
 */
export async function cmykConverter(profile: Uint8Array): Promise<CmykConverter> {
  const fault = profileFault(profile);
  if (fault !== null) throw new Error(`the print profile ${fault}`);
  const lcms = await instantiate({ wasmBinary: await Bun.file(lcmsWasm).bytes() });
  const press = lcms.cmsOpenProfileFromMem(profile, profile.length);
  if (press === 0) throw new Error("the print profile is damaged");
  const transform = lcms.cmsCreateTransform(
    lcms.cmsCreate_sRGBProfile(),
    TYPE_RGB_8,
    press,
    TYPE_CMYK_8,
    INTENT_RELATIVE_COLORIMETRIC,
    cmsFLAGS_BLACKPOINTCOMPENSATION,
  );
  if (transform === 0) throw new Error("the print profile has no table from colours to inks");
  return {
    name: lcms.cmsGetProfileInfoASCII(press, cmsInfoDescription, "en", "US").replace(/\0.*$/s, ""),
    convert({ rgba, width, height }, inkLimit) {
      if (!(inkLimit >= 100 && inkLimit <= INK_LIMIT.max))
        throw new RangeError(`the ink limit must be 100 to ${INK_LIMIT.max} percent`);
      const count = width * height;
      const cmyk = new Uint8Array(count * 4);
      for (let from = 0; from < count; from += BAND_PIXELS) {
        const end = Math.min(from + BAND_PIXELS, count);
        const rgb = onPaper(rgba.subarray(from * 4, end * 4));
        cmyk.set(lcms.cmsDoTransform(transform, rgb, end - from), from * 4);
      }
      limitInk(cmyk, (inkLimit * 255) / 100);
      return cmyk;
    },
  };
}

/** The colours as they show on white paper, without alpha. */
function onPaper(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let at = 0, to = 0; at < rgba.length; at += 4, to += 3) {
    const alpha = rgba[at + 3] as number;
    for (let channel = 0; channel < 3; channel++) {
      const value = rgba[at + channel] as number;
      rgb[to + channel] = alpha === 255 ? value : Math.round((value * alpha) / 255 + 255 - alpha);
    }
  }
  return rgb;
}

/**
 * Where there is too much ink, takes it from the colours in their proportion and leaves black, which carries
 * the drawing. Rounds down, so that the sum is never above the limit.
 */
function limitInk(cmyk: Uint8Array, most: number): void {
  for (let at = 0; at < cmyk.length; at += 4) {
    const colours = (cmyk[at] as number) + (cmyk[at + 1] as number) + (cmyk[at + 2] as number);
    const black = cmyk[at + 3] as number;
    if (colours + black <= most) continue;
    const share = (most - black) / colours;
    for (let ink = at; ink < at + 3; ink++) cmyk[ink] = Math.floor((cmyk[ink] as number) * share);
  }
}
