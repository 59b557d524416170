import type { Config } from "../../config.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { checkFoil } from "../../core/foil.ts";
import { type CreateImageRequest, createImageValidator } from "../../core/image-request.ts";
import { checkLayers } from "../../core/layers.ts";
import { checkMotion } from "../../core/motion-rules.ts";
import { isOwnPhoto } from "../../core/own-photos.ts";
import { printSizeOf, printSizesInPixels } from "../../core/print-sizes.ts";
import { publicationFault } from "../../core/publication.ts";
import { SAMPLE_PHOTO_PATHS } from "../../core/sample-photo.ts";
import { checkText, textsWithin } from "../../core/texts.ts";
import { undrawable } from "../../render/card/display-name.ts";
import { DRAWABLE_SCRIPTS, isDrawable } from "../../render/fonts/fonts.ts";
import { checkFields, imageFields } from "../../templates/fields.ts";
import { hasFoil } from "../../templates/load.ts";
import { checkComposition } from "../../templates/manifest.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";

// What a card's request may say: the schema's rules, those that no schema expresses, and those of its preset.

/** What tells which templates a card may ask for. */
export type CardTemplates = Pick<TemplateRegistry, "current" | "listed" | "configured">;

/** What tells the service's own addresses, and those that need no https, from others. */
type OwnAddresses = Pick<Config, "sourceAllowedOrigins" | "baseUrl" | "port">;

/** One card as the API accepts it, or what is wrong with it. */
export async function checkCard(
  body: unknown,
  config: Config,
  templates: CardTemplates,
): Promise<
  { request: CreateImageRequest; details?: undefined } | { request?: undefined; details: ErrorDetail[] }
> {
  const { configured } = templates;
  // Which others are listed is read only where one of them may be meant.
  const isConfigured = (configured as readonly unknown[]).includes(presetOf(body));
  const checked = createImageValidator(isConfigured ? configured : await templates.listed()).check(body);
  // The caller reads of everything at once, also of an address beside a wrong number.
  if (!checked.ok) return { details: [...checked.details, ...checkMeaning(body, config, checked.details)] };
  const details = [
    ...checkMeaning(checked.value, config),
    ...(await checkForPreset(checked.value, templates, config)),
  ];
  return details.length > 0 ? { details } : { request: checked.value };
}

/** What stands where a card's preset should. */
function presetOf(body: unknown): unknown {
  return (body as { style?: { preset?: unknown } | null } | null | undefined)?.style?.preset;
}

/** A key is the partner's own text, and could be as long as the body. */
const MAX_SHOWN_KEY_CHARS = 100;

/** Fillers and the blank braille cell count as letters or symbols, but show nothing. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** The rules that JSON Schema cannot express, for every field of a body that is not `broken` already. */
export function checkMeaning(
  body: unknown,
  config: OwnAddresses,
  broken: readonly ErrorDetail[] = [],
): ErrorDetail[] {
  const given = (field: string) => (isWithin(field, broken) ? undefined : textAt(body, field));
  const details = ["player.source_image_url", "branding.club_badge_url"].flatMap((field) =>
    badAddress(given(field), field, config),
  );
  const name = given("player.name");
  const nameProblem = name === undefined ? null : nameProblemOf(name);
  if (nameProblem) details.push({ field: "player.name", message: nameProblem });
  const publishAt = given("publish_at");
  const timeFault = publishAt === undefined ? undefined : publicationFault(publishAt);
  if (timeFault) details.push({ field: "publish_at", message: timeFault });
  const texts: [string, string | undefined][] = [
    ...["player.external_id", "player.name", "style.background_theme"].map(
      (field): [string, string | undefined] => [field, given(field)],
    ),
    ...metadataTexts(body).filter(([field]) => !isWithin(field, broken)),
  ];
  for (const [field, text] of texts) if (text !== undefined) details.push(...checkText(field, text));
  return details;
}

/** Whether a field, or what it stands in, is among the broken ones. */
function isWithin(field: string, broken: readonly ErrorDetail[]): boolean {
  return broken.some((one) => one.field === "body" || `${field}.`.startsWith(`${one.field}.`));
}

/** The text at a place such as `player.name`; undefined for anything else that stands there. */
function textAt(body: unknown, field: string): string | undefined {
  const value = field
    .split(".")
    .reduce((parent, name) => (parent as Record<string, unknown> | null | undefined)?.[name], body);
  return typeof value === "string" ? value : undefined;
}

