import cardCss from "../../templates/club_card/card.css" with { type: "text" };
import cardHtml from "../../templates/club_card/card.html" with { type: "text" };
import samplePhoto from "../../templates/club_card/samples/astronaut.png" with { type: "file" };
import manifestJson from "../../templates/club_card/template.json" with { type: "text" };
import type { TemplateFiles } from "./files.ts";

/** The one that every cardpress can draw, and that partners may ask for where the operator lists no other. */
export const DEFAULT_TEMPLATE = "club_card";

// `type: "text"` gives strings; TypeScript types .json and .html by their names.
const CLUB_CARD = {
  "template.json": manifestJson as unknown as string,
  "card.html": cardHtml as unknown as string,
  "card.css": cardCss,
};

/** The templates that every cardpress carries, by name. */
export const BUILT_IN: ReadonlyMap<string, TemplateFiles> = new Map([[DEFAULT_TEMPLATE, files(CLUB_CARD)]]);

/** The photo that comes with them: a portrait of Eileen Collins by NASA, in the public domain. The path of a PNG. */
export const SAMPLE_PHOTO_FILE: string = samplePhoto;

function files(texts: Record<string, string>): TemplateFiles {
  const encoder = new TextEncoder();
  return new Map(Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)]));
}
