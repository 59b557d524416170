import { type Static, Type } from "@sinclair/typebox";
import { ASKED_COMPOSITIONS, type CardInput, MOTIONS, POSITIONS } from "./card.ts";
import { readSetPlace, type SetPlace, SHIRT_NUMBER, shownSet } from "./card-set.ts";
import {
  MAX_BATCH_CARDS,
  MAX_PARALLEL_NAME_CHARS,
  MAX_PARALLEL_SIZE,
  MAX_PUBLISH_AHEAD_DAYS,
} from "./limits.ts";
import { PICTURE_FORMAT_NAMES, PICTURE_FORMATS } from "./picture-formats.ts";
import { PICTURE_SIDE_PX } from "./picture-limits.ts";
import { StringEnum } from "./string-enum.ts";
import { COLOUR_PATTERN, compileValidator, validatorsOf } from "./validate.ts";

const hexColor = (description: string) =>
  Type.String({ pattern: COLOUR_PATTERN, description, examples: ["#C8102E"] });

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

export const MAX_EXTERNAL_ID_CHARS = 255;

/** The body of POST /v1/images, whichever templates are listed. */
const AnyImageRequest = Type.Object(
  {
    type: StringEnum(["player_card"], {
      description: "The kind of image to make.",
      examples: ["player_card"],
    }),
    player: Type.Object(
      {
        external_id: Type.String({
          minLength: 1,
          maxLength: MAX_EXTERNAL_ID_CHARS,
          description:
            "Your own identifier of the player. With a test key, some values choose how the image ends, such as test_fail_several_people.",
          examples: ["player-10442"],
        }),
        name: Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            "The name on the card, in Latin, Cyrillic, Greek, Arabic, Hebrew, Chinese, Japanese, Korean or one of 16 more scripts. A letter that no font of the card has is refused.",
          examples: ["Maya Okafor"],
        }),
        position: StringEnum(POSITIONS, { description: "The playing position.", examples: ["ST"] }),
        number: Type.Integer({ minimum: 1, maximum: 99, description: "Shirt number.", examples: [9] }),
        skill_level: Type.Integer({
          minimum: 1,
          maximum: 99,
          description: "Overall rating, the large number on the card.",
          examples: [87],
        }),
        source_image_url: Type.String({
          format: "uri",
          maxLength: 2048,
          description:
            "Public HTTPS address of the player's photo: JPEG, PNG or WebP, at most 15 MB and 40 megapixels, at least 200 pixels on the short side.",
          examples: ["https://images.example.com/players/10442.jpg"],
        }),
        focus: Type.Optional(
          Type.Object(
            { x: fraction("From the left edge."), y: fraction("From the top edge.") },
            {
              additionalProperties: false,
              description:
                "Where the player's face, or else body, is in a photo of several people, as fractions of the upright photo's width and height. The card is of the person there, and framed around them; without it, of the person who stands out.",
              examples: [{ x: 0.25, y: 0.4 }],
            },
          ),
        ),
      },
      { additionalProperties: false },
    ),
    style: Type.Object(
      {
        preset: Type.String(),
        width: Type.Optional(
          Type.Integer({ ...PICTURE_SIDE_PX, default: 1024, description: "Width in pixels." }),
        ),
        height: Type.Optional(
          Type.Integer({ ...PICTURE_SIDE_PX, default: 1280, description: "Height in pixels." }),
        ),
        background_theme: Type.Optional(
          Type.String({
            description:
              "Free text that sets the mood of the background, such as stadium, neon, fire, ice or galaxy. Any text gives a background, the same one each time. It is seen behind a player who is cut out, not on a card that shows the photo itself (`composition`), and with presets that draw a background.",
            examples: ["stadium night"],
          }),
        ),
        format: Type.Optional(
          StringEnum(PICTURE_FORMAT_NAMES, {
            default: "png",
            description:
              "File format of the finished image. PNG and WebP are transparent outside the card. `webp-animated`, `webm` and `mp4` are the card in motion for two or three seconds, over and over, in at most 2 MB: a WebP of smaller frames, and videos on a dark ground. They cost one credit too. `mp4` is made where the service has an encoder for it: `GET /v1/presets` lists its `formats`. `pdf` is a file for a printer, with cut and bleed and with the back as its second page; only in a size for print, such as 815 x 1110.",
          }),
        ),
        motion: Type.Optional(
          StringEnum(MOTIONS, {
            default: "foil",
            description:
              "How a card of a moving format moves: `foil`, light goes over its foil, or `reveal`, the card turns out of the dark first. Only with `format` `webp-animated`, `webm` or `mp4`.",
          }),
        ),
        composition: Type.Optional(
          StringEnum(ASKED_COMPOSITIONS, {
            default: "auto",
            description:
              "How the player is shown: `cutout`, cut out of the photo, or `photo`, within the photo itself in the card's frame, where others may be in the picture as long as the player is clearly the largest; `auto` leaves it to the card. A preset takes those that `GET /v1/presets` lists as its `compositions`, and always `auto`.",
          }),
        ),
        layers: Type.Optional(
          Type.Boolean({
            default: false,
            description:
              "Whether to keep the card's layers and its foil mask too, for the same credit: pictures with transparency that a page moves against each other. Only with `format` `webp`, at most 1080 x 1920 pixels, and for a preset that marks layers, which `GET /v1/presets` shows as `layers`.",
          }),
        ),
        foil: Type.Optional(
          Type.Boolean({
            default: false,
            description:
              "Whether to keep a plate of where foil goes too, for the same credit: print files then give it to the printer as a spot colour. Only with `format` `png` in a size for print, such as 815 x 1110, and for a preset that has foil, which `GET /v1/presets` shows as `foil`.",
          }),
        ),
        back: Type.Optional(
          Type.Boolean({
            default: false,
            description:
              "Whether to make the card's other side too, for the same credit. Only for a preset with one, which `GET /v1/presets` shows as `back`.",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    branding: Type.Optional(
      Type.Object(
        {
          club_badge_url: Type.Optional(
            Type.String({
              format: "uri",
              maxLength: 2048,
              description:
                "Public HTTPS address of the club's badge: JPEG, PNG or WebP, at most 5 MB and 4 megapixels.",
              examples: ["https://images.example.com/badges/rovers.png"],
            }),
          ),
          primary_color: Type.Optional(hexColor("Main club colour, #RRGGBB.")),
          secondary_color: Type.Optional(hexColor("Second club colour, #RRGGBB.")),
        },
        { additionalProperties: false },
      ),
    ),
    fields: Type.Optional(
      Type.Unsafe<Record<string, unknown>>(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              "What the preset shows beyond that, by the names and rules that `GET /v1/presets` lists for it. Refused for a preset without fields.",
            examples: [{ club: "Rovers FC" }],
          },
        ),
      ),
    ),
    set: Type.Optional(
      Type.Object(
        {
          id: Type.String({
            minLength: 1,
            maxLength: 40,
            description: "The set, one of those that `GET /v1/sets` lists.",
            examples: ["set_3Hs5mJd0nV7rQe2TzXyB8kWc"],
          }),
          parallel: Type.String({
            minLength: 1,
            maxLength: MAX_PARALLEL_NAME_CHARS,
            description: "One of the set's parallels, by its name.",
            examples: ["gold"],
          }),
          serial: Type.Optional(
            Type.Union(
              [Type.Integer({ minimum: 1, maximum: MAX_PARALLEL_SIZE }), StringEnum([SHIRT_NUMBER])],
              {
                description:
                  "The number wanted, or `shirt_number` for the player's own. Without it the card gets the lowest one that is free. Not in an open edition.",
                examples: [7],
              },
            ),
          ),
        },
        {
          additionalProperties: false,
          description:
            "The set that the card belongs to, whose checklist names the player. In a parallel with a size, or in an open edition, it gets a number, such as 12 of 50, which no other card of the player and parallel has.",
        },
      ),
    ),
    metadata: Type.Optional(
      // Not Type.Record: its pattern lets a key with a line break pass, whatever the value.
      Type.Unsafe<Record<string, string>>(
        Type.Object(
          {},
          {
            additionalProperties: Type.String({ maxLength: 256 }),
            maxProperties: 10,
            description: "Your own flat key-value pairs: at most 10 keys, values of at most 256 characters.",
            examples: [{ season: "2026" }],
          },
        ),
      ),
    ),
    publish_at: Type.Optional(
      Type.String({
        maxLength: 40,
        description: `Before this time, as RFC 3339 writes it and at most ${MAX_PUBLISH_AHEAD_DAYS} days ahead, the card's page, its place in a gallery and oEmbed answer 404; then \`image.published\` is sent. You see the card as soon as it is made. Without it, or once it has passed, a card is published when it is made.`,
        examples: ["2026-12-06T18:00:00Z"],
      }),
    ),
  },
  { additionalProperties: false, $id: "CreateImageRequest" },
);

export type CreateImageRequest = Static<typeof AnyImageRequest>;

/**
 * The request schema for a service whose operator lists these templates. It is both published and used for
 * validation.
 */
export function createImageSchema(presets: readonly string[]) {
  const { properties, ...rest } = AnyImageRequest;
  const { properties: style, ...styleRest } = properties.style;
  const preset = StringEnum(presets, {
    description: "The card template: one of those that `GET /v1/presets` lists.",
    examples: presets.slice(0, 1),
  });
  return Type.Object({ ...properties, style: Type.Object({ ...style, preset }, styleRest) }, rest);
}

/**
 * A card of a batch: as the request of one image, and in a parallel with numbers it may stand for several.
 */
export function batchCardSchema(presets: readonly string[]) {
  const { properties, ...rest } = createImageSchema(presets);
  const { properties: set, ...setRest } = properties.set;
  const count = Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_BATCH_CARDS,
      default: 1,
      description:
        "How many of this card to make, each with the lowest number that is free and for a credit of its own. Only in a parallel with numbers, and without `serial`.",
      examples: [50],
    }),
  );
  return Type.Object(
    { ...properties, set: Type.Optional(Type.Object({ ...set, count }, setRest)) },
    { ...rest, $id: "BatchCard" },
  );
}