/** Each key of the metadata together with its value, by their place. */
function metadataTexts(body: unknown): [field: string, text: string][] {
  const { metadata } = (body ?? {}) as { metadata?: unknown };
  return Object.entries(metadata ?? {}).map(([key, value]) => [
    `metadata.${key.slice(0, MAX_SHOWN_KEY_CHARS)}`,
    key + value,
  ]);
}

/**
 * Checks what depends on the request's preset: the composition, and that its own fields are declared and can
 * be drawn. The preset must be listed.
 */
export async function checkForPreset(
  { style, fields }: CreateImageRequest,
  templates: Pick<TemplateRegistry, "current">,
  config: OwnAddresses & Pick<Config, "mp4Encoder">,
): Promise<ErrorDetail[]> {
  const template = await templates.current(style.preset);
  const { manifest, back, markup } = template;
  const details = checkFields(manifest, fields);
  const pictures = imageFields(manifest.fields);
  const written = Object.entries(fields ?? {}).filter(([name]) => !pictures.includes(name));
  const message = `is true, and the preset ${style.preset} has no other side. Leave it out, or choose a preset that GET /v1/presets lists with \`back\`.`;
  return [
    ...checkComposition(manifest, style.composition),
    ...checkPrintSize(style),
    ...checkMotion(style, config),
    ...checkLayers(style, markup.layers),
    ...checkFoil(style, hasFoil(template)),
    ...(style.back && !back ? [{ field: "style.back", message }] : []),
    ...(details.length > 0
      ? details
      : [
          ...textsWithin(Object.fromEntries(written), "fields").flatMap(undrawableText),
          ...pictures.flatMap((name) => badAddress(fields?.[name], `fields.${name}`, config)),
        ]),
  ];
}

/** A PDF says where the card is cut, which only sizes for print tell. */
function checkPrintSize({ format, width, height }: CreateImageRequest["style"]): ErrorDetail[] {
  if (format !== "pdf" || (width && height && printSizeOf({ width, height }))) return [];
  const message = `must be another, or the card in a size with bleed: \`pdf\` needs \`style.width\` and \`style.height\` of ${printSizesInPixels()}, or the other way round.`;
  return [{ field: "style.format", message }];
}

function badAddress(value: unknown, field: string, config: OwnAddresses): ErrorDetail[] {
  const problem = typeof value === "string" ? addressProblem(value, config) : null;
  return problem === null ? [] : [{ field, message: problem }];
}

function undrawableText([field, text]: [string, string]): ErrorDetail[] {
  const problem = lettersProblemOf(text);
  return problem === null ? [] : [{ field, message: problem }];
}

/** More examples than this make the message no clearer. */
const MAX_SHOWN_CHARACTERS = 5;

function nameProblemOf(name: string): string | null {
  return VISIBLE.test(name) ? lettersProblemOf(name) : "must have at least one visible character.";
}

function lettersProblemOf(text: string): string | null {
  const missing = undrawable(text, isDrawable);
  if (missing.length === 0) return null;
  const shown = missing.slice(0, MAX_SHOWN_CHARACTERS).map(
    // A combining mark alone would attach to the quotation mark.
    (character) => `"${/\p{M}/u.test(character) ? "\u25cc" : ""}${character}" (U+${codePoint(character)})`,
  );
  const more = missing.length > shown.length ? " and more" : "";
  return `must be in letters that the card's fonts have; they lack ${shown.join(", ")}${more}. Send it in one of these scripts: ${DRAWABLE_SCRIPTS}.`;
}

function codePoint(character: string): string {
  return Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
}

function addressProblem(address: string, config: OwnAddresses): string | null {
  // URL parsers silently drop or repair these, and then fetch something other than what was sent.
  if (/[\s\p{Cc}\\]/u.test(address)) {
    return "must not hold spaces, line breaks or backslashes; write a space as %20.";
  }
  const url = URL.parse(address);
  // Reported already.
  if (!url) return null;
  if (url.username || url.password) return "must not carry a user name or password.";
  if (config.sourceAllowedOrigins.has(url.origin) || isOwnPhoto(address, config)) return null;
  if (address.startsWith(`${config.baseUrl}/docs/samples/`))
    return `is not a sample of this service; there are ${SAMPLE_PHOTO_PATHS.map((path) => path.split("/").at(-1)).join(", ")}.`;
  if (url.protocol !== "https:" || !/^https:\/\//i.test(address))
    return "must be an address that begins with https://.";
  return null;
}
