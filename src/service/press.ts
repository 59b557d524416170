import { type Press, sharedPress } from "../app/print/cmyk-process.ts";
import { readPrintProfile } from "../app/print/print-profile.ts";
import { cmykCommand } from "./system.ts";

/** The press whose profile the operator named. Throws an OperatorError for a file that is not a profile. */
export function pressOf(path: string | undefined): Press | undefined {
  return path === undefined
    ? undefined
    : sharedPress({ command: cmykCommand(), profile: readPrintProfile(path) });
}