/** A request's style as it was sent, whichever templates were listed then: for answers. */
export function sentStyleSchema() {
  const { width, height, format, motion, composition, layers, foil, back, background_theme } =
    AnyImageRequest.properties.style.properties;
  return Type.Object(
    {
      preset: Type.String({ description: "The card template.", examples: ["club_card"] }),
      width: Type.Optional({ ...width, default: undefined }),
      height: Type.Optional({ ...height, default: undefined }),
      background_theme,
      format: Type.Optional({ ...format, default: undefined }),
      motion: Type.Optional({ ...motion, default: undefined }),
      composition: Type.Optional({ ...composition, default: undefined }),
      layers: Type.Optional({ ...layers, default: undefined }),
      foil: Type.Optional({ ...foil, default: undefined }),
      back: Type.Optional({ ...back, default: undefined }),
    },
    {
      additionalProperties: false,
      $id: "SentStyle",
      description: "The `style` of the request. What was left out is left out here too.",
    },
  );
}

/**
 * Checks the fields and types of a create request; URLs and texts have further rules. Compiled once per list
 * of templates.
 */
export const createImageValidator = validatorsOf(createImageSchema);

/** Matches any request that was ever accepted, whichever templates were listed at the time. */
export const storedRequestValidator = compileValidator(AnyImageRequest, "body");

