import { Type } from "@sinclair/typebox";
import {
  MAX_ACCOUNT_NAME_CHARS,
  MAX_PACK_CARDS,
  MAX_PACK_SIZE,
  MAX_PARALLEL_NAME_CHARS,
  MAX_PARALLEL_SIZE,
  MAX_PARALLELS,
  MAX_SEASON_CHARS,
  MAX_SET_PLAYERS,
} from "../core/limits.ts";
import { nextPage } from "./page-schema.ts";
import { successEnvelope, time } from "./schemas.ts";

const closed = { additionalProperties: false } as const;
const SET_ID = "set_3Hs5mJd0nV7rQe2TzXyB8kWc";

const textOrNull = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });

const parallel = {
  name: Type.String({
    minLength: 1,
    maxLength: MAX_PARALLEL_NAME_CHARS,
    description: "What it is called on cards and in requests.",
    examples: ["gold"],
  }),
  size: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_PARALLEL_SIZE }), Type.Null()], {
    description:
      "How many cards of each player there are, numbered from 1; null for any number, unnumbered unless `closes_at` makes it an open edition.",
    examples: [50],
  }),
};

const NewParallel = Type.Object(
  {
    ...parallel,
    closes_at: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          "Makes a parallel without size an open edition: until then, a time as RFC 3339 writes it, each card gets the next number of its player; afterwards creates are refused.",
        examples: ["2026-12-06T18:00:00Z"],
      }),
    ),
  },
  { ...closed, description: "One of the versions in which a set has each card." },
);

const edition = (whose: string) => ({
  ...parallel,
  closes_at: Type.Optional(
    time("Of an open edition alone: when it closes, or did.", "2026-12-06T18:00:00.000Z"),
  ),
  print_run: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: `Of an open edition alone: how many cards of ${whose} there are for good. Null until it is closed and its last card is made or failed.`,
      examples: [340],
    }),
  ),
});

const Parallel = Type.Object(edition("all players together"), {
  ...closed,
  description: "One of the versions in which a set has each card.",
});

const number = Type.Integer({ minimum: 1, maximum: 99, description: "Shirt number.", examples: [9] });

/** What POST /v1/sets takes. */
export const CreateSetRequest = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: MAX_ACCOUNT_NAME_CHARS,
      description: "What the set is called on cards.",
      examples: ["Rovers 2026/27"],
    }),
    season: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SEASON_CHARS,
        description: "The season, as cards show it.",
        examples: ["2026/27"],
      }),
    ),
    parallels: Type.Array(NewParallel, {
      minItems: 1,
      maxItems: MAX_PARALLELS,
      description: "In the order in which lists have them, with names that differ.",
    }),
    players: Type.Array(
      Type.Object(
        {
          external_id: Type.String({
            minLength: 1,
            maxLength: 255,
            description: "Your own identifier of the player, as creates send it.",
            examples: ["player-10442"],
          }),
          name: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: "For people who read the checklist.",
              examples: ["Maya Okafor"],
            }),
          ),
          number: Type.Optional(number),
        },
        { ...closed, description: "A player of a checklist." },
      ),
      { minItems: 1, maxItems: MAX_SET_PLAYERS, description: "The checklist, in its order." },
    ),
  },
  {
    ...closed,
    $id: "CreateSetRequest",
    description: "A set, which never changes once it is made, but for its gallery.",
  },
);

/** What PATCH /v1/sets/{set_id} takes. */
export const ChangeSetRequest = Type.Object(
  {
    gallery: Type.Boolean({
      description:
        "True opens a public page of the set's cards at `gallery_url`; false withdraws it. One opened again has another address.",
      examples: [true],
    }),
  },
  { ...closed, $id: "ChangeSetRequest", description: "What may change of a set: whether it has a gallery." },
);

const facts = {
  set_id: Type.String({
    pattern: "^set_[0-9A-Za-z]+$",
    description: "The set's identifier.",
    examples: [SET_ID],
  }),
  name: Type.String({ description: "As it was sent.", examples: ["Rovers 2026/27"] }),
  season: textOrNull("As it was sent; null without one.", "2026/27"),
  parallels: Type.Array(Parallel, { maxItems: MAX_PARALLELS, description: "In their order." }),
  gallery_url: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
    description:
      "Address of the set's gallery, a page of its cards that any site may embed. Open to anyone who knows it; null until it is opened.",
    examples: ["https://cards.example.org/gallery/gal_7Tq2XyB8kWc3Hs5mJd0nV7rQ"],
  }),
  created_at: time("When it was made.", "2026-11-21T10:00:00.000Z"),
};

const CardSet = Type.Object(facts, { ...closed, $id: "CardSet", description: "A set of cards." });

const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

const ChecklistEntry = Type.Object(
  {
    external_id: textOrNull("Your own identifier; null for a player who was deleted.", "player-10442"),
    name: textOrNull("The name, if one was sent; null for a player who was deleted.", "Maya Okafor"),
    number: Type.Union([number, Type.Null()], { description: "The shirt number, if one was sent." }),
    parallels: Type.Array(
      Type.Object(
        {
          ...edition("the player"),
          made: count("Cards that are made, deleted ones among them: their numbers stay given.", 12),
          processing: count("Cards that are being made.", 3),
        },
        { ...closed, $id: "ChecklistParallel", description: "How many cards of a player a parallel has." },
      ),
      { maxItems: MAX_PARALLELS, description: "The set's parallels, in their order." },
    ),
  },
  { ...closed, $id: "ChecklistEntry", description: "A player of a checklist, with counts of cards." },
);

const Checklist = Type.Object(
  {
    ...facts,
    players: Type.Array(ChecklistEntry, { maxItems: MAX_SET_PLAYERS, description: "In the order sent." }),
  },
  { ...closed, $id: "Checklist", description: "The checklist of a set." },
);

const PackedCard = Type.Object(
  {
    image_id: textOrNull("The image; null once it is deleted.", "img_5mJd0nV7rQe2TzXyB8kWc3Hs"),
    external_id: textOrNull("Your own identifier; null for a player who was deleted.", "player-10442"),
    name: textOrNull("The name on the checklist, if it has one.", "Maya Okafor"),
    parallel: Type.String({ description: "The parallel.", examples: ["gold"] }),
    serial: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: "Its number; null in a parallel without numbers.",
      examples: [12],
    }),
    size: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: "The parallel's size.",
      examples: [50],
    }),
  },
  { ...closed, $id: "PackedCard", description: "A card in a pack." },
);

export const PacksResponse = successEnvelope(
  Type.Object(
    {
      set_id: facts.set_id,
      seed: Type.String({ description: "As it was sent.", examples: ["cup final 2027, 2:1"] }),
      cards_in_pool: count("The cards that the packs were drawn from.", 600),
      packs: Type.Array(Type.Array(PackedCard, { maxItems: MAX_PACK_SIZE }), {
        maxItems: MAX_PACK_CARDS,
        description: "The packs, and in each its cards.",
      }),
    },
    { ...closed, $id: "Packs", description: "Packs drawn from a seed." },
  ),
  "PacksResponse",
);

export const SetResponse = successEnvelope(CardSet, "SetResponse");
export const ChecklistResponse = successEnvelope(Checklist, "ChecklistResponse");
export const SetListResponse = successEnvelope(
  Type.Object(
    {
      sets: Type.Array(CardSet, { maxItems: 100, description: "Newest first." }),
      ...nextPage,
    },
    { ...closed, $id: "SetList", description: "A page of sets." },
  ),
  "SetListResponse",
);
