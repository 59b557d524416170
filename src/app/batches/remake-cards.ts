import type { ErrorDetail } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { isCanceled, publicStatus } from "../../core/image-state.ts";
import { MAX_OPEN_BATCH_CARDS } from "../../core/limits.ts";
import { batchNotFound, invalidRequest, overloaded, partnerSuspended } from "../../core/partner-refusals.ts";
import { requirePublicationTimes } from "../../core/publication.ts";
import { type CardEnd, recountBatch } from "../../store/images/batch-counts.ts";
import {
  type BatchPlace,
  dropChanges,
  placeChange,
  placesOf,
  replaceCard,
} from "../../store/images/batch-places.ts";
import { type Batch, findBatch, openBatchCards } from "../../store/images/batches.ts";
import { lockImages } from "../../store/images/forgotten-images.ts";
import type { Image } from "../../store/images/images.ts";
import { nextPlace } from "../../store/images/queue-place.ts";
import { findAccount, lockAccount } from "../../store/people/accounts.ts";
import { setCardsOf } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";
import { requireConsent } from "../people/consent.ts";
import { type AcceptBatchDeps, COUNTED_AHEAD, FULL_RETRY_SECONDS } from "./accept-batch.ts";
import {
  type CardsOwner,
  cardsOf,
  placeCards,
  refuseTestCards,
  templatesOf,
  writeCards,
} from "./batch-cards.ts";

