/**
 * How an export stands. `removing`: its card was deleted, and its objects are to be. `failed`: given up until
 * somebody sends it again.
 */
export const EXPORT_STATES = ["pending", "exported", "failed", "removing"] as const;

/** What the views of an image say of its export. */
export interface ExportNote {
  status: "pending" | "exported" | "failed";
  key: string;
  back_key: string | null;
  /** Why the last attempt failed; null when none did. */
  error: string | null;
}

/** S3 allows 1,024 bytes; placeholders are longer than their names. */
const MAX_PATTERN_CHARS = 300;
const MAX_WORD_CHARS = 100;

export const DEFAULT_KEY_PATTERN = "{image_id}";
/** What a key may be made of. */
export const KEY_PLACEHOLDERS = ["image_id", "external_id", "batch_id", "date"] as const;

export type KeyWords = Record<(typeof KEY_PLACEHOLDERS)[number], string>;

/** What is wrong with a pattern of keys; undefined when nothing is. */
export function keyPatternFault(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return `It has more than ${MAX_PATTERN_CHARS} characters.`;
  const bare = pattern.replace(/\{([^{}]*)\}/g, (whole, name) =>
    KEY_PLACEHOLDERS.some((known) => known === name) ? "x" : whole,
  );
  if (!/^[A-Za-z0-9/_.=-]+$/.test(bare))
    return `It may hold letters, digits, / _ . = - and ${KEY_PLACEHOLDERS.map((name) => `{${name}}`).join(", ")}.`;
  if (bare.split("/").some((part) => part === "" || /^\.+$/.test(part)))
    return "Between two / there must be a name, and none before the first or after the last.";
  // Otherwise one card would overwrite another's object, and its deletion remove that one's.
  if (!pattern.includes("{image_id}"))
    return "It must hold {image_id}, so that each card has a key of its own.";
  return undefined;
}

/** The keys of a card: its picture's and, when it has one, its back's. */
export function exportKeys(pattern: string, words: KeyWords, names: readonly string[]): string[] {
  const stem = pattern.replace(/\{(\w+)\}/g, (_, name: keyof KeyWords) => safeWord(words[name]));
  return names.map((name, side) => `${stem}${side === 0 ? "" : "-back"}${name.slice(name.lastIndexOf("."))}`);
}

/** A partner's own id may hold anything: no slash, and no name that leads elsewhere. */
function safeWord(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  return safe.slice(0, MAX_WORD_CHARS) || "_";
}

/** What an image's row keeps of its export, for its views. */
export function readExportNote(text: string | null): ExportNote | undefined {
  return text === null ? undefined : (JSON.parse(text) as ExportNote);
}
