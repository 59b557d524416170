/** Markup that is safe to put into a page as it is. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | null | undefined | false | Part[];

/** A template for markup: every value is escaped unless it is Html. Lists are joined, null and false left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let text = strings[0] ?? "";
  for (const [i, part] of parts.entries()) text += show(part) + (strings[i + 1] ?? "");
  return new Html(text);
}

/** Vouches for markup that was made elsewhere. */
export function raw(text: string): Html {
  return new Html(text);
}

function show(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(show).join("");
  return Bun.escapeHTML(String(part));
}
