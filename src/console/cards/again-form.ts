import { asFocus } from "../../app/batches/squad-cards.ts";
import { colourNamed } from "../../core/colour-names.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { publicationTime } from "../../core/publication.ts";
import type { RemakeImageRequest } from "../../core/remake-request.ts";
import { isoTime } from "../../core/time.ts";
import { field, type MemberVisit } from "../visit.ts";
import { focusText } from "./playground-form.ts";
import { publicationAt, publicationOf } from "./publish-field.tsx";

// What the form for a card made again has, and what its answers change of the card's request.

/** What can be made otherwise here, by the names of the form. */
export interface Changes {
  name: string;
  position: string;
  number: string;
  skill_level: string;
  source_image_url: string;
  focus: string;
  preset: string;
  background_theme: string;
  primary_color: string;
  secondary_color: string;
  club_badge_url: string;
  width: string;
  height: string;
  format: string;
  composition: string;
  layers: string;
  foil: string;
  publish_on: string;
  publish_zone: string;
}

/** A request as the form has it; a time of publication that has passed is over. */
export function changesOf(
  { player, style, branding = {}, ...request }: CreateImageRequest,
  now: number,
): Changes {
  const publishAt = publicationTime(request, now);
  return {
    name: player.name,
    position: player.position,
    number: String(player.number),
    skill_level: String(player.skill_level),
    source_image_url: player.source_image_url,
    focus: focusText(player.focus),
    preset: style.preset,
    background_theme: style.background_theme ?? "",
    primary_color: branding.primary_color ?? "",
    secondary_color: branding.secondary_color ?? "",
    club_badge_url: branding.club_badge_url ?? "",
    width: String(style.width ?? ""),
    height: String(style.height ?? ""),
    format: style.format ?? "png",
    composition: style.composition ?? "auto",
    layers: style.layers ? "true" : "",
    foil: style.foil ? "true" : "",
    ...publicationOf(publishAt === null ? undefined : isoTime(publishAt)),
  };
}

/** The fields of the form as it was sent; what it has no field for is as it was. */
export function readChanges(visit: MemberVisit, before: Changes): Changes {
  const names = Object.keys(before) as (keyof Changes)[];
  const read = names.map((name) => [name, visit.form.has(name) ? field(visit, name) : before[name]]);
  return Object.fromEntries(read) as Changes;
}

/**
 * What a create request is to have otherwise: only what the form changed, so that the rest stays as it was
 * written.
 */
export function changeOf(before: CreateImageRequest, after: Changes, now: number): RemakeImageRequest {
  const was = changesOf(before, now);
  const isNew = (name: keyof Changes) => after[name] !== was[name];
  const pick = (names: (keyof Changes)[]) =>
    Object.fromEntries(names.filter(isNew).map((name) => [name, typed(name, after[name])]));
  const brand = ["primary_color", "secondary_color", "club_badge_url"] as const;
  const branding = Object.fromEntries(
    brand.filter((name) => after[name] !== "").map((name) => [name, typed(name, after[name])]),
  );
  return {
    player: pick(["name", "position", "number", "skill_level", "source_image_url", "focus"]),
    style: pick(["preset", "background_theme", "width", "height", "format", "composition", "layers", "foil"]),
    ...(brand.some(isNew) ? { branding } : {}),
    ...(isNew("publish_on") && { publish_at: after.publish_on === "" ? null : publicationAt(after) }),
  } as RemakeImageRequest;
}

const NUMBERS: readonly (keyof Changes)[] = ["number", "skill_level", "width", "height"];

/**
 * What is not a number stays text, so that the message can name what was written. Colours may be named.
 */
function typed(name: keyof Changes, text: string): unknown {
  if (name === "focus") return text === "" ? undefined : asFocus(text);
  if (name === "primary_color" || name === "secondary_color") return colourNamed(text) ?? text;
  if (name === "layers" || name === "foil") return text === "true";
  if (!NUMBERS.includes(name)) return text;
  return /^\d{1,9}$/.test(text) ? Number(text) : text === "" ? undefined : text;
}
