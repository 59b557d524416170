import { readFileSync } from "node:fs";

/**
 * Prints what a script does and how to call it when it was started with `--help`, and ends the process. The
 * text is the script's header comment, so that it is written only once.
 */
export function offerHelp(script: ImportMeta): void {
  if (!script.main || !process.argv.includes("--help")) return;
  console.log(helpIn(readFileSync(script.path, "utf8")));
  process.exit(0);
}

/**
 * The comment at the start of a file, without its markers; empty when the file starts with something else.
 */
export function helpIn(source: string): string {
  const comment = /^\/\*\*(.*?)\*\//s.exec(source)?.[1] ?? "";
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
}

/** The names a script was called with, or all there are; ends the process where one is unknown. */
export function namesFrom(given: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length === 0) return given.length > 0 ? given : known;
  console.error(`There is no ${unknown.join(", ")}. There are ${known.join(", ")}.`);
  process.exit(1);
}
