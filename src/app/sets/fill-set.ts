import type { Config } from "../../config.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_BATCH_CARDS } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { changedRequest } from "../../core/remake-request.ts";
import { imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { type CardSet, playersOfSet } from "../../store/sets/card-sets.ts";
import type { Store } from "../../store/store.ts";
import { type CardTemplates, checkCard } from "../images/check-card.ts";

// Cards that are there already, as cards of a set. What a set's card says of its set never changes and may be
// printed on it, so each becomes a new image, with a number and a credit of its own; the old one stays.

/** A card, and how many of its player the parallel is to get. */
export interface Refill {
  image: Image;
  count: number;
  /** The address of the photo to take instead of the card's. */
  photo?: string | undefined;
}

interface FillDeps {
  store: Store;
  config: Config;
  templates: CardTemplates;
}

/** Requests of a batch, and what a refusal calls each. */
export interface Filling {
  requests: CreateImageRequest[];
  fields: string[];
}

/**
 * The requests for cards of a set's parallel, as cards that are there were asked for. Throws INVALID_REQUEST
 * with the id of each image that cannot be one: its player is not on the checklist, or it was asked for with
 * what is not offered any more.
 */
export async function fillingOf(
  { store, config, templates }: FillDeps,
  set: CardSet,
  parallel: string,
  refills: Refill[],
): Promise<Filling> {
  const listed = new Set((await playersOfSet(store.read, set.id)).map(({ externalId }) => externalId));
  const details: ErrorDetail[] = [];
  const filling: Filling = { requests: [], fields: [] };
  if (!set.parallels.some(({ name }) => name === parallel))
    details.push({
      field: "parallel",
      message: `must be one of the set's: ${set.parallels.map(({ name }) => name).join(", ")}.`,
    });
  const seen = new Map<string, string>();
  let cards = 0;
  for (const { image, count, photo } of refills) {
    const { externalId: player } = image;
    const twin = seen.get(player);
    if (!listed.has(player))
      details.push({
        field: image.id,
        message: `shows "${player}", who is not on the set's checklist. Leave the image out, or make a set with the player.`,
      });
    else if (twin !== undefined)
      details.push({
        field: image.id,
        message: `shows the player of ${twin}. Send one image of each player, and \`count\` for several cards.`,
      });
    if (!listed.has(player) || twin !== undefined) continue;
    seen.set(player, image.id);
    const change = photo === undefined ? {} : { player: { source_image_url: photo } };
    const card = changedRequest(storedRequest(image.request), change);
    const asked = { ...card, set: { id: set.id, parallel } };
    // What was allowed then may not be now, such as a preset that is not listed any more.
    const { request, details: faults = [] } = await checkCard(asked, config, templates);
    for (const { field, message } of faults) details.push({ field: `${image.id}.${field}`, message });
    cards += request ? count : 0;
    for (let n = 0; request && cards <= MAX_BATCH_CARDS && n < count; n++) {
      filling.requests.push(request);
      filling.fields.push(`${image.id}.`);
    }
  }
  if (cards > MAX_BATCH_CARDS)
    details.push({
      field: "count",
      message: `must be lower: with it these would be ${cards} cards, and a batch has at most ${MAX_BATCH_CARDS}. Send several.`,
    });
  if (details.length > 0) throw invalidRequest(details);
  return filling;
}

/** The first finished card of each player of a batch, in its order; deleted ones are left out. */
export async function cardsOfBatch({ store }: Pick<FillDeps, "store">, batchId: string): Promise<Image[]> {
  const byPlayer = new Map<string, Image>();
  for (const image of await imagesOfBatch(store.read, batchId))
    if (image.state === "completed" && image.forgottenAt === null && !byPlayer.has(image.externalId))
      byPlayer.set(image.externalId, image);
  return [...byPlayer.values()];
}
