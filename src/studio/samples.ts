import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { CardInput, ImageFormat } from "../core/card.ts";
import { shownSetValidator } from "../core/card-set.ts";
import { OperatorError } from "../core/errors.ts";
import { cardInput, createImageSchema } from "../core/image-request.ts";
import { compileValidator } from "../core/validate.ts";
import { checkFields, imageFields } from "../templates/fields.ts";
import { checkComposition, type TemplateManifest } from "../templates/manifest.ts";
import type { SampleBody } from "./cases.ts";

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
  const checked = compileValidator(createImageSchema([manifest.name]), "the sample").check(request);
  const checkedSet = set === undefined ? undefined : shownSetValidator.check(set);
  if (checkedSet && !checkedSet.ok)
    throw new OperatorError(
      checkedSet.details.map(({ field, message }) => `set.${field} ${message}`).join("\n"),
    );
  const { pictures, values } = pictureFiles(manifest, fields);
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
    photo: fileName(photo, "player.photo"),
    badge: fileName(badge, "branding.badge"),
    pictures,
  };
}

/** The files that stand for addresses of pictures, and the fields as the API would get them. */
function pictureFiles({ fields: declared }: TemplateManifest, fields: SampleBody[string]) {
  const pictures: Record<string, string> = {};
  const values = fields && { ...fields };
  for (const field of imageFields(declared)) {
    const file = fileName(fields?.[field], `fields.${field}`);
    if (file === null || !values) continue;
    pictures[field] = file;
    values[field] = "https://picture.invalid/";
  }
  return { pictures, values };
}

function withoutNothing(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined && each !== null));
}

/** The name of a file in the samples folder itself; `studio:NAME` is a badge that the studio draws. */
function fileName(value: unknown, field: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (
    typeof value !== "string" ||
    (basename(value) !== value && !value.startsWith("studio:")) ||
    value.startsWith(".")
  )
    throw new OperatorError(`${field} must be the name of a file in the samples folder, such as player.jpg.`);
  return value;
}

export interface SampleText {
  name: string;
  text: string;
}

/** The samples in a template's folder, by name. */
export async function readSamples(dir: string): Promise<SampleText[]> {
  const folder = join(dir, "samples");
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(
    names.map(async (name) => ({
      name: name.slice(0, -".json".length),
      text: await readFile(join(folder, name), "utf8").catch(() => ""),
    })),
  );
}