/**
 * Reads a stored request back. It uses the validator that accepted it, because TypeBox's own check counts an
 * emoji as two characters and would refuse a long name the API had taken. Throws if the request was never
 * valid.
 */
export function storedRequest(value: unknown): CreateImageRequest {
  const checked = storedRequestValidator.check(value);
  if (!checked.ok) throw new Error(`the stored request is damaged: ${JSON.stringify(checked.details)}`);
  return checked.value;
}

/** The format of a card that asks for none. */
export const DEFAULT_FORMAT = "png";
export const DEFAULT_WIDTH_PX = 1024;
export const DEFAULT_HEIGHT_PX = 1280;

/** What the card needs from an accepted request, with the defaults filled in. */
export function cardInput(request: CreateImageRequest, place: SetPlace | null = null): CardInput {
  const { player, style, branding = {} } = request;
  const { composition: asked } = style;
  return {
    player: {
      name: player.name,
      position: player.position,
      number: player.number,
      skillLevel: player.skill_level,
      externalId: player.external_id,
      ...(player.focus && { focus: player.focus }),
    },
    style: {
      preset: style.preset,
      width: style.width ?? DEFAULT_WIDTH_PX,
      height: style.height ?? DEFAULT_HEIGHT_PX,
      format: PICTURE_FORMATS[style.format ?? DEFAULT_FORMAT].drawnAs,
      // Left out like a field that was not sent, as the composition below.
      ...(style.motion === undefined || style.motion === "foil" ? {} : { motion: style.motion }),
      ...(style.background_theme === undefined ? {} : { backgroundTheme: style.background_theme }),
      // Left out like a field that was not sent, so that cards which differ in nothing else share their test
      // picture.
      ...(asked === undefined || asked === "auto" ? {} : { composition: asked }),
      ...(style.layers ? { layers: true } : {}),
      ...(style.foil ? { foil: true } : {}),
      ...(style.back ? { back: true } : {}),
    },
    branding: {
      ...(branding.primary_color === undefined ? {} : { primaryColor: branding.primary_color }),
      ...(branding.secondary_color === undefined ? {} : { secondaryColor: branding.secondary_color }),
    },
    ...(request.fields && { fields: request.fields }),
    ...(place && { set: shownSet(place) }),
  };
}

/** What the card of an image needs. */
export function storedCard(image: { request: unknown; setPlace: string | null }): CardInput {
  return cardInput(storedRequest(image.request), readSetPlace(image.setPlace));
}
