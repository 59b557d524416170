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
import fullBackCss from "../../templates/full_bleed/back.css" with { type: "text" };
import fullBackHtml from "../../templates/full_bleed/back.html" with { type: "text" };
import fullCss from "../../templates/full_bleed/card.css" with { type: "text" };
import fullHtml from "../../templates/full_bleed/card.html" with { type: "text" };
import unboundedCyrillic from "../../templates/full_bleed/fonts/unbounded-cyrillic-800-normal.woff2" with {
  type: "file",
};
import unbounded from "../../templates/full_bleed/fonts/unbounded-latin-800-normal.woff2" with {
  type: "file",
};
import unboundedExt from "../../templates/full_bleed/fonts/unbounded-latin-ext-800-normal.woff2" with {
  type: "file",
};
import unboundedViet from "../../templates/full_bleed/fonts/unbounded-vietnamese-800-normal.woff2" with {
  type: "file",
};
import fullJson from "../../templates/full_bleed/template.json" with { type: "text" };
import knit from "../../templates/holiday_card/assets/knit.svg" with { type: "file" };
import snow from "../../templates/holiday_card/assets/snow.svg" with { type: "file" };
import holidayCss from "../../templates/holiday_card/card.css" with { type: "text" };
import holidayHtml from "../../templates/holiday_card/card.html" with { type: "text" };
import lobsterCyrillic from "../../templates/holiday_card/fonts/lobster-cyrillic-400-normal.woff2" with {
  type: "file",
};
import lobster from "../../templates/holiday_card/fonts/lobster-latin-400-normal.woff2" with { type: "file" };
import lobsterExt from "../../templates/holiday_card/fonts/lobster-latin-ext-400-normal.woff2" with {
  type: "file",
};
import lobsterViet from "../../templates/holiday_card/fonts/lobster-vietnamese-400-normal.woff2" with {
  type: "file",
};
import holidayJson from "../../templates/holiday_card/template.json" with { type: "text" };
import matchCss from "../../templates/match_day/card.css" with { type: "text" };
import matchHtml from "../../templates/match_day/card.html" with { type: "text" };
import anton from "../../templates/match_day/fonts/anton-latin-400-normal.woff2" with { type: "file" };
import antonExt from "../../templates/match_day/fonts/anton-latin-ext-400-normal.woff2" with { type: "file" };
import antonViet from "../../templates/match_day/fonts/anton-vietnamese-400-normal.woff2" with {
  type: "file",
};
import matchJson from "../../templates/match_day/template.json" with { type: "text" };
import retroCss from "../../templates/retro_sticker/card.css" with { type: "text" };
import retroHtml from "../../templates/retro_sticker/card.html" with { type: "text" };
import frauncesExt from "../../templates/retro_sticker/fonts/fraunces-latin-ext-soft-normal.woff2" with {
  type: "file",
};
import fraunces from "../../templates/retro_sticker/fonts/fraunces-latin-soft-normal.woff2" with {
  type: "file",
};
import frauncesViet from "../../templates/retro_sticker/fonts/fraunces-vietnamese-soft-normal.woff2" with {
  type: "file",
};
import retroJson from "../../templates/retro_sticker/template.json" with { type: "text" };
import teamCss from "../../templates/team_sheet/card.css" with { type: "text" };
import teamHtml from "../../templates/team_sheet/card.html" with { type: "text" };
import gothic from "../../templates/team_sheet/fonts/league-gothic-latin-400-normal.woff2" with {
  type: "file",
};
import gothicExt from "../../templates/team_sheet/fonts/league-gothic-latin-ext-400-normal.woff2" with {
  type: "file",
};
import gothicViet from "../../templates/team_sheet/fonts/league-gothic-vietnamese-400-normal.woff2" with {
  type: "file",
};
import teamJson from "../../templates/team_sheet/template.json" with { type: "text" };
import { digestOf, type TemplateFiles } from "./files.ts";

