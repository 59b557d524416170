import type { CardInput, ImageFormat } from "../core/card.ts";
import { shownSetValidator } from "../core/card-set.ts";
import { OperatorError } from "../core/errors.ts";
import { cardInput, createImageSchema } from "../core/image-request.ts";
import { validatorsOf } from "../core/validate.ts";
import { checkFields, imageFields } from "../templates/fields.ts";
import { checkComposition, type TemplateManifest } from "../templates/manifest.ts";
import type { SampleBody } from "./cases.ts";
import { photoName, pictureName } from "./sample-files.ts";

// A sample is a body of POST /v1/images without the fields only the API needs. Instead of addresses,
// `player.photo`, `branding.badge` and pictures among the fields name files beside it.

export const SAMPLE_NAME = /^[a-z0-9][a-z0-9_-]{0,60}$/;

/** What a sample produces. */
export interface SampleCard {
  card: CardInput;
  photo: string | null;
  badge: string | null;
  /** The files of the pictures among its own fields, by the fields' names. */
  pictures: Record<string, string>;
}

export interface SampleSize {
  width: number;
  height: number;
  format: ImageFormat;
}

const requestOf = validatorsOf(({ name }: TemplateManifest) => createImageSchema([name]));

/**
 * The card of a sample. Throws an OperatorError that names every invalid field, as the API would.
 * @param body untrusted: text from an editor, or a file
 */
export function sampleCard(body: unknown, manifest: TemplateManifest, size: SampleSize): SampleCard {
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw new OperatorError("The sample must be a JSON object, as POST /v1/images takes it.");
  const { player = {}, style = {}, branding = {}, fields, set } = body as SampleBody;
  const { photo, ...details } = player;
  const { badge, ...colours } = branding;
  const request = {
    type: "player_card",
    player: { external_id: "sample", source_image_url: "https://photo.invalid/", ...details },
    // The view decides the size and template, even if the sample was written for others.
    style: { ...style, preset: manifest.name, width: 1024, height: 1024, format: size.format },
    ...(Object.keys(colours).length > 0 ? { branding: withoutNothing(colours) } : {}),
  };
  const checked = requestOf(manifest).check(request);
  const checkedSet = set === undefined ? undefined : shownSetValidator.check(set);
  if (checkedSet && !checkedSet.ok)
    throw new OperatorError(
      checkedSet.details.map(({ field, message }) => `set.${field} ${message}`).join("\n"),
    );
  const { pictures, values } = pictureNames(manifest, fields);
  const problems = checked.ok
    ? [...checkComposition(manifest, checked.value.style.composition), ...checkFields(manifest, values)]
    : checked.details;
  if (!checked.ok || problems.length > 0)
    throw new OperatorError(problems.map(({ field, message }) => `${field} ${message}`).join("\n"));
  const card = cardInput(checked.value);
  return {
    card: {
      ...card,
      style: { ...card.style, width: size.width, height: size.height },
      ...(fields === undefined ? {} : { fields }),
      ...(checkedSet && { set: checkedSet.value }),
    },
    photo: photoName(photo, "player.photo"),
    badge: pictureName(badge, "branding.badge"),
    pictures,
  };
}

/** The files that stand for addresses of pictures, and the fields as the API would get them. */
function pictureNames({ fields: declared }: TemplateManifest, fields: SampleBody[string]) {
  const pictures: Record<string, string> = {};
  const values = fields && { ...fields };
  for (const field of imageFields(declared)) {
    const file = pictureName(fields?.[field], `fields.${field}`);
    if (file === null || !values) continue;
    pictures[field] = file;
    values[field] = "https://picture.invalid/";
  }
  return { pictures, values };
}

function withoutNothing(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined && each !== null));
}
