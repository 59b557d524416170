import { TARGETS, type Target, templateTargets } from "../app/batches/squad-cards.ts";
import { type CardTemplates, checkCard } from "../app/images/check-card.ts";
import type { Config } from "../config.ts";
import { API_PATHS } from "../core/api-paths.ts";
import { STILL_FORMATS } from "../core/card.ts";
import type { ErrorDetail } from "../core/errors.ts";
import type { CreateImageRequest } from "../core/image-request.ts";
import { isMoving } from "../core/moving-pictures.ts";
import { PICTURE_WIDTHS } from "../core/picture-limits.ts";
import { MAX_RENDER_VALIDITY_MS } from "../core/render-address.ts";
import { DAY_MS, SECOND_MS } from "../core/time.ts";

/** Parameters that say who signed an address and how, and one for the finished picture's width. */
const OWN_PARAMETERS = ["key", "exp", "sig", "w", "side"];
/** Which side an address gives of a card that has both; without one of these words it has the front alone. */
export const SIDES = ["front", "back"] as const;
const wholeNumber = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : text);

type Parameter = Pick<Target, "place" | "read">;

/** Each parameter of a card, with its place in a create request and how its text is read. */
export const CARD_PARAMETERS: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ...TARGETS.filter(({ key }) => key !== "name_2").map((target): [string, Parameter] => [
    { source_image_url: "photo", club_badge_url: "badge" }[target.key] ?? target.key,
    target,
  ]),
  ["width", { place: "style.width", read: wholeNumber }],
  ["height", { place: "style.height", read: wholeNumber }],
  ["format", { place: "style.format", read: (text: string) => text }],
]);

/** The name in an address of what has a place in a create, such as `player.source_image_url`. */
export function parameterOf(place: string): string | undefined {
  for (const [name, parameter] of CARD_PARAMETERS) if (parameter.place === place) return name;
  return undefined;
}

/** When an address expires, in epoch milliseconds. */
export function readExpiry(text: string | null, now: number): number | ErrorDetail {
  const field = "query exp";
  if (text === null || !/^\d{1,12}$/.test(text))
    return { field, message: "must be the second at which the address expires, as Unix time." };
  const expiresAt = Number(text) * SECOND_MS;
  return expiresAt - now > MAX_RENDER_VALIDITY_MS
    ? { field, message: `must be at most ${MAX_RENDER_VALIDITY_MS / DAY_MS} days ahead.` }
    : expiresAt;
}

/** The card that an address describes, or what is wrong with its parameters. */
export async function cardOfAddress(
  { searchParams }: URL,
  preset: string,
  { config, templates }: { config: Config; templates: CardTemplates },
): Promise<{ request: CreateImageRequest; isBack: boolean } | { details: ErrorDetail[] }> {
  const known = new Map<string, Parameter>([...CARD_PARAMETERS, ...(await ownParameters(preset, templates))]);
  const details: ErrorDetail[] = [];
  const card: Record<string, Record<string, unknown>> = { player: {}, style: { preset } };
  const set = (group: string, name: string, value: unknown) => {
    card[group] = { ...card[group], [name]: value };
  };
  for (const [name, given] of Map.groupBy(searchParams, ([name]) => name)) {
    if (OWN_PARAMETERS.includes(name)) continue;
    const field = `query ${name.slice(0, 100)}`;
    const [[, text = ""] = []] = given;
    const parameter = known.get(name);
    if (given.length > 1) details.push({ field, message: "must be given once only." });
    else if (name.startsWith("metadata.")) set("metadata", name.slice("metadata.".length), text);
    else if (parameter) {
      const [group = "", own = ""] = parameter.place.split(".");
      set(group, own, parameter.read(text));
    } else
      details.push({
        field,
        message: `is not a parameter of this address; known are ${[...known.keys()].join(", ")}, metadata.KEY.`,
      });
  }
  const sides = searchParams.getAll("side");
  const isBack = sides[0] === "back";
  // Also for the front: so the addresses of both sides describe one card, which is charged once.
  if (sides.length > 0) set("style", "back", true);
  if (sides.length > 1 || (sides[0] !== undefined && !(SIDES as readonly string[]).includes(sides[0])))
    details.push({ field: "query side", message: "must be front or back, given once." });
  if (isBack && searchParams.get("format") === "pdf")
    details.push({ field: "query side", message: "must be front: a PDF has both sides as its pages." });
  const widths = searchParams.getAll("w");
  const checked = await checkCard({ type: "player_card", ...card }, config, templates);
  const byPlace = new Map([...known].map(([name, { place }]) => [place, name]));
  byPlace.set("style.back", "side");
  for (const { field, message } of checked.details ?? [])
    details.push({
      field: field === "style.preset" ? field : `query ${byPlace.get(field) ?? field}`,
      message,
    });
  // Before the card is made, which costs a credit.
  const { format = "png" } = checked.request?.style ?? {};
  if (isMoving(format))
    details.push({
      field: "query format",
      message: `must be ${STILL_FORMATS.join(", ")}: a moving picture takes longer to make than a page's visitor waits. Make it by POST ${API_PATHS.images}, and show its image_url.`,
    });
  const own = checked.request?.style.width ?? 0;
  const isWidth = PICTURE_WIDTHS.some((known) => String(known) === widths[0] && known <= own);
  if (checked.request && widths.length > 0 && (widths.length > 1 || !isWidth))
    details.push({
      field: "query w",
      message: `must be one of ${PICTURE_WIDTHS.join(", ")}, given once, and at most the card's own width of ${own} pixels.`,
    });
  return checked.request && details.length === 0 ? { request: checked.request, isBack } : { details };
}

/** The preset's own fields, as far as one parameter can hold them. */
async function ownParameters(preset: string, templates: CardTemplates) {
  const isKnown = (templates.configured as readonly string[]).includes(preset);
  if (!isKnown && !(await templates.listed()).includes(preset)) return [];
  const { manifest } = await templates.current(preset);
  return templateTargets(manifest.fields).map((target): [string, Parameter] => [target.place, target]);
}
