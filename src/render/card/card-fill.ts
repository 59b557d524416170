import type { Badge, Box, CardInput, Composition, CutoutFile } from "../../core/card.ts";
import { isMoving } from "../../core/moving-pictures.ts";
import { PRINT_SIZES, printSizeOf } from "../../core/print-sizes.ts";
import { sha256 } from "../../core/sha256.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { compositionsOf } from "../../templates/manifest.ts";
import { FLAGS } from "../../templates/paths.ts";
import type { PageFile } from "../browser/browser.ts";
import { type CardTexts, cardTexts } from "./card-texts.ts";
import { codeModules } from "./code-modules.ts";
import { between, luminance, type Palette, paletteOf } from "./colours.ts";
import type { Encoding } from "./formats/encode.ts";
import type { CardFill } from "./page/messages.ts";
import { placePlayer } from "./placement/composition.ts";
import {
  backdropOf,
  outlineStyle,
  type PlacedPlayer,
  placeAttributes,
  placesOf,
  px,
  ratingSides,
  type ShownPlayer,
} from "./placement/player-place.ts";
import { type LayoutName, layoutFor, type Zones, type ZonesOf } from "./placement/template-layout.ts";
import type { SceneColours } from "./scenes/scene-canvas.ts";
import { sceneColoursOf, sceneOf, sceneVariantOf, seedOfPlayer, seedOfTheme } from "./scenes/themes.ts";
import { silhouette } from "./silhouette.ts";

export interface CardJob {
  card: CardInput;
  /** null draws a silhouette. */
  cutout: CutoutFile | null;
  /** Makes the cutout's file where only its description is known: called for a card that shows it. */
  makeCutout?: (() => Promise<void>) | undefined;
  /** null lets the layout close the gap. */
  badge: Badge | null;
  /** Pictures among the template's own fields, by the fields' names; the layout closes other gaps. */
  pictures?: Readonly<Record<string, Badge>> | undefined;
  /** The path of the whole photo, for templates and compositions that show it. */
  photo?: string | null;
  /** A word across the card, such as TEST. */
  watermark?: string | null;
  /** How a PNG is encoded; `file` if not given. */
  encoding?: Encoding;
}

/** Above this luminance the ribbon under the badge counts as a light ground. */
const PALE_LUMINANCE = 0.16;

const TIER_PIPS = { bronze: 1, silver: 2, gold: 3, elite: 4 };

/** Han characters are drawn differently in each language, so that language's font goes first. */
const CJK_ORDER: Record<string, string> = { ja: "JP SC TC KR", ko: "KR SC TC JP" };

const OTHER_SCRIPTS =
  "Arabic Hebrew Devanagari Thai Armenian Georgian Bengali Tamil Telugu Kannada Malayalam Gujarati Gurmukhi Sinhala Lao Khmer Ethiopic".split(
    " ",
  );

