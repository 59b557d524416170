import type { Badge, Box, CardInput, CutoutFile } from "../../core/card.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { PageFile } from "../browser/browser.ts";
import { isDrawable } from "../fonts/fonts.ts";
import { silhouette } from "../photo/silhouette.ts";
import { luminance, paletteOf } from "./colours.ts";
import { displayName } from "./display-name.ts";
import type { CardFill } from "./fill.js";
import { type Placement, placeCutout } from "./framing.ts";
import { type LayoutName, layoutFor, type TemplateLayout } from "./template-layout.ts";
import { sceneOf, seedOfPlayer } from "./themes.ts";

export interface CardJob {
  card: CardInput;
  /** null draws a silhouette. */
  cutout: CutoutFile | null;
  /** null closes the layout up. */
  badge: Badge | null;
}

/** From here on the ribbon, on which the badge lies, is a pale ground. */
const PALE_LUMINANCE = 0.16;

const TIER_PIPS = { bronze: 1, silver: 2, gold: 3, elite: 4 };

/** Han characters look different in each language, so its own font goes first. */
const CJK_ORDER: Record<string, string> = { ja: "JP SC TC KR", ko: "KR SC TC JP" };

const OTHER_SCRIPTS =
  "Arabic Hebrew Devanagari Thai Armenian Georgian Bengali Tamil Telugu Kannada Malayalam Gujarati Gurmukhi Sinhala Lao Khmer Ethiopic".split(
    " ",
  );

function fallbackFonts(lang: string, script: string): string {
  const cjk = (CJK_ORDER[lang] ?? "SC TC JP KR").split(" ");
  return [
    ...(script === "vietnamese" ? ["Barlow Condensed"] : []),
    "Noto Sans Variable",
    ...OTHER_SCRIPTS.map((name) => `Noto Sans ${name} Variable`),
    "Noto Sans Myanmar",
    ...cjk.map((name) => `Noto Sans ${name} Variable`),
    "Noto Emoji",
  ]
    .map((family) => `"${family}"`)
    .join(", ");
}

/** Enlarged by more than this, a photo is sharpened before; one of more pixels than these has enough of its own. */
const SHARPEN_FROM_SCALE = 1.3;
const MAX_SHARPENED_PIXELS = 700_000;

function isSmall(cutout: { width: number; height: number }, place: { width: number }): boolean {
  return (
    place.width / cutout.width > SHARPEN_FROM_SCALE && cutout.width * cutout.height < MAX_SHARPENED_PIXELS
  );
}

/** Everything that one card changes in its page; the pictures are put into `media` under the addresses the page asks for. */
export function composeFill(
  job: CardJob,
  template: LoadedTemplate,
  grain: string,
  media: Map<string, PageFile>,
): CardFill {
  const { player, style, branding } = job.card;
  const layoutName = layoutFor(style.width, style.height);
  const layout = template.manifest.layouts[layoutName];
  const box = cardBox(style, layout);
  const palette = paletteOf(branding, player.skillLevel);
  const name = displayName(player.name, isDrawable);
  const shown = job.cutout ?? silhouette(palette);
  const place = placeCutout(shown, shown.framing, layout, box);
  const branded = Boolean(branding.primaryColor ?? branding.secondaryColor);
  const focus = focusOf(layout);
  const seed = seedOfPlayer(player);
  const scene = sceneOf(style.backgroundTheme, palette, { ...box, focus }, branded, seed);
  media.clear();
  return {
    variables: {
      ...(palette as unknown as Record<string, string>),
      panelDeep: scene.colours.deep,
      panel: scene.colours.mid,
      panelLight: scene.colours.light,
      accent: scene.colours.accent,
      glow: scene.colours.glow,
      ...placesOf(box, place),
      pips: String(TIER_PIPS[palette.tier]),
      "fallback-fonts": fallbackFonts(name.lang, name.script),
      grain: `url("${grain}")`,
    },
    attributes: {
      ...attributesOf(job, layoutName, palette.tier, name.script),
      ground: luminance(palette.plateFrom) > PALE_LUMINANCE ? "pale" : "deep",
      cut: sidesOf(place.cut),
      walls: sidesOf(place.walls),
    },
    texts: {
      name: name.text,
      skill: String(player.skillLevel),
      position: player.position,
      number: String(player.number),
    },
    lang: name.lang,
    direction: name.direction,
    pictures: {
      player:
        "path" in shown
          ? `picked:${shown.path}${isSmall(shown, place) ? "+sharper" : ""}`
          : publish(media, shown),
      badge: job.badge && publish(media, job.badge),
      scene: publish(media, { bytes: new TextEncoder().encode(scene.svg), contentType: "image/svg+xml" }),
    },
    outline: shown.outline,
    light: { colour: scene.colours.glow, side: seed & 16 ? 1 : -1 },
    fit: template.manifest.name_text,
  };
}

