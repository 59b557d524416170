import { CONTENT_TYPES, endingOf, OWN_FOLDERS } from "./files.ts";

/** A template's files, and the references to them. */
export interface References {
  files: ReadonlySet<string>;
  used: Set<string>;
}

/** What is wrong with a reference. */
export type Report = (code: string, message: string) => void;

/** Checks a URL in card.html or card.css: only the template's own files can be loaded. */
export function checkReference({ files, used }: References, address: string, report: Report): void {
  const text = address.trim();
  if (text === "" || text.startsWith("#") || /^data:(image|font)\//i.test(text)) return;
  const path = pathOf(text);
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(text)) {
    const place = OWN_FOLDERS.join("/ or ");
    report(
      "network",
      `a card loads nothing from elsewhere, so "${short(text)}" stays empty. Put the file into ${place}/.`,
    );
  } else if (path === null || !OWN_FOLDERS.some((folder) => path.startsWith(`${folder}/`))) {
    const places = OWN_FOLDERS.join("/ and ");
    report("reference", `"${short(text)}" is not served. Only files in ${places}/ are: put it there.`);
  } else if (!(endingOf(path) in CONTENT_TYPES)) {
    const kinds = Object.keys(CONTENT_TYPES).join(", ");
    report("reference", `"${short(path)}" is of a kind that cards do not show. Use ${kinds}.`);
  } else {
    used.add(path);
    if (!files.has(path))
      report("missing_file", `${short(path)} does not exist. Add it to the template, or correct the name.`);
  }
}

/** The path within the template's folder that a relative URL leads to; null when it leads outside. */
function pathOf(text: string): string | null {
  if (text.startsWith("/")) return null;
  let parts: string[];
  try {
    parts = decodeURIComponent(text.replace(/[?#].*$/, "")).split("/");
  } catch {
    return null;
  }
  const path: string[] = [];
  for (const part of parts) {
    if (part === "..") {
      if (path.pop() === undefined) return null;
    } else if (part !== "." && part !== "") path.push(part);
  }
  return path.join("/");
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