/** The bundled families that draw what a text is written in, that of its language first. */
export function libraryFonts(lang: string, script: string): string {
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

/** A photo enlarged by more than this is sharpened first, unless it has more pixels than this. */
const SHARPEN_FROM_SCALE = 1.3;
const MAX_SHARPENED_PIXELS = 700_000;

/** A player in the photo is seen only where the head rises over the window. */
const isPlayerSeen = ({ window }: PlacedPlayer): boolean => !window || window.crosses;

function isSharpened({ width, height }: { width: number; height: number }, { place }: PlacedPlayer): boolean {
  return place.width / width > SHARPEN_FROM_SCALE && width * height < MAX_SHARPENED_PIXELS;
}

/** What zones may depend on: the card's box, its shape and its contents. Equal settings have equal zones. */
export interface Setting {
  box: Box;
  layout: LayoutName;
  said: CardTexts;
  variables: Record<string, string>;
  attributes: Record<string, string>;
}

/** The card's setting, known before the player is placed. */
export function settingOf(job: CardJob, { manifest }: LoadedTemplate): Setting {
  const { card } = job;
  // The printer trims the bleed: the card stays inside it and only its ground reaches the edge, unless the
  // template declares that it bleeds.
  const size = printSizeOf(card.style);
  const bleed = size ? PRINT_SIZES[size].px.bleed : 0;
  const box = cardBox(card.style, manifest.shapes, manifest.bleeds ? 0 : bleed);
  const layout = layoutFor(card.style.width, card.style.height);
  const said = cardTexts(card, manifest.fields, Object.keys(job.pictures ?? {}));
  const has = [
    ...(job.badge ? ["badge"] : []),
    ...(job.cutout ? ["photo"] : []),
    ...(isBranded(card) ? ["brand"] : []),
    ...(said.texts["theme.text"] ? ["theme"] : []),
    ...said.given.map((field) => `field-${field.replaceAll("_", "-")}`),
  ];
  return {
    box,
    layout,
    said,
    variables: {
      "card-x": px(box.x),
      "card-y": px(box.y),
      "card-width": px(box.width),
      "card-height": px(box.height),
      // A card that does not bleed lies wholly inside the cut.
      bleed: px(manifest.bleeds ? bleed : 0),
    },
    attributes: { layout, has: has.join(" ") },
  };
}

/** What a page gives to each of its cards. */
interface PageSupplies {
  /** The address of the noise tile. */
  grain: string;
  /** Takes the pictures that the page may ask for. */
  media: Map<string, PageFile>;
  /** Whether plates are kept from card to card. */
  keepsPlates: boolean;
}

/**
 * Everything that one card changes in its page. Pictures go into `media` under the addresses the page
 * requests.
 */
export function composeFill(
  job: CardJob,
  { markup, manifest }: LoadedTemplate,
  { box, layout, said, variables, attributes }: Setting,
  zonesOf: ZonesOf,
  { grain, media, keepsPlates }: PageSupplies,
): { fill: CardFill; composition: Composition; showsCutout: boolean } {
  const { player, style, branding } = job.card;
  const palette = paletteOf(branding, player.skillLevel);
  const shown = job.cutout ?? silhouette(palette);
  const placed = placedPlayer(job, shown, manifest, zonesOf, box);
  const zones = zonesOf[placed.composition];
  const scene = sceneColoursOf(style.backgroundTheme, palette, isBranded(job.card));
  const edge = outlineStyle(placed, layout, box, manifest.outline, between(scene.colours.deep, "#000000"));
  const isShaded = manifest.backdrop !== "plain";
  const showsPlayer = isPlayerSeen(placed) && markup.pictures.has("player");
  const backdrop = backdropOf(placed, job.photo ?? "", job.cutout, zones, box, isShaded);
  media.clear();
  const fill: CardFill = {
    variables: {
      ...variables,
      ...(palette as unknown as Record<string, string>),
      ...panelColours(scene.colours),
      ...placesOf(placed),
      ...(edge && { "outline-margin": px(edge.margin) }),
      ...(markup.pictures.has("photo") ? facePlace(job.cutout) : {}),
      "skill-level": String(player.skillLevel),
      number: String(player.number),
      seed: String(Math.round(seedOfTheme(style.backgroundTheme) * 10_000) / 10_000),
      pips: String(TIER_PIPS[palette.tier]),
      "fallback-fonts": libraryFonts(said.name.lang, said.name.script),
      grain: `url("${grain}")`,
      ...said.variables,
    },
    attributes: {
      ...attributes,
      ...attributesOf(job, layout, palette.tier, said.name.script),
      ...placeAttributes(placed),
      theme: scene.themes.join(" "),
      ground: luminance(palette.plateFrom) > PALE_LUMINANCE ? "pale" : "deep",
      ...said.attributes,
    },
    texts: { ...said.texts, ...flags(attributes.has ?? "") },
    lists: said.lists,
    pictures: {
      player: showsPlayer ? playerAddress(shown, placed, media) : null,
      photo: job.photo && markup.pictures.has("photo") ? `photo:${job.photo}` : null,
      backdrop: backdrop?.source ?? null,
      scene: markup.pictures.has("scene")
        ? sceneAddress(
            sceneRequest(job.card, palette, zones, box),
            keepsPlates && markup.platePictures.has("scene") ? media : null,
          )
        : null,
      ...sentPictures(job, markup.pictures, media),
    },
    codes: codesOf(said, markup.pictures),
    outline: shown.outline,
    seen: placed.place.seen,
    light: isPlayerSeen(placed)
      ? { colour: scene.colours.glow, side: seedOfPlayer(player) & 16 ? 1 : -1 }
      : null,
    edge,
    backdrop: backdrop?.style ?? null,
    header: null,
    sides: ratingSides(placed, zones, box),
    watermark: job.watermark ?? null,
  };
  return { fill, composition: placed.composition, showsCutout: showsPlayer && job.cutout !== null };
}

/** How and where this template shows the card's player. */
function placedPlayer(
  { card, cutout, photo }: CardJob,
  shown: ShownPlayer,
  manifest: LoadedTemplate["manifest"],
  zones: ZonesOf,
  box: Box,
): PlacedPlayer {
  const player = { cutout, shown, photo: Boolean(photo), isBust: manifest.figure === "bust" };
  return placePlayer(card.style.composition, compositionsOf(manifest), player, zones, box);
}

/** The address of the player's cutout, or of the silhouette in its place. */
function playerAddress(
  shown: CutoutFile | ReturnType<typeof silhouette>,
  placed: PlacedPlayer,
  media: Map<string, PageFile>,
): string {
  if (!("path" in shown)) return publish(media, shown);
  return `picked:${shown.path}${isSharpened(shown, placed) ? "+sharper" : ""}`;
}

/** The addresses of the badge, and of the pictures among the template's own fields that it shows. */
function sentPictures(
  { badge, pictures = {} }: CardJob,
  shown: ReadonlySet<string>,
  media: Map<string, PageFile>,
): CardFill["pictures"] {
  const all = Object.entries(pictures).map(([field, picture]) => [`fields.${field}`, picture] as const);
  const wanted = all.filter(([path]) => shown.has(path));
  return {
    badge: badge && publish(media, badge),
    ...Object.fromEntries(wanted.map(([path, picture]) => [path, publish(media, picture)])),
  };
}

/** The modules of each code that the template shows. */
function codesOf({ codes }: CardTexts, pictures: ReadonlySet<string>): CardFill["codes"] {
  const shown = Object.entries(codes).filter(([path]) => pictures.has(path));
  return Object.fromEntries(shown.map(([path, text]) => [path, codeModules(text)]));
}

/** What the drawn scene depends on. */
function sceneRequest(card: CardInput, palette: Palette, zones: Zones, box: Box): Parameters<typeof sceneOf> {
  const { backgroundTheme } = card.style;
  const variant = sceneVariantOf(card.player);
  return [backgroundTheme, palette, { ...box, focus: focusOf(zones) }, isBranded(card), variant];
}

/** The scene's colours, by the names that style sheets know. */
const panelColours = ({ deep, mid, light, accent, glow }: SceneColours) => ({
  panelDeep: deep,
  panel: mid,
  panelLight: light,
  accent,
  glow,
});

const isBranded = ({ branding }: CardInput) => Boolean(branding.primaryColor ?? branding.secondaryColor);

/** What a card contains, as the paths a template can test for. */
function flags(has: string): CardFill["texts"] {
  const words = has.split(" ").filter((word) => (FLAGS as readonly string[]).includes(word));
  return Object.fromEntries(words.map((word) => [word, { text: "", lang: "", direction: "ltr" }]));
}

/** The middle of the face in the whole photo, for `object-position`. */
function facePlace(cutout: CutoutFile | null): Record<string, string> {
  if (!cutout) return { "photo-face-x": "50%", "photo-face-y": "30%" };
  const { framing, inPhoto, width, height } = cutout;
  const { x, y, width: w, height: h } = framing.face ?? framing.head;
  const percent = (value: number) => `${Math.round(value * 1000) / 10}%`;
  return {
    "photo-face-x": percent(inPhoto.x + ((x + w / 2) / width) * inPhoto.width),
    "photo-face-y": percent(inPhoto.y + ((y + h / 2) / height) * inPhoto.height),
  };
}

/** The middle of the face zone, in fractions of the frame: the origin of the scene's light. */
function focusOf({ face, frame }: Zones): { x: number; y: number } {
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
  const { style, player } = job.card;
  return {
    layout,
    position: player.position,
    tier,
    script,
    branded: isBranded(job.card) ? "yes" : "no",
    badge: job.badge ? "shown" : "none",
    player: job.cutout ? "photo" : "silhouette",
    // Frames of a moving picture are transparent, whatever they are laid on.
    format: isMoving(style.format) ? "webp" : style.format,
    // JPEG has no transparency, and a printed card must have no holes.
    backdrop: style.format === "jpeg" || printSizeOf(style) ? "shown" : "none",
  };
}

/**
 * The scene's address. Inlined as a data URL it arrives with the rest, where a request for it takes 10 ms; on
 * a plate, which is mostly there already, it is only drawn when it is asked for.
 * @param media where a plate's scene is published
 */
function sceneAddress(of: Parameters<typeof sceneOf>, media: Map<string, PageFile> | null): string {
  const draw = () => sceneOf(...of).svg;
  if (!media) return `data:image/svg+xml;base64,${Buffer.from(draw()).toString("base64")}`;
  const path = `/media/${sha256(JSON.stringify(of))}`;
  media.set(path, {
    get body() {
      return draw();
    },
    contentType: "image/svg+xml",
  });
  return path;
}

/**
 * Equal bytes get equal addresses, so that a page already showing them neither loads nor decodes them again.
 */
function publish(media: Map<string, PageFile>, file: { bytes: Uint8Array; contentType: string }): string {
  const path = `/media/${sha256(file.bytes)}`;
  media.set(path, { body: file.bytes, contentType: file.contentType });
  return path;
}

/**
 * The card's box in the picture: everything inside the margin, or centred when the picture is too narrow or
 * too wide.
 */
function cardBox(
  picture: { width: number; height: number },
  [narrowest, widest]: readonly [number, number],
  margin: number,
): Box {
  const room = { width: picture.width - 2 * margin, height: picture.height - 2 * margin };
  const aspect = room.width / room.height;
  const width = aspect > widest ? Math.round(room.height * widest) : room.width;
  const height = aspect < narrowest ? Math.round(room.width / narrowest) : room.height;
  return {
    x: Math.floor((picture.width - width) / 2),
    y: Math.floor((picture.height - height) / 2),
    width,
    height,
  };
}
