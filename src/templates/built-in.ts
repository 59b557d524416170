import actionCss from "../../templates/action_card/card.css" with { type: "text" };
import actionHtml from "../../templates/action_card/card.html" with { type: "text" };
import actionJson from "../../templates/action_card/template.json" with { type: "text" };
import cardCss from "../../templates/club_card/card.css" with { type: "text" };
import cardHtml from "../../templates/club_card/card.html" with { type: "text" };
import samplePhoto from "../../templates/club_card/samples/astronaut.png" with { type: "file" };
import manifestJson from "../../templates/club_card/template.json" with { type: "text" };
import matchCss from "../../templates/match_day/card.css" with { type: "text" };
import matchHtml from "../../templates/match_day/card.html" with { type: "text" };
import matchJson from "../../templates/match_day/template.json" with { type: "text" };
import { digestOf, type TemplateFiles } from "./files.ts";

/** The template partners may request when the operator lists no other. */
export const DEFAULT_TEMPLATE = "club_card";

/** The templates included in every cardpress, by name. */
export const BUILT_IN: ReadonlyMap<string, TemplateFiles> = new Map([
  [DEFAULT_TEMPLATE, files(manifestJson, cardHtml, cardCss)],
  ["action_card", files(actionJson, actionHtml, actionCss)],
  ["match_day", files(matchJson, matchHtml, matchCss)],
]);

const digests = new Map<string, string>();

/** Whether a digest is that of the included template of this name. */
export function isBuiltIn(name: string, digest: string): boolean {
  const files = BUILT_IN.get(name);
  if (files && !digests.has(name)) digests.set(name, digestOf(files));
  return digests.get(name) === digest;
}

/** The sample photo: a portrait of Eileen Collins by NASA, in the public domain. The path of a PNG. */
export const SAMPLE_PHOTO_FILE: string = samplePhoto;

/** `type: "text"` gives strings; TypeScript types .json and .html by their names. */
function files(manifest: unknown, html: unknown, css: string): TemplateFiles {
  const encoder = new TextEncoder();
  return new Map(
    Object.entries({ "template.json": manifest, "card.html": html, "card.css": css }).map(([name, text]) => [
      name,
      encoder.encode(text as string),
    ]),
  );
}
