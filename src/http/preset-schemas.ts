import { Type } from "@sinclair/typebox";
import { COMPOSITIONS } from "../core/card.ts";
import { PICTURE_FORMAT_NAMES } from "../core/picture-formats.ts";
import { PICTURE_SIDE_PX } from "../core/picture-limits.ts";
import { StringEnum } from "../core/string-enum.ts";
import { LAYOUTS } from "../render/card/placement/template-layout.ts";

// What the API says of templates; see schemas.ts.

const closed = { additionalProperties: false } as const;

const aspect = (description: string) => Type.Number({ minimum: 0.25, maximum: 4, description });
const side = (description: string) => Type.Integer({ ...PICTURE_SIDE_PX, description });

const PresetSize = Type.Object(
  {
    name: Type.String({ description: "What its designer calls it." }),
    width: side("Width in pixels."),
    height: side("Height in pixels."),
  },
  { ...closed, $id: "PresetSize", description: "A size that the template was drawn for." },
);

const PresetLayout = Type.Object(
  {
    name: StringEnum(LAYOUTS, { description: "The kind of picture." }),
    min_aspect_ratio: aspect("Its narrowest width divided by height."),
    max_aspect_ratio: aspect("Its widest width divided by height."),
  },
  { ...closed, $id: "PresetLayout", description: "A kind of picture, by its shape." },
);

const Preset = Type.Object(
  {
    name: Type.String({ description: "Send it as `style.preset`.", examples: ["club_card"] }),
    version: Type.String({
      pattern: "^\\d+\\.\\d+\\.\\d+$",
      description: "Of the template. A new version may look different.",
      examples: ["1.0.0"],
    }),
    title: Type.String({ description: "Its name for people.", examples: ["Club card"] }),
    description: Type.Union([Type.String(), Type.Null()], {
      description: "What the card looks like; null where its designer says nothing.",
    }),
    sample_url: Type.String({
      format: "uri",
      description:
        "Address of a WebP picture of a card made with it. It needs no key and may be cached for good: a new look has a new address.",
      examples: ["https://cards.example.org/docs/presets/club_card-b2f393db0c7be35c.webp"],
    }),
    sizes: Type.Array(PresetSize, {
      minItems: 1,
      maxItems: 12,
      description: "The sizes it was drawn for, the best one first. Others are set as well.",
    }),
    min_aspect_ratio: aspect(
      "The narrowest width divided by height that the card fills; narrower pictures get a margin.",
    ),
    max_aspect_ratio: aspect("The widest width divided by height that the card fills."),
    layouts: Type.Array(PresetLayout, {
      minItems: 1,
      maxItems: LAYOUTS.length,
      description: "The same shapes by the kinds of pictures, from narrow to wide.",
    }),
    compositions: Type.Array(StringEnum(COMPOSITIONS), {
      minItems: 1,
      maxItems: COMPOSITIONS.length,
      uniqueItems: true,
      description: "What `style.composition` may be for it besides `auto`, the usual one first.",
    }),
    layers: Type.Boolean({ description: "Whether it marks layers, which `style.layers` asks for." }),
    foil: Type.Boolean({
      description: "Whether it says where foil goes, of which `style.foil` keeps a plate.",
    }),
    back: Type.Boolean({ description: "Whether it has another side, which `style.back` asks for." }),
    fields: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
      description:
        "The JSON Schema of the `fields` that a create may send for it; null for a template without fields.",
    }),
  },
  { ...closed, $id: "Preset", description: "A card template." },
);

export const PresetList = Type.Object(
  {
    presets: Type.Array(Preset, {
      minItems: 1,
      maxItems: 100,
      description: "In the operator's order.",
    }),
    formats: Type.Array(StringEnum(PICTURE_FORMAT_NAMES), {
      description:
        "What `style.format` may be: everything but `mp4`, and that too where the service has an encoder for it.",
    }),
  },
  { ...closed, $id: "PresetList", description: "The card templates there are, and the formats of cards." },
);
