// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import css from "../../templates/starter/card.css" with { type: "text" };
import html from "../../templates/starter/card.html" with { type: "text" };
import first from "../../templates/starter/samples/first.json" with { type: "text" };
import plain from "../../templates/starter/samples/plain.json" with { type: "text" };
import photo from "../../templates/starter/samples/portrait.webp" with { type: "file" };
import manifest from "../../templates/starter/template.json" with { type: "text" };

/** The starter's text files, by path in its folder. */
export const STARTER_FILES: Record<string, string> = {
  "template.json": manifest,
  "card.html": html,
  "card.css": css,
  "samples/first.json": first,
  "samples/plain.json": plain,
};

/** Its only photo, a portrait of Eileen Collins by NASA, in the public domain: the path of a WebP. */
export const STARTER_PHOTO: string = photo;
