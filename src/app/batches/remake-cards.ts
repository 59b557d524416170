import type { ErrorDetail } from "../../core/errors.ts";
import { fingerprint } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { isCanceled, publicStatus } from "../../core/image-state.ts";
import { MAX_OPEN_BATCH_CARDS } from "../../core/limits.ts";
import { batchNotFound, invalidRequest, overloaded, partnerSuspended } from "../../core/partner-refusals.ts";
import { type CardEnd, recountBatch, swapCard } from "../../store/images/batch-counts.ts";
import { type Batch, findBatch, openBatchCards } from "../../store/images/batches.ts";
import { lockImages } from "../../store/images/forgotten-images.ts";
import type { Image } from "../../store/images/images.ts";
import { nextPlace } from "../../store/images/queue-place.ts";
import { findAccount, lockAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import { requireConsent } from "../people/consent.ts";
import { type AcceptBatchDeps, COUNTED_AHEAD, FULL_RETRY_SECONDS } from "./accept-batch.ts";
import { type CardsOwner, cardsOf, refuseTestCards, templatesOf, writeCards } from "./batch-cards.ts";

/** A card of the batch, and what its player is to have instead. */
export interface Remade {
  imageId: string;
  request: CreateImageRequest;
  /** What the sender calls it in a message about it, such as `cards[3]`. */
  field: string;
}

export interface RemakeCommand extends Omit<CardsOwner, "idempotencyKey" | "reusesCards"> {
  batchId: string;
  cards: Remade[];
}

export interface RemadeBatch {
  batch: Batch;
  /** How many cards are made, and with a live key charged: none of those that are as they were asked for. */
  made: number;
  /** Which image stands in the place of each card, by the image that stood there. */
  images: ReadonlyMap<string, string>;
  /** Whole seconds until it is finished; at least 1. */
  etaSeconds: number;
}

/**
 * Makes cards of a batch again in their places: the batch counts the new ones instead of the old, which stay
 * as images outside of it. All or none, in one transaction, with a credit reserved for each as for a new
 * card; one whose request is that of its picture, or of another recent card, is neither made nor charged.
 * Photos are fetched afterwards. Sent twice it does nothing the second time. Throws a Refusal.
 */
export async function remakeCards(deps: AcceptBatchDeps, command: RemakeCommand): Promise<RemadeBatch> {
  const { store, clock, queue } = deps;
  const { account, environment } = command;
  const requests = await requireConsent(
    store.read,
    account.id,
    command.cards.map(({ request }) => request),
    { now: clock.now(), place: (at) => `${command.cards[at]?.field}.` },
  );
  const cards = command.cards.map((card, at) => ({ ...card, request: requests[at] ?? card.request }));
  await deps.room.refuseWhenLow();
  if (environment === "test") refuseTestCards(requests, account, clock.now());
  const templates = await templatesOf(deps, requests);
  const remade = await store.write(
    "remake cards",
    async (tx) => {
      const now = clock.now();
      const scope = { accountId: account.id, environment };
      const before = await lockImages(
        tx,
        cards.map(({ imageId }) => imageId),
      );
      const changed = changedCards(cards, before, now);
      const place = await nextPlace(tx, scope, { lane: "batch", most: COUNTED_AHEAD });
      const owner = { ...command, idempotencyKey: null, requests: changed.map(({ request }) => request) };
      const fresh = await cardsOf(tx, deps, owner, { templates, turn: place.turn, now });
      // After the images, which whoever ends them locks first, too.
      await lockAccount(tx, account.id);
      if ((await findAccount(tx, account.id))?.status !== "active") throw partnerSuspended();
      const made = fresh.filter(({ isNew }) => isNew).length;
      if ((await openBatchCards(tx, scope)) + made > MAX_OPEN_BATCH_CARDS)
        throw overloaded(FULL_RETRY_SECONDS);
      await writeCards(tx, deps, owner, { cards: fresh, now });
      const swaps = changed.map((card, at) => ({ ...card, to: fresh[at]?.image as Image }));
      const batch = await replaceCards(tx, { ...scope, id: command.batchId }, swaps, now);
      const images = new Map(swaps.map(({ imageId, to }) => [imageId, to.id]));
      const etaSeconds =
        made === 0 || environment === "test" ? 1 : queue.etaSeconds({ ahead: place.ahead + made - 1 });
      return { batch, made, images, etaSeconds };
    },
    { concurrent: true },
  );
  if (remade.made > 0) deps.wakeBatches(environment);
  return remade;
}

type Ended = Remade & { from: Image };

/** Those of the cards that are to be made otherwise than they are. Throws for one that has not ended. */
function changedCards(cards: Remade[], before: Image[], now: number): Ended[] {
  const known = new Map(before.map((image) => [image.id, image]));
  const details: ErrorDetail[] = [];
  const changed: Ended[] = [];
  for (const card of cards) {
    const from = known.get(card.imageId);
    if (!from) details.push({ field: card.field, message: "was deleted, and cannot be made again." });
    else if (isAsAsked(from, card.request, now)) continue;
    else if (publicStatus(from.state) === "processing")
      details.push({ field: card.field, message: "is still being made: change it once it has ended." });
    else changed.push({ ...card, from });
  }
  if (details.length > 0) throw invalidRequest(details);
  return changed;
}

/** Whether an image is the picture of this very request, still served or being made. */
function isAsAsked(image: Image, asked: CreateImageRequest, now: number): boolean {
  if (image.state === "failed" || (image.expiresAt ?? now + 1) <= now) return false;
  return fingerprint(image.request) === fingerprint(asked);
}

/** Puts images into the places of others and counts the batch anew. */
async function replaceCards(
  tx: Tx,
  scope: { accountId: string; environment: Image["environment"]; id: string },
  swaps: (Ended & { to: Image })[],
  now: number,
): Promise<Batch> {
  const own = await findBatch(tx, scope);
  if (!own) throw batchNotFound();
  if (swaps.length === 0) return own;
  for (const { imageId, to, field } of swaps)
    if (!(await swapCard(tx, scope.id, { from: imageId, to: to.id })))
      throw invalidRequest([
        {
          field,
          message: "is not a card of this batch any more: somebody made it again. Ask for the batch.",
        },
      ]);
  const completed = swaps.filter(({ to }) => to.state === "completed").length;
  const counts = { left: swaps.map(({ from }) => endOf(from)), completed, open: swaps.length - completed };
  const batch = await recountBatch(tx, scope.id, { ...counts, now });
  if (batch) return batch;
  throw invalidRequest([
    { field: "batch_id", message: "is being canceled. Make its cards again once all of them have ended." },
  ]);
}

function endOf(image: Image): CardEnd {
  if (image.state === "completed") return "completed";
  return isCanceled(image) ? "canceled" : "failed";
}
