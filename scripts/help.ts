import { readFileSync } from "node:fs";

/**
 * Prints what a script does and how it is called, when it was started with `--help`, and ends the process. The text is the
 * comment that the script's file begins with, so that it stands in one place.
 */
export function offerHelp(script: ImportMeta): void {
  if (!script.main || !process.argv.includes("--help")) return;
  console.log(helpIn(readFileSync(script.path, "utf8")));
  process.exit(0);
}

/** The comment a file begins with, without its marks; empty where it begins with something else. */
export function helpIn(source: string): string {
  const comment = /^\/\*\*(.*?)\*\//s.exec(source)?.[1] ?? "";
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
}
