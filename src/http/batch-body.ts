import { Type } from "@sinclair/typebox";
import { type CardTemplates, checkCard } from "../app/images/check-card.ts";
import type { Config } from "../config.ts";
import type { ErrorDetail } from "../core/errors.ts";
import { type CreateImageRequest, MAX_EXTERNAL_ID_CHARS } from "../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_BATCH_CARDS } from "../core/limits.ts";
import { compileValidator } from "../core/validate.ts";

type SetWish = NonNullable<CreateImageRequest["set"]>;

export interface BatchBody {
  name: string;
  /** A card that stands for several is here as often. */
  cards: CreateImageRequest[];
  /** Where each of them stands in the body. */
  places: number[];
}

/** Checks the body of a batch card by card, locating each fault as in `cards[17].player.number`. */
export async function checkBatch(
  body: unknown,
  config: Config,
  templates: CardTemplates,
): Promise<
  | { value: BatchBody; details?: undefined; players?: undefined }
  | { value?: undefined; details: ErrorDetail[]; players?: ReadonlyMap<string, number> }
> {
  const problem = (field: string, message: string) => ({ details: [{ field, message }] });
  if (body === null || typeof body !== "object" || Array.isArray(body))
    return problem("body", "must be an object with the cards in an array.");
  const { cards, name = "", ...rest } = body as Record<string, unknown>;
  const details: ErrorDetail[] = Object.keys(rest).map((field) => ({
    field,
    message: "is not a field of this request. Remove it, or check its spelling.",
  }));
  if (typeof name !== "string" || [...name].length > MAX_ACCOUNT_NAME_CHARS || !name.isWellFormed())
    details.push({ field: "name", message: `must be text of at most ${MAX_ACCOUNT_NAME_CHARS} characters.` });
  if (!Array.isArray(cards) || cards.length === 0 || cards.length > MAX_BATCH_CARDS) {
    const remedy =
      Array.isArray(cards) && cards.length > 0 ? ` It has ${cards.length}: send several batches.` : "";
    const message = `must be an array of 1 to ${MAX_BATCH_CARDS} cards.${remedy}`;
    return { details: [...details, { field: "cards", message }] };
  }
  const { requests, places, counts, players, details: faults } = await checkCards(cards, config, templates);
  details.push(...faults);
  if (counts.reduce((sum, count) => sum + count, 0) > MAX_BATCH_CARDS)
    details.push({
      field: "cards",
      message: `must be at most ${MAX_BATCH_CARDS} with their \`set.count\`: send several batches.`,
    });
  if (details.length > 0) return { details, players };
  const each = <T>(values: T[]) => counts.flatMap((count, at) => Array<T>(count).fill(values[at] as T));
  return { value: { name: name as string, cards: each(requests), places: each(places) } };
}

const countValidator = compileValidator(
  Type.Object({ count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BATCH_CARDS })) }),
  "set",
);

/** A card without its `set.count`, which `POST /v1/images` does not take, and how many it stands for. */
function countOf(card: unknown): { card: unknown; count: number; faults: ErrorDetail[] } {
  const { set } = (card ?? {}) as { set?: unknown };
  if (typeof set !== "object" || set === null || !("count" in set)) return { card, count: 1, faults: [] };
  const { count, ...rest } = set as { count: unknown; serial?: unknown };
  const checked = countValidator.check({ count });
  const single = { ...(card as object), set: rest };
  if (!checked.ok)
    return {
      card: single,
      count: 1,
      faults: checked.details.map((detail) => ({ ...detail, field: "set.count" })),
    };
  if (count === 1 || rest.serial === undefined) return { card: single, count: count as number, faults: [] };
  const message = "must be left out beside `set.count`: each card gets the lowest number that is free.";
  return { card: single, count: 1, faults: [{ field: "set.serial", message }] };
}

/**
 * The valid cards with their places among all and how many each stands for, and every fault of the others
 * with its location.
 */
export async function checkCards(
  cards: unknown[],
  config: Config,
  templates: CardTemplates,
): Promise<{
  requests: CreateImageRequest[];
  places: number[];
  counts: number[];
  details: ErrorDetail[];
  /** Where each player first stands, faulty cards included. */
  players: ReadonlyMap<string, number>;
}> {
  // All cards share the same template files, which are read once.
  const looked = new Map<string, ReturnType<CardTemplates["current"]>>();
  const current: CardTemplates["current"] = (name) => {
    const known = looked.get(name) ?? templates.current(name);
    looked.set(name, known);
    return known;
  };
  let presets: ReturnType<CardTemplates["listed"]> | undefined;
  const listed = () => {
    presets ??= templates.listed();
    return presets;
  };
  const { configured } = templates;
  const requests: CreateImageRequest[] = [];
  const places: number[] = [];
  const counts: number[] = [];
  const details: ErrorDetail[] = [];
  const seen = new Map<string, number>();
  const players = new Map<string, number>();
  for (const [at, card] of cards.entries()) {
    const { card: single, count, faults: ofCount } = countOf(card);
    const checked = await checkCard(single, config, { current, listed, configured });
    const { request, details: faults = [] } = checked;
    for (const { field, message } of [...faults, ...ofCount])
      details.push({ field: field === "body" ? `cards[${at}]` : `cards[${at}].${field}`, message });
    if (request && ofCount.length === 0) {
      requests.push(request);
      places.push(at);
      counts.push(count);
    }
    // Also of a card with other faults: a caller who fixes those must not meet this one only afterwards.
    const { player, set } = (single ?? {}) as { player?: { external_id?: unknown }; set?: Partial<SetWish> };
    const id = player?.external_id;
    if (typeof id !== "string" || id === "") continue;
    if (isId(id) && !players.has(id)) players.set(id, at);
    const key = JSON.stringify([id, set?.id, set?.parallel, set?.serial]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, at);
    else
      details.push({
        field: `cards[${at}].player.external_id`,
        message: set?.id
          ? `is the same as that of cards[${first}], in the same parallel of the same set. Ask for several by \`set.count\`, or for numbers that differ.`
          : `is the same as that of cards[${first}]. Give each card of a batch its own.`,
      });
  }
  return { requests, places, counts, details, players };
}

/** Whether somebody can be called this; PostgreSQL refuses to look for text with a NUL. */
const isId = (id: string) => id.length <= MAX_EXTERNAL_ID_CHARS && id.isWellFormed() && !id.includes("\0");