/** The template partners may request when the operator lists no other. */
export const DEFAULT_TEMPLATE = "club_card";

/** The templates included in every cardpress, by name. */
export const BUILT_IN: ReadonlyMap<string, TemplateFiles> = new Map([
  [
    DEFAULT_TEMPLATE,
    files({
      ...{ manifest: manifestJson, html: cardHtml, css: cardCss },
      back: { html: cardBackHtml, css: cardBackCss },
    }),
  ],
  [
    "action_card",
    files({
      ...{ manifest: actionJson, html: actionHtml, css: actionCss },
      others: {
        "fonts/kanit-latin-800-italic.woff2": kanit,
        "fonts/kanit-latin-ext-800-italic.woff2": kanitExt,
      },
    }),
  ],
  [
    "match_day",
    files({
      ...{ manifest: matchJson, html: matchHtml, css: matchCss },
      others: {
        "fonts/anton-latin-400-normal.woff2": anton,
        "fonts/anton-latin-ext-400-normal.woff2": antonExt,
        "fonts/anton-vietnamese-400-normal.woff2": antonViet,
      },
    }),
  ],
  [
    "retro_sticker",
    files({
      ...{ manifest: retroJson, html: retroHtml, css: retroCss },
      others: {
        "fonts/fraunces-latin-soft-normal.woff2": fraunces,
        "fonts/fraunces-latin-ext-soft-normal.woff2": frauncesExt,
        "fonts/fraunces-vietnamese-soft-normal.woff2": frauncesViet,
      },
    }),
  ],
  [
    "full_bleed",
    files({
      ...{ manifest: fullJson, html: fullHtml, css: fullCss },
      back: { html: fullBackHtml, css: fullBackCss },
      others: {
        "fonts/unbounded-latin-800-normal.woff2": unbounded,
        "fonts/unbounded-latin-ext-800-normal.woff2": unboundedExt,
        "fonts/unbounded-cyrillic-800-normal.woff2": unboundedCyrillic,
        "fonts/unbounded-vietnamese-800-normal.woff2": unboundedViet,
      },
    }),
  ],
  [
    "team_sheet",
    files({
      ...{ manifest: teamJson, html: teamHtml, css: teamCss },
      others: {
        "fonts/league-gothic-latin-400-normal.woff2": gothic,
        "fonts/league-gothic-latin-ext-400-normal.woff2": gothicExt,
        "fonts/league-gothic-vietnamese-400-normal.woff2": gothicViet,
      },
    }),
  ],
  [
    "holiday_card",
    files({
      ...{ manifest: holidayJson, html: holidayHtml, css: holidayCss },
      others: {
        "assets/knit.svg": knit,
        "assets/snow.svg": snow,
        "fonts/lobster-latin-400-normal.woff2": lobster,
        "fonts/lobster-latin-ext-400-normal.woff2": lobsterExt,
        "fonts/lobster-cyrillic-400-normal.woff2": lobsterCyrillic,
        "fonts/lobster-vietnamese-400-normal.woff2": lobsterViet,
      },
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

/** A template's files: the imported texts, and the paths of the others by their names in its folder. */
interface Carried {
  manifest: unknown;
  html: unknown;
  css: string;
  back?: { html: unknown; css: string };
  others?: Readonly<Record<string, string>>;
}

/** `type: "text"` gives strings; TypeScript types .json and .html by their names. */
function files({ manifest, html, css, back, others = {} }: Carried): TemplateFiles {
  const encoder = new TextEncoder();
  const texts = {
    ...{ "template.json": manifest, "card.html": html, "card.css": css },
    ...(back && { "back.html": back.html, "back.css": back.css }),
  };
  return new Map([
    ...Object.entries(texts).map(([name, text]) => [name, encoder.encode(text as string)] as const),
    ...Object.entries(others).map(([name, path]) => [name, new Uint8Array(readFileSync(path))] as const),
  ]);
}
