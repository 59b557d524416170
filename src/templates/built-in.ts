import { readFileSync } from "node:fs";
import actionCss from "../../templates/action_card/card.css" with { type: "text" };
import actionHtml from "../../templates/action_card/card.html" with { type: "text" };
import kanit from "../../templates/action_card/fonts/kanit-latin-800-italic.woff2" with { type: "file" };
import kanitExt from "../../templates/action_card/fonts/kanit-latin-ext-800-italic.woff2" with {
  type: "file",
};
import actionJson from "../../templates/action_card/template.json" with { type: "text" };
import cardBackCss from "../../templates/club_card/back.css" with { type: "text" };
import cardBackHtml from "../../templates/club_card/back.html" with { type: "text" };
import cardCss from "../../templates/club_card/card.css" with { type: "text" };
import cardHtml from "../../templates/club_card/card.html" with { type: "text" };
import samplePhoto from "../../templates/club_card/samples/astronaut.png" with { type: "file" };
import manifestJson from "../../templates/club_card/template.json" with { type: "text" };
import matchCss from "../../templates/match_day/card.css" with { type: "text" };
import matchHtml from "../../templates/match_day/card.html" with { type: "text" };
import anton from "../../templates/match_day/fonts/anton-latin-400-normal.woff2" with { type: "file" };
import antonExt from "../../templates/match_day/fonts/anton-latin-ext-400-normal.woff2" with { type: "file" };
import antonViet from "../../templates/match_day/fonts/anton-vietnamese-400-normal.woff2" with {
  type: "file",
};
import matchJson from "../../templates/match_day/template.json" with { type: "text" };
import { digestOf, type TemplateFiles } from "./files.ts";

/** The template partners may request when the operator lists no other. */
export const DEFAULT_TEMPLATE = "club_card";

/** The templates included in every cardpress, by name. */
export const BUILT_IN: ReadonlyMap<string, TemplateFiles> = new Map([
  [DEFAULT_TEMPLATE, files(manifestJson, cardHtml, cardCss, {}, { html: cardBackHtml, css: cardBackCss })],
  [
    "action_card",
    files(actionJson, actionHtml, actionCss, {
      "fonts/kanit-latin-800-italic.woff2": kanit,
      "fonts/kanit-latin-ext-800-italic.woff2": kanitExt,
    }),
  ],
  [
    "match_day",
    files(matchJson, matchHtml, matchCss, {
      "fonts/anton-latin-400-normal.woff2": anton,
      "fonts/anton-latin-ext-400-normal.woff2": antonExt,
      "fonts/anton-vietnamese-400-normal.woff2": antonViet,
    }),
  ],
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

/**
 * `type: "text"` gives strings; TypeScript types .json and .html by their names.
 * @param fonts the paths of the template's own fonts, by their names in its folder
 * @param back the card's other side, if it has one
 */
function files(
  manifest: unknown,
  html: unknown,
  css: string,
  fonts: Readonly<Record<string, string>> = {},
  back?: { html: unknown; css: string },
): TemplateFiles {
  const encoder = new TextEncoder();
  const texts = {
    "template.json": manifest,
    "card.html": html,
    "card.css": css,
    ...(back && { "back.html": back.html, "back.css": back.css }),
  };
  return new Map([
    ...Object.entries(texts).map(([name, text]) => [name, encoder.encode(text as string)] as const),
    ...Object.entries(fonts).map(([name, path]) => [name, new Uint8Array(readFileSync(path))] as const),
  ]);
}
