/** The parts of CHANGELOG.md: each release's text by the heading above it, newest first. */
export interface Section {
  /** `Unreleased`, or a version. */
  name: string;
  /** The day of the release; undefined for what is not released yet. */
  date: string | undefined;
  text: string;
}

const HEADING = /^## (\S+)(?: - (\S+))?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the changelog. */
export function sectionsOf(changelog: string): Section[] {
  const sections: Section[] = [];
  for (const line of changelog.split("\n")) {
    const [, name, date] = HEADING.exec(line) ?? [];
    const last = sections.at(-1);
    if (name !== undefined) sections.push({ name, date: DAY.test(date ?? "") ? date : undefined, text: "" });
    else if (last) last.text += `${line}\n`;
  }
  return sections.map((section) => ({ ...section, text: section.text.trim() }));
}

/**
 * The changelog as of the release of a version: a heading `## 1.0.0 - unreleased` gets its day, or, where
 * there is none, what was unreleased gets that heading. Throws when nothing is to be released, or both have
 * text.
 */
export function datedChangelog(changelog: string, version: string, day: string): string {
  const sections = sectionsOf(changelog);
  const own = sections.find(({ name }) => name === version);
  const unreleased = sections.find(({ name }) => name === "Unreleased")?.text ?? "";
  if (own?.date !== undefined)
    throw new Error(`CHANGELOG.md says that ${version} was released on ${own.date}.`);
  if (own && unreleased !== "")
    throw new Error(
      `Move what stands under "## Unreleased" of CHANGELOG.md to "## ${version}", in its words.`,
    );
  if (own) return changelog.replace(`## ${version} - unreleased`, `## ${version} - ${day}`);
  if (unreleased === "") throw new Error(`CHANGELOG.md has nothing to release as ${version}.`);
  return changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} - ${day}\n`);
}

/** What a version's release says of it. Throws when the changelog has no text for it. */
export function notesOf(changelog: string, version: string): Section {
  const section = sectionsOf(changelog).find(({ name }) => name === version);
  if (!section?.text)
    throw new Error(`CHANGELOG.md has nothing under "## ${version}": bun scripts/cut-release.ts ${version}`);
  return section;
}
