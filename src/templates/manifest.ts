import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { OperatorError } from "../core/errors.ts";

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const Box = Type.Object(
  { x: fraction("left"), y: fraction("top"), width: fraction("width"), height: fraction("height") },
  { additionalProperties: false },
);

const Layout = Type.Object(
  {
    minAspect: Type.Number({
      minimum: 0.25,
      maximum: 4,
      description: "narrowest width / height this layout fills; narrower pictures get a margin",
    }),
    maxAspect: Type.Number({
      minimum: 0.25,
      maximum: 4,
      description: "widest width / height this layout fills",
    }),
    face: Type.Composite([Box], {
      description: "where the face goes, brow to chin, in fractions of the card",
    }),
    maxContentY: fraction("the line the body has to reach: below it plate and frame hide the player"),
    frame: Type.Composite([Box], {
      description: "the opaque frame; a photo's straight edge never shows outside it",
    }),
  },
  { additionalProperties: false },
);

/** Names of templates, which are names of folders and of presets in the API. */
export const TEMPLATE_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** What template.json holds. Boxes are fractions of the card, origin top left. */
export const TemplateManifest = Type.Object(
  {
    name: Type.String({ pattern: TEMPLATE_NAME.source }),
    version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+$" }),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    /** Font families that card.css may name: bundled ones, or ones that its own @font-face rules define. */
    fonts: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true }),
    name_text: Type.Object(
      {
        /** Smallest size as a fraction of the largest before the name takes two lines. */
        oneLineMinScale: fraction("smallest one-line size"),
        /** Smallest size on two lines before the name is cut with an ellipsis. */
        twoLineMinScale: fraction("smallest two-line size"),
      },
      { additionalProperties: false },
    ),
    layouts: Type.Object(
      { portrait: Layout, square: Layout, landscape: Layout },
      { additionalProperties: false, description: "one for each kind of picture" },
    ),
  },
  { additionalProperties: false },
);
export type TemplateManifest = Static<typeof TemplateManifest>;

const PATTERN_REMEDIES: Record<string, string> = {
  "/name": "use a lower-case letter, then letters, digits and underscores, as in season_card",
  "/version": "use three numbers, as in 1.0.0",
};

/**
 * Reads a manifest. Throws an error that names `file`, the place inside it and the remedy, for every broken place.
 */
export function parseManifest(json: string, file: string): TemplateManifest {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new OperatorError(`${file} is not JSON: ${(error as Error).message}. Correct the syntax.`);
  }
  const problems = [...Value.Errors(TemplateManifest, value)].map(
    ({ path, message }) => `${path || "the whole file"}: ${PATTERN_REMEDIES[path] ?? lowerFirst(message)}`,
  );
  if (problems.length === 0) problems.push(...contradictions(value as TemplateManifest));
  if (problems.length > 0)
    throw new OperatorError(`${file} cannot be used. ${problems.slice(0, 12).join("; ")}.`);
  return value as TemplateManifest;
}

/** What a schema cannot say: boxes inside the card, ranges the right way round. */
function contradictions(manifest: TemplateManifest): string[] {
  const problems: string[] = [];
  for (const [name, layout] of Object.entries(manifest.layouts)) {
    const at = `/layouts/${name}`;
    if (layout.minAspect > layout.maxAspect) problems.push(`${at}/minAspect: must not exceed maxAspect`);
    for (const key of ["face", "frame"] as const) {
      const box = layout[key];
      if (box.width <= 0 || box.height <= 0) problems.push(`${at}/${key}: width and height must be above 0`);
      if (box.x + box.width > 1.0001) problems.push(`${at}/${key}: x + width must be at most 1`);
      if (box.y + box.height > 1.0001) problems.push(`${at}/${key}: y + height must be at most 1`);
    }
    if (layout.maxContentY <= layout.face.y + layout.face.height)
      problems.push(`${at}/maxContentY: must lie below the face`);
  }
  return problems;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
