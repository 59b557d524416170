import { type CardTemplates, checkCard } from "../app/images/check-card.ts";
import type { Config } from "../config.ts";
import type { ErrorDetail } from "../core/errors.ts";
import { type CreateImageRequest, MAX_EXTERNAL_ID_CHARS } from "../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_BATCH_CARDS } from "../core/limits.ts";

export interface BatchBody {
  name: string;
  cards: CreateImageRequest[];
}

/**
 * Checks the body of a batch card by card, locating each fault as in `cards[17].player.number`. External ids
 * must be unique within the batch.
 */
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
  const checked = await checkCards(cards, config, templates);
  details.push(...checked.details);
  if (details.length > 0) return { details, players: checked.players };
  return { value: { name: name as string, cards: checked.requests } };
}

/** The valid cards with their places among all, and every fault of the others with its location. */
export async function checkCards(
  cards: unknown[],
  config: Config,
  templates: CardTemplates,
): Promise<{
  requests: CreateImageRequest[];
  places: number[];
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
  const details: ErrorDetail[] = [];
  const seen = new Map<string, number>();
  for (const [at, card] of cards.entries()) {
    const { request, details: faults = [] } = await checkCard(card, config, { current, listed, configured });
    for (const { field, message } of faults)
      details.push({ field: field === "body" ? `cards[${at}]` : `cards[${at}].${field}`, message });
    if (request) {
      requests.push(request);
      places.push(at);
    }
    // Also of a card with other faults: whoever fixes those must not meet this one only afterwards.
    const id = (card as { player?: { external_id?: unknown } } | null)?.player?.external_id;
    if (typeof id !== "string" || id === "") continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, at);
    else
      details.push({
        field: `cards[${at}].player.external_id`,
        message: `is the same as that of cards[${first}]. Give each card of a batch its own.`,
      });
  }
  return { requests, places, details, players: new Map([...seen].filter(([id]) => isId(id))) };
}

/** Whether somebody can be called this; PostgreSQL refuses to look for text with a NUL. */
const isId = (id: string) => id.length <= MAX_EXTERNAL_ID_CHARS && id.isWellFormed() && !id.includes("\0");