/** Where card, player and walls lie, as lengths for the style sheet. */
function placesOf(box: Box, place: Placement): Record<string, string> {
  const px = (value: number) => `${Math.round(value * 100) / 100}px`;
  return {
    "card-x": px(box.x),
    "card-y": px(box.y),
    "card-width": px(box.width),
    "card-height": px(box.height),
    "player-x": px(place.x),
    "player-y": px(place.y),
    "player-width": px(place.width),
    "player-height": px(place.height),
    "wall-top": px(place.walls.top),
    "wall-left": px(place.walls.left),
    "wall-right": px(place.walls.right),
  };
}

/** The sides with a value, as words for the style sheet to look for. */
function sidesOf(sides: Record<string, number | boolean>): string {
  return Object.keys(sides)
    .filter((side) => sides[side])
    .join(" ");
}

/** The face target's middle, as fractions of the frame: what the scene's light comes from. */
function focusOf({ face, frame }: TemplateLayout): { x: number; y: number } {
  return {
    x: (face.x + face.width / 2 - frame.x) / frame.width,
    y: Math.max(0.08, (face.y + face.height / 2 - frame.y) / frame.height),
  };
}

function attributesOf(
  job: CardJob,
  layout: LayoutName,
  tier: string,
  script: string,
): Record<string, string> {
  const { style, branding } = job.card;
  return {
    layout,
    tier,
    script,
    branded: branding.primaryColor || branding.secondaryColor ? "yes" : "no",
    badge: job.badge ? "shown" : "none",
    player: job.cutout ? "photo" : "silhouette",
    format: style.format,
    // JPEG has no transparency, and a printed card no holes.
    backdrop: style.format === "jpeg" || isPrint(style) ? "shown" : "none",
  };
}

/** The same bytes get the same address, so a page that already shows them neither loads nor decodes them again. */
function publish(media: Map<string, PageFile>, file: { bytes: Uint8Array; contentType: string }): string {
  const path = `/media/${new Bun.CryptoHasher("sha256").update(file.bytes).digest("hex")}`;
  media.set(path, { body: file.bytes, contentType: file.contentType });
  return path;
}

/**
 * A trading card of 63 x 88 mm with 3 mm of bleed around it, at 300 dots an inch: the printer cuts the bleed off, so the
 * card lies inside it and its ground goes to the edge.
 */
const PRINT = { shortPx: 815, longPx: 1110, bleedPx: 35 };

const isPrint = ({ width, height }: { width: number; height: number }) =>
  Math.min(width, height) === PRINT.shortPx && Math.max(width, height) === PRINT.longPx;

/** The card's box in the picture: all of it, or centred with a margin where the picture is too narrow or too wide. */
function cardBox(
  picture: { width: number; height: number },
  layout: { minAspect: number; maxAspect: number },
) {
  const bleed = isPrint(picture) ? PRINT.bleedPx : 0;
  const room = { width: picture.width - 2 * bleed, height: picture.height - 2 * bleed };
  const aspect = room.width / room.height;
  const width = aspect > layout.maxAspect ? Math.round(room.height * layout.maxAspect) : room.width;
  const height = aspect < layout.minAspect ? Math.round(room.width / layout.minAspect) : room.height;
  return {
    x: Math.floor((picture.width - width) / 2),
    y: Math.floor((picture.height - height) / 2),
    width,
    height,
  };
}
