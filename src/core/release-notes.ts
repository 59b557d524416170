/** For whom a part of a release's notes is; `upgrade`: what an operator does before. */
export type Readers = "upgrade" | "operators" | "partners" | "designers" | "everybody";

export interface NotesPart {
  readers: Readers;
  title: string;
  /** Each change in a few words, in Markdown's inline marks. */
  headlines: string[];
}

/** What one release changed, in the order of the changelog. */
export interface ReleaseNotes {
  version: string;
  parts: NotesPart[];
}

/** Of `## 1.0.0 - 2026-11-30` and its like; what is not released yet has no number. */
const RELEASE = /^\[?v?(\d+\.\d+\.\d+)\b/;

const READERS: [RegExp, Readers][] = [
  [/upgrad|breaking/i, "upgrade"],
  [/partner/i, "partners"],
  [/operator/i, "operators"],
  [/designer/i, "designers"],
];

/** Enough to know whether to read on. */
const MAX_HEADLINE_CHARS = 160;

/**
 * The notes of the releases after `seen` up to `version`, newest first: those of `version` alone where `seen`
 * is null. A reader who has seen `version` finds none.
 */
export function notesSince(changelog: string, version: string, seen: string | null): ReleaseNotes[] {
  return releases(changelog).filter(
    (release) =>
      isNewer(release.version, version) <= 0 &&
      (seen === null ? release.version === version : isNewer(release.version, seen) > 0),
  );
}

function releases(changelog: string): ReleaseNotes[] {
  return sections(changelog, "## ").flatMap(({ title, text }) => {
    const version = RELEASE.exec(title)?.[1];
    return version === undefined ? [] : [{ version, parts: partsOf(text) }];
  });
}

/** Without parts of their own, all changes are for everybody. */
function partsOf(text: string): NotesPart[] {
  const before = text.split(/^### /m)[0] ?? "";
  return [{ title: "Changes", text: before }, ...sections(text, "### ")].flatMap(({ title, text: own }) => {
    const readers = READERS.find(([pattern]) => pattern.test(title))?.[1] ?? "everybody";
    const changes = bullets(own);
    if (changes.length === 0) return [];
    // What is to be done is not shortened.
    return [{ title, readers, headlines: readers === "upgrade" ? changes : changes.map(headline) }];
  });
}

function sections(text: string, mark: string): { title: string; text: string }[] {
  return `\n${text}`
    .split(`\n${mark}`)
    .slice(1)
    .map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return { title: title.trim(), text: lines.join("\n") };
    });
}

/** The items of the outermost lists, each on one line. */
function bullets(text: string): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const item = /^[-*] +(.*)/.exec(line)?.[1];
    if (item !== undefined) {
      found.push(item);
      isOpen = true;
    } else if (isOpen && /^ +\S/.test(line) && !/^ +[-*] /.test(line)) {
      found.push(`${found.pop()} ${line.trim()}`);
    } else isOpen = false;
  }
  return found;
}

/** What is in bold at its beginning, or else its first sentence. */
function headline(change: string): string {
  const bold = /^\*\*(.+?)\*\*/.exec(change)?.[1];
  if (bold !== undefined) return bold.replace(/[.:]$/, "");
  const sentence = /^(.+?)[.:](?= |$)/.exec(change)?.[1] ?? change;
  if (sentence.length <= MAX_HEADLINE_CHARS) return sentence;
  const short = sentence.slice(0, MAX_HEADLINE_CHARS);
  // An odd one out would mark all that follows as code.
  const whole = short
    .slice(0, short.lastIndexOf(" "))
    .replace(/`[^`]*$/, (rest, at: number) =>
      (short.slice(0, at).split("`").length - 1) % 2 === 0 ? "" : rest,
    );
  return `${whole.trimEnd()} …`;
}

/** Below zero where `a` is the older of the two, above where it is the newer. */
function isNewer(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map((part) => Number.parseInt(part, 10)));
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
