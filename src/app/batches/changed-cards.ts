import type { Config } from "../../config.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { isCanceled } from "../../core/image-state.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import type { Clock } from "../../core/ports.ts";
import type { RemakeImageRequest } from "../../core/remake-request.ts";
import { changesOfBatch } from "../../store/images/batch-places.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import type { Store } from "../../store/store.ts";
import { type CardTemplates, checkCard } from "../images/check-card.ts";
import { remadeRequest } from "../images/remade-request.ts";
import { consentFaults } from "../people/consent.ts";
import type { Remade } from "./remake-cards.ts";

/** The fields to change of one player's card. */
export type CardChange = RemakeImageRequest & { external_id: string };

/** Which cards of a batch are to be made again. */
export interface BatchChanges {
  cards?: CardChange[];
  /** All that failed by a fault, of the photo or ours. */
  failed?: boolean;
  /** All that were canceled. */
  canceled?: boolean;
}

interface Checks {
  store: Store;
  clock: Clock;
  config: Config;
  templates: CardTemplates;
}

/**
 * The cards of a batch that changes ask for, each with its whole new request, by the images that stand in it
 * now. A card whose change failed or was canceled counts as such, and its change is made again. Throws
 * INVALID_REQUEST with the place of every fault.
 */
export async function cardsToRemake(
  { store, clock, config, templates }: Checks,
  { id: batchId, accountId }: Pick<Batch, "id" | "accountId">,
  { cards = [], failed = false, canceled = false }: BatchChanges,
): Promise<Remade[]> {
  const [images, changes] = await Promise.all([
    imagesOfBatch(store.read, batchId),
    changesOfBatch(store.read, batchId),
  ]);
  const kept = images.filter(({ forgottenAt }) => forgottenAt === null);
  const byPlayer = Map.groupBy(kept, ({ externalId }) => externalId);
  const named = new Set<string>();
  const details: ErrorDetail[] = [];
  const asked = new Map<string, { image: Image; request: CreateImageRequest; field: string }>();
  for (const [at, { external_id: id, ...change }] of cards.entries()) {
    const field = `cards[${at}]`;
    const own = byPlayer.get(id) ?? [];
    if (own.length === 0 || named.has(id)) {
      const problem =
        own.length === 0
          ? "is not that of a card of this batch."
          : "stands here twice. Name each player once.";
      details.push({ field: `${field}.external_id`, message: problem });
      continue;
    }
    named.add(id);
    for (const image of own) {
      const request = await remadeRequest(templates, storedRequest(image.request), change);
      asked.set(image.id, { image, request, field });
    }
  }
  for (const image of kept) {
    const last = changes.get(image.id) ?? image;
    if (last.state === "failed" && (isCanceled(last) ? canceled : failed) && !asked.has(image.id))
      asked.set(image.id, { image, request: storedRequest(last.request), field: last.id });
  }
  const remade: Remade[] = [];
  for (const { image, request: whole, field } of asked.values()) {
    // What was allowed then may not be now, such as a preset that is not listed any more.
    const { request, details: faults = [] } = await checkCard(whole, config, templates);
    for (const { field: own, message } of faults) details.push({ field: `${field}.${own}`, message });
    if (request) remade.push({ imageId: image.id, request, field });
  }
  if (details.length === 0) return remade;
  const places = new Map([...asked.values()].map(({ image, field }) => [image.externalId, `${field}.`]));
  details.push(...(await consentFaults(store.read, accountId, places, clock.now())));
  throw invalidRequest(details);
}
