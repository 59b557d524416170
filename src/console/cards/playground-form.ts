import { asFocus } from "../../app/batches/squad-cards.ts";
import type { Config } from "../../config.ts";
import { type Focus, MOVING_FORMATS } from "../../core/card.ts";
import { colourNamed } from "../../core/colour-names.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import type { PictureFormatName } from "../../core/picture-formats.ts";
import { samplePhotoUrl } from "../../core/sample-photo.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { publicationAt, publicationOf } from "./publish-field.tsx";

/** The playground's fields as text, by their form names. */
export interface PlaygroundFields {
  preset: string;
  external_id: string;
  name: string;
  position: string;
  number: string;
  skill_level: string;
  source_image_url: string;
  /** Two fractions, such as `0.62 0.2`; empty: the person who stands out. */
  focus: string;
  /** The id of a set and one of its parallels, with a space between; empty: none. */
  set: string;
  background_theme: string;
  format: string;
  motion: string;
  composition: string;
  /** "true" where the other side is wanted too. */
  back: string;
  /** "true" where layers, or a plate of foil, are. */
  layers: string;
  foil: string;
  /** Until when it is not shown, by the clocks of a time zone; empty: from the start. */
  publish_on: string;
  publish_zone: string;
  width: string;
  height: string;
  club_badge_url: string;
  primary_color: string;
  secondary_color: string;
}

/** The input that a field of the API is written in, such as `number` for `player.number`. */
export function inputNamed(field: string): string | undefined {
  if (field.startsWith("player.focus")) return "focus";
  if (field.startsWith("set.")) return "set";
  if (field === "publish_at") return "publish_on";
  const name = field.slice(field.lastIndexOf(".") + 1);
  return name in EXAMPLE && !field.startsWith("fields") ? name : undefined;
}

const EXAMPLE: PlaygroundFields = {
  // The first one listed by the operator.
  preset: "",
  external_id: "player-10442",
  name: "Eileen Collins",
  position: "ST",
  number: "9",
  skill_level: "87",
  // The service's own photo, whose URL only the service knows.
  source_image_url: "",
  focus: "",
  set: "",
  background_theme: "stadium night",
  format: "png",
  motion: "foil",
  composition: "auto",
  back: "",
  layers: "",
  foil: "",
  publish_on: "",
  publish_zone: "",
  width: "1024",
  height: "1280",
  club_badge_url: "",
  primary_color: "#1B3FAB",
  secondary_color: "#F2C14E",
};

/** What the form depends on: the service's address, and the available templates. */
export interface FormFacts extends Pick<Config, "baseUrl" | "presets"> {
  /** In which this service makes cards. */
  formats: readonly PictureFormatName[];
  /** The templates as they are chosen. */
  looks: LoadedTemplate[];
}

/** Initial values: the sample photo produces a card with a live request too. */
export function exampleFields(config: FormFacts): PlaygroundFields {
  return { ...EXAMPLE, preset: listed(undefined, config), source_image_url: samplePhotoUrl(config) };
}

/** `preset` if available; otherwise the first that is. */
function listed(preset: string | undefined, { presets }: Pick<FormFacts, "presets">): string {
  return presets.find((name) => name === preset) ?? presets[0] ?? "";
}

/** The names of its inputs. */
export const INPUTS = Object.keys(EXAMPLE) as (keyof PlaygroundFields)[];

/** The fields of a submitted form; missing ones are empty. Without a choice of templates, none is sent. */
export function readFields(form: URLSearchParams, config: FormFacts): PlaygroundFields {
  const fields = Object.fromEntries(
    INPUTS.map((name) => [name, (form.get(name) ?? "").trim()]),
  ) as unknown as PlaygroundFields;
  return { ...fields, preset: fields.preset || listed(undefined, config) };
}

/** Fills the form from an earlier request; a template that is no longer listed is replaced by one that is. */
export function fieldsOf(request: CreateImageRequest, config: FormFacts): PlaygroundFields {
  const { player, style, branding = {} } = request;
  return {
    preset: listed(style.preset, config),
    external_id: player.external_id,
    name: player.name,
    position: player.position,
    number: String(player.number),
    skill_level: String(player.skill_level),
    source_image_url: player.source_image_url,
    focus: focusText(player.focus),
    set: request.set ? `${request.set.id} ${request.set.parallel}` : "",
    background_theme: style.background_theme ?? "",
    format: style.format ?? "png",
    motion: style.motion ?? "foil",
    composition: style.composition ?? "auto",
    back: style.back ? "true" : "",
    layers: style.layers ? "true" : "",
    foil: style.foil ? "true" : "",
    ...publicationOf(request.publish_at),
    width: String(style.width ?? EXAMPLE.width),
    height: String(style.height ?? EXAMPLE.height),
    club_badge_url: branding.club_badge_url ?? "",
    primary_color: branding.primary_color ?? "",
    secondary_color: branding.secondary_color ?? "",
  };
}

/** A place in a photo as its field has it. */
export const focusText = (focus: Focus | undefined): string => (focus ? `${focus.x} ${focus.y}` : "");

/** The set and the parallel that a choice stands for. */
function placeIn(set: string) {
  const at = set.indexOf(" ");
  return { id: set.slice(0, at), parallel: set.slice(at + 1) };
}

/**
 * The request body for the fields, unchecked: the API's own validation refuses it later, in the same words.
 * Text that is not a number stays text, so that the message can quote it. `own`: the template's own fields.
 */
export function requestOf(fields: PlaygroundFields, own?: Record<string, unknown>): unknown {
  const number = (text: string) => (/^-?\d{1,9}$/.test(text) ? Number(text) : text);
  const optional = (entries: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== ""));
  const branding = optional({
    club_badge_url: fields.club_badge_url,
    primary_color: colourNamed(fields.primary_color) ?? fields.primary_color,
    secondary_color: colourNamed(fields.secondary_color) ?? fields.secondary_color,
  });
  return {
    type: "player_card",
    player: {
      external_id: fields.external_id,
      name: fields.name,
      position: fields.position,
      number: number(fields.number),
      skill_level: number(fields.skill_level),
      source_image_url: fields.source_image_url,
      ...(fields.focus !== "" && { focus: asFocus(fields.focus) }),
    },
    style: {
      preset: fields.preset,
      ...optional({
        width: number(fields.width),
        height: number(fields.height),
        background_theme: fields.background_theme,
        format: fields.format,
        // The form always has a choice, which stills have no use for.
        motion: MOVING_FORMATS.some((name) => name === fields.format) ? fields.motion : "",
        // What holds without it is not worth a line of the samples.
        composition: fields.composition === "auto" ? "" : fields.composition,
        back: fields.back === "true" || "",
        layers: fields.layers === "true" || "",
        foil: fields.foil === "true" || "",
      }),
    },
    ...(Object.keys(branding).length > 0 ? { branding } : {}),
    ...(own && { fields: own }),
    ...(fields.set !== "" && { set: placeIn(fields.set) }),
    ...(fields.publish_on !== "" && { publish_at: publicationAt(fields) }),
  };
}