/** A card of the batch, and what its player is to have instead. */
export interface Remade {
  /** The card, or an earlier change of it that failed. */
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
 * Makes cards of a batch again in their places: the batch has the new ones instead of the old, which stay as
 * images outside of it. A finished card keeps its place until the new one is ready, and for good when that
 * fails. All or none, in one transaction, with a credit reserved for each as for a new
 * card; one whose request is that of its picture, or of another recent card, is neither made nor charged.
 * Photos are fetched afterwards. Sent twice it does nothing the second time. Throws a Refusal.
 */
export async function remakeCards(deps: AcceptBatchDeps, command: RemakeCommand): Promise<RemadeBatch> {
  const { store, clock, queue } = deps;
  const { account, environment } = command;
  const asked = command.cards.map(({ request }) => request);
  const place = (at: number) => `${command.cards[at]?.field}.`;
  const allowed = (tx: Tx, now: number) => requireConsent(tx, account.id, asked, { now, place });
  requirePublicationTimes(asked, { account, now: clock.now(), place });
  const requests = await allowed(store.read, clock.now());
  await deps.room.refuseWhenLow();
  if (environment === "test") refuseTestCards(requests, account, clock.now());
  const templates = await templatesOf(deps, requests);
  const remade = await store.write(
    "remake cards",
    async (tx) => {
      const now = clock.now();
      const scope = { accountId: account.id, environment };
      // Consent may have been withdrawn since.
      const obeying = await allowed(tx, now);
      const cards = command.cards.map((card, at) => ({ ...card, request: obeying[at] ?? card.request }));
      const own = await findBatch(tx, { ...scope, id: command.batchId });
      if (!own) throw batchNotFound();
      const { changed, isAsItWas } = changedCards(await placedCards(tx, own.id, cards), now);
      await dropChanges(tx, own.id, isAsItWas);
      const place = await nextPlace(tx, scope, { lane: "batch", most: COUNTED_AHEAD });
      const owner = {
        ...command,
        idempotencyKey: null,
        requests: changed.map(({ request }) => request),
        shows: await onesShown(tx, changed),
        isMadeAgain: true,
      };
      const found = await cardsOf(tx, deps, owner, { templates, turn: place.turn, now });
      const wishOf = (at: number) => {
        const { field, from } = changed[at] as Ended;
        return { field: `${field}.`, replaces: from.id, shows: owner.shows[at] };
      };
      const fresh = await placeCards(tx, scope, found, wishOf, now);
      // After the images, which are locked first where they are ended, too.
      await lockAccount(tx, account.id);
      if ((await findAccount(tx, account.id))?.status !== "active") throw partnerSuspended();
      const made = fresh.filter(({ isNew }) => isNew).length;
      if ((await openBatchCards(tx, scope)) + made > MAX_OPEN_BATCH_CARDS)
        throw overloaded(FULL_RETRY_SECONDS);
      await writeCards(tx, deps, owner, { cards: fresh, now });
      const swaps = changed.map((card, at) => ({ ...card, to: fresh[at]?.image as Image }));
      const batch = await replaceCards(tx, own, swaps, now);
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

/** A card where it stands, with what is to replace it or failed to. */
interface Placed extends Remade {
  place: BatchPlace;
  from: Image | undefined;
  change: Image | undefined;
}

type Ended = Placed & { from: Image };

/** The id of each that is one more picture of a set's card, as for print, and is to be one again. */
async function onesShown(tx: Tx, changed: Ended[]): Promise<(string | undefined)[]> {
  const placed = changed.flatMap(({ from }) => (from.setPlace === null ? [] : [from.id]));
  const numbered = await setCardsOf(tx, placed);
  return changed.map(({ from }) => (from.setPlace === null || numbered.has(from.id) ? undefined : from.id));
}

/** The cards in their places, which nobody else changes until this transaction ends. */
async function placedCards(tx: Tx, batchId: string, cards: Remade[]): Promise<Placed[]> {
  const ids = cards.map(({ imageId }) => imageId);
  const seen = await placesOf(tx, batchId, ids);
  const known = [...seen.values()].flatMap(({ imageId, changeId }) => [imageId, changeId ?? imageId]);
  const images = new Map((await lockImages(tx, [...new Set(known)])).map((image) => [image.id, image]));
  // One of them may have ended, or been made again, before they were locked.
  const places = await placesOf(tx, batchId, ids);
  return cards.map((card) => {
    const place = places.get(card.imageId);
    const was = seen.get(card.imageId);
    if (!place || place.imageId !== was?.imageId || place.changeId !== was.changeId)
      throw invalidRequest([
        {
          field: card.field,
          message: "is not a card of this batch any more: somebody made it again. Ask for the batch.",
        },
      ]);
    return { ...card, place, from: images.get(place.imageId), change: images.get(place.changeId ?? "") };
  });
}

/**
 * Those of the cards that are to be made otherwise than they are, and the positions of those that are to stay
 * as they were before a change failed. Throws for one that has not ended.
 */
function changedCards(cards: Placed[], now: number): { changed: Ended[]; isAsItWas: number[] } {
  const details: ErrorDetail[] = [];
  const changed: Ended[] = [];
  const isAsItWas: number[] = [];
  for (const card of cards) {
    const { from, change, request, field, place } = card;
    const isBeingMade = [from, change].some((image) => image && publicStatus(image.state) === "processing");
    if (!from) details.push({ field, message: "was deleted, and cannot be made again." });
    else if (isAsAsked(isBeingMade ? (change ?? from) : from, request, now)) {
      if (!isBeingMade) isAsItWas.push(place.position);
    } else if (isBeingMade)
      details.push({
        field,
        code: "still_processing",
        message: "is still being made: change it once it has ended.",
      });
    else changed.push({ ...card, from });
  }
  if (details.length > 0) throw invalidRequest(details);
  return { changed, isAsItWas };
}

/** Whether an image is the picture of this very request, still served or being made. */
function isAsAsked(image: Image, asked: CreateImageRequest, now: number): boolean {
  return !isOver(image, now) && fingerprintOf(image.request) === fingerprintOf(asked);
}

/** Whether an image has no picture any more, or never had one. */
function isOver({ state, expiresAt, purgedAt }: Image, now: number): boolean {
  return state === "failed" || purgedAt !== null || (expiresAt ?? now + 1) <= now;
}

/** Puts images into the places of others, or beside them until they are ready, and counts the batch anew. */
async function replaceCards(
  tx: Tx,
  own: Batch,
  swaps: (Ended & { to: Image })[],
  now: number,
): Promise<Batch> {
  if (swaps.length === 0) return own;
  for (const { place, from, to } of swaps) {
    const keepsPlace = to.state !== "completed" && !isOver(from, now);
    await (keepsPlace ? placeChange : replaceCard)(tx, own.id, place, to.id);
  }
  const completed = swaps.filter(({ to }) => to.state === "completed").length;
  const counts = { left: swaps.map(({ from }) => endOf(from)), completed, open: swaps.length - completed };
  const batch = await recountBatch(tx, own.id, { ...counts, now });
  if (batch) return batch;
  throw invalidRequest([
    { field: "batch_id", message: "is being canceled. Make its cards again once all of them have ended." },
  ]);
}

function endOf(image: Image): CardEnd {
  if (image.state === "completed") return "completed";
  return isCanceled(image) ? "canceled" : "failed";
}
