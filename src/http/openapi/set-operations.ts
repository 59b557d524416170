import { SHEET_NAMES } from "../../app/print/imposition.ts";
import { MAX_PACK_CARDS, MAX_PACK_POOL, MAX_PACK_SIZE, MAX_SEED_CHARS } from "../../core/limits.ts";
import { PRINT_SIZE_NAMES } from "../../core/print-sizes.ts";
import {
  ChangeSetRequest,
  ChecklistResponse,
  CreateSetRequest,
  PacksResponse,
  SetListResponse,
  SetResponse,
} from "../set-schemas.ts";
import { ALWAYS, answer, pageParameters } from "./answers.ts";
import { headerRefs, refusals, STANDARD_HEADERS } from "./errors.ts";
import { IDEMPOTENCY_KEY_PARAMETER } from "./headers.ts";
import { SET_EXAMPLES } from "./set-examples.ts";

/** The set id in a path. */
export const SET_ID_PARAMETER = {
  name: "set_id",
  in: "path",
  required: true,
  description: "The id of the answer that made the set.",
  schema: { type: "string" },
  example: "set_3Hs5mJd0nV7rQe2TzXyB8kWc",
} as const;

export function createSet(): object {
  return {
    tags: ["Sets"],
    summary: "Make a set",
    description:
      "Makes a set of cards: its checklist, and the parallels in which it has each card. Creates and batches name it as `set`, and get numbers that no other card of the player and parallel has. It costs nothing, and never changes: cards that were sold refer to it.",
    parameters: [
      {
        ...IDEMPOTENCY_KEY_PARAMETER,
        required: false,
        description:
          "The same key with the same body gives the first set again, with another body it is refused. Without a key each request makes a set. Kept for 72 hours, or until the set is deleted.",
      },
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: CreateSetRequest,
          examples: { set: { summary: "A club's season", value: SET_EXAMPLES.request } },
        },
      },
    },
    responses: {
      "201": answer(
        "The set is made; or the set of an earlier request with the same key and body.",
        SetResponse,
        { set: { summary: "The set", value: SET_EXAMPLES.set } },
        "Location",
        "Idempotent-Replayed",
      ),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function listSets(): object {
  return {
    tags: ["Sets"],
    summary: "List sets",
    description: "The sets of the key's account and environment, newest first.",
    parameters: pageParameters("sets", "kind of key"),
    responses: {
      "200": answer("A page of sets.", SetListResponse, {
        page: { summary: "The only page", value: SET_EXAMPLES.list },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

export function getSet(): object {
  return {
    tags: ["Sets"],
    summary: "Get a set",
    description: "What the set is. Its checklist shows the players and cards.",
    parameters: [SET_ID_PARAMETER],
    responses: {
      "200": answer("The set.", SetResponse, { set: { summary: "A set", value: SET_EXAMPLES.set } }),
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

export function deleteSet(): object {
  return {
    tags: ["Sets"],
    summary: "Delete a set",
    description: "Deletes a set of which no card was made, with its checklist. One with cards stays.",
    parameters: [SET_ID_PARAMETER],
    responses: {
      "200": answer("The set as it was.", SetResponse, {
        set: { summary: "Deleted", value: SET_EXAMPLES.set },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND", "SET_IN_USE", "SERVICE_OVERLOADED"),
    },
  };
}

export function changeSet(): object {
  return {
    tags: ["Sets"],
    summary: "Open or withdraw a gallery",
    description:
      "Opens the public gallery of a set, or withdraws it. Opening one that is open keeps its address; a withdrawn address is never used again.",
    parameters: [SET_ID_PARAMETER],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: ChangeSetRequest,
          examples: { open: { summary: "Open it", value: { gallery: true } } },
        },
      },
    },
    responses: {
      "200": answer("The set.", SetResponse, {
        set: { summary: "With its gallery", value: SET_EXAMPLES.opened },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function getChecklist(): object {
  return {
    tags: ["Sets"],
    summary: "Get a checklist",
    description:
      "The players of a set, with how many cards there are of each in each parallel. A player who was deleted keeps the line, without name and id: numbers that were given stay given.",
    parameters: [SET_ID_PARAMETER],
    responses: {
      "200": answer("The checklist.", ChecklistResponse, {
        checklist: { summary: "One player", value: SET_EXAMPLES.checklist },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

/** A choice of the pages, in the query. */
const pagesChoice = (name: string, all: readonly string[], usual: string, description: string) => ({
  name,
  in: "query",
  description,
  schema: { type: "string", enum: all, default: usual },
});
const SHEET_PARAMETER = pagesChoice("sheet", SHEET_NAMES, "a4", "What the pages are printed on.");
const PAGES = {
  "200": {
    description: "The pages.",
    headers: { ...STANDARD_HEADERS, ...headerRefs("Content-Disposition") },
    content: { "application/pdf": { schema: { type: "string", contentMediaType: "application/pdf" } } },
  },
  ...refusals(...ALWAYS, "INVALID_REQUEST", "NOT_FOUND", "SERVICE_OVERLOADED"),
};

export function printChecklist(): object {
  return {
    tags: ["Sets"],
    summary: "Print a checklist",
    description:
      "The checklist for collectors as a PDF: each player with a number, the shirt's and a box to tick for each parallel. Names are set in any script, with their fonts embedded. A deleted player keeps the number without a name.",
    parameters: [SET_ID_PARAMETER, SHEET_PARAMETER],
    responses: PAGES,
  };
}

export function printAlbum(): object {
  return {
    tags: ["Sets"],
    summary: "Print an album",
    description:
      "Pages of an album as a PDF: for each player of the checklist an empty numbered place of the card's true size, with the name below. Print at 100 %, not fitted to the page.",
    parameters: [
      SET_ID_PARAMETER,
      SHEET_PARAMETER,
      pagesChoice("size", PRINT_SIZE_NAMES, "63x88", "The size of the cards, once cut."),
    ],
    responses: PAGES,
  };
}

export function getManifest(): object {
  return {
    tags: ["Sets"],
    summary: "Get the manifest for a printer",
    description:
      "All finished cards of a set as a table: set, season, player, parallel, number, and the picture's file and address while it is served. It is written while you read it.",
    parameters: [SET_ID_PARAMETER],
    responses: {
      "200": {
        description: "The table as CSV, in UTF-8 with its mark.",
        headers: { ...STANDARD_HEADERS, ...headerRefs("Content-Disposition") },
        content: { "text/csv": { schema: { type: "string" } } },
      },
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

export function getPacks(): object {
  const whole = (name: string, maximum: number, description: string, more: object = {}) => ({
    name,
    in: "query",
    description,
    schema: { type: "integer", minimum: 1, maximum, ...more },
  });
  return {
    tags: ["Sets"],
    summary: "Draw packs",
    description:
      "Which cards lie in which pack, drawn from a seed that you publish: anybody can draw it again, as the guide on sets says. Each card is in one pack at most, and no player twice in one. The same finished cards and seed give the same packs for good, so draw once all cards are made.",
    parameters: [
      SET_ID_PARAMETER,
      {
        name: "seed",
        in: "query",
        required: true,
        description:
          "What the draw follows from, such as a result that nobody knows yet when you announce it.",
        schema: { type: "string", minLength: 1, maxLength: MAX_SEED_CHARS },
        example: "cup final 2027, 2:1",
      },
      { ...whole("packs", MAX_PACK_CARDS, "How many packs."), required: true, example: 120 },
      { ...whole("cards", MAX_PACK_SIZE, "Cards of a pack."), required: true, example: 5 },
      whole("copies", MAX_PACK_POOL, "How many of each card without a number are printed.", { default: 1 }),
    ],
    responses: {
      "200": answer("The packs.", PacksResponse, {
        packs: { summary: "The first of them", value: SET_EXAMPLES.packs },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST", "NOT_FOUND"),
    },
  };
}
