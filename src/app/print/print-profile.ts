import { readFileSync, statSync } from "node:fs";
import { OperatorError } from "../../core/errors.ts";

/** Bounds of the most ink in one place, as the sum of the four in percent. */
export const INK_LIMIT = {
  /** Below it black itself turns grey: no printer asks for so little. */
  min: 200,
  /** What coated paper takes on most presses; printers who want less say so. */
  usual: 300,
  /** All four inks in full. */
  max: 400,
};

/** ISOcoated_v2 has 1.8 MB; the largest profiles of presses a few more. */
const MAX_PROFILE_BYTES = 16 * 1024 * 1024;

const HEADER_BYTES = 128;
const VERSION_BYTE = 8;

/**
 * What makes a file useless as the profile of a press, to be said after its name; null: nothing. Reads the
 * header alone (ICC.1:2022, 7.2).
 */
export function profileFault(bytes: Uint8Array): string | null {
  const word = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4)).trim();
  if (bytes.length < HEADER_BYTES || word(36) !== "acsp") return "is not an ICC profile";
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (size > bytes.length) return `is cut off: it has ${bytes.length} of ${size} bytes`;
  const [kind, space] = [word(12), word(16)];
  if (kind !== "prtr" || space !== "CMYK")
    return `is of the kind "${kind}" for ${space} colours; a press needs one of the kind "prtr" for CMYK`;
  return null;
}

/** Whether it is of ICC version 2, as PDF before 1.5 knows them. */
export const isVersion2 = (profile: Uint8Array): boolean => profile[VERSION_BYTE] === 2;

/** The operator's profile of a press. Throws an OperatorError that says what is wrong with the file. */
export function readPrintProfile(path: string): Uint8Array {
  const refused = (fault: string) =>
    new OperatorError(
      `CARDPRESS_PRINT_PROFILE: ${path} ${fault}. Name the ICC profile that your printer recommends, or leave it out.`,
    );
  let bytes: Uint8Array;
  try {
    if (statSync(path).size > MAX_PROFILE_BYTES) throw refused(`has more than ${MAX_PROFILE_BYTES} bytes`);
    bytes = new Uint8Array(readFileSync(path));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw refused("cannot be read");
  }
  const fault = profileFault(bytes);
  if (fault !== null) throw refused(fault);
  return bytes;
}
