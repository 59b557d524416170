import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { IDEMPOTENCY_RETENTION_MS } from "../../core/limits.ts";
import { turnsOf } from "../../core/moving-pictures.ts";
import { isProven } from "../../core/steady-clock.ts";
import { countUsage } from "../../store/credits/usage.ts";
import { insertImages, insertRecords } from "../../store/images/batches.ts";
import { deleteRecord, findRecord, type IdempotencyRecord } from "../../store/images/idempotency.ts";
import { findImage, lockImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import type { Account } from "../../store/people/accounts.ts";
import { setCardsOf } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import { reserveCredits } from "../credits/credits.ts";
import { type FreshImage, freshImage } from "../images/fresh-image.ts";
import { keepTemplate } from "../images/keep-template.ts";
import { refuseOnRequest } from "../images/requested-ending.ts";
import { type FreePlace, findFreePlaces, holdPlaces, type Wish } from "../sets/set-places.ts";

// The cards of a batch as images: those that were made before are found, and the others written.

/** Who asks for cards, and how they are remembered. */
export interface CardsOwner {
  account: Account;
  environment: Environment;
  /** Absent when the console asks. */
  keyId?: string;
  /** Cards asked for with a key are found by this key alone; those without one by their words. */
  idempotencyKey: string | null;
  reusesCards?: boolean;
}

/**
 * The one test refusal that is reported on the card itself, because the photos of a batch are fetched later.
 */
const PER_CARD = "test_unsupported_source";

/** Refuses as the external ids of test cards ask for. */
export function refuseTestCards(requests: CreateImageRequest[], account: Account, now: number): void {
  for (const { player } of requests)
    if (player.external_id !== PER_CARD) refuseOnRequest(player.external_id, account, now);
}

export type Pinned = Pick<Image, "templateName" | "templateVersion" | "templateDigest">;

/** The current version of each template, by name. */
export async function templatesOf(
  {
    templates: registry,
    blobs,
    clock,
  }: Pick<AppContext, "clock"> & { templates: TemplateRegistry; blobs: Pick<Blobs, "put" | "refresh"> },
  requests: CreateImageRequest[],
): Promise<Map<string, Pinned>> {
  const found = new Map<string, Pinned>();
  for (const { style } of requests) {
    if (found.has(style.preset)) continue;
    const loaded = await registry.current(style.preset);
    await keepTemplate({ blobs, clock }, loaded);
    const { manifest, digest } = loaded;
    const { name: templateName, version: templateVersion } = manifest;
    found.set(style.preset, { templateName, templateVersion, templateDigest: digest });
  }
  return found;
}

export interface Card {
  image: Image;
  /** Its place in a set; null outside of sets, and for one that was made before. */
  free: FreePlace | null;
  isNew: boolean;
  recordKey: string;
  fingerprint: string;
}

/**
 * The image for each card: a new one, or one already made from the same request. Cards of one request are
 * told apart by which of them they are; where a set's card `isMadeAgain`, others of the same words may have
 * numbers of their own, so it becomes the first of them that is missing. One more picture of a set's card is
 * known by that card.
 */
export async function cardsOf(
  tx: Tx,
  deps: Pick<AppContext, "random">,
  command: CardsOwner & {
    requests: CreateImageRequest[];
    shows?: (string | undefined)[];
    isMadeAgain?: boolean;
  },
  { templates, turn, now }: { templates: Map<string, Pinned>; turn: number; now: number },
): Promise<Card[]> {
  const { account, environment, isMadeAgain = false } = command;
  const cards: Card[] = [];
  const copyOf = copyCounter();
  let next = turn;
  for (const [at, request] of command.requests.entries()) {
    const fingerprint = fingerprintOf(request);
    const shown = request.set && command.shows?.[at];
    const seeks = isMadeAgain && request.set !== undefined && shown === undefined;
    let recordKey: string;
    let known: MadeBefore;
    do {
      recordKey = recordKeyOf(command, fingerprint, shown ?? copyOf(fingerprint));
      const scope = { accountId: account.id, environment, key: recordKey };
      known = await madeBefore(tx, scope, now, lockImage);
    } while (seeks && known.image);
    if (known.image) {
      cards.push({ image: known.image, free: null, isNew: false, recordKey, fingerprint });
      continue;
    }
    // It is of no use any more.
    if (known.record) await deleteRecord(tx, known.record);
    next += turnsOf(request.style.format);
    const fresh: FreshImage = {
      scope: { accountId: account.id, environment },
      keyId: command.keyId ?? null,
      request,
      template: templates.get(request.style.preset) as Pinned,
      lane: "batch",
      turn: next - 1,
      now,
    };
    cards.push({ image: freshImage(deps.random, fresh), free: null, isNew: true, recordKey, fingerprint });
  }
  return cards;
}

/**
 * Gives the new ones among the cards the places in sets that they ask for, each of which may replace another
 * image. Throws what `findFreePlaces` throws, each fault with the card's own `field`.
 */
export async function placeCards(
  tx: Tx,
  scope: { accountId: string; environment: Environment },
  cards: Card[],
  wishOf: (at: number) => Omit<Wish, "request">,
  now: number,
): Promise<Card[]> {
  const there = new Set(cards.flatMap(({ isNew }, at) => (isNew ? [] : [wishOf(at).field])));
  const wishes = cards.flatMap(({ image, isNew }, at) => {
    const wish = wishOf(at);
    const request = image.request as CreateImageRequest;
    return isNew ? [{ ...wish, request, hasCopy: there.has(wish.field), at }] : [];
  });
  const places = await findFreePlaces(tx, scope, wishes, { now });
  const byCard = new Map(wishes.map(({ at }, index) => [at, places[index] ?? null]));
  return cards.map((card, at) => {
    const free = byCard.get(at) ?? null;
    return free ? { ...card, free, image: { ...card.image, setPlace: JSON.stringify(free.place) } } : card;
  });
}

/** Under what a card is remembered: with the batch's key, or so that other batches find it too. */
function recordKeyOf(
  {
    idempotencyKey,
    reusesCards = idempotencyKey === null,
  }: Pick<CardsOwner, "idempotencyKey" | "reusesCards">,
  fingerprint: string,
  copy: string,
): string {
  // No header value contains a space, so no partner's key can collide. The player is part of the fingerprint,
  // so the id stays unreadable.
  return `${reusesCards ? "" : idempotencyKey} ${fingerprint}${copy && ` ${copy}`}`;
}

/** Tells cards of one request apart, such as 50 of gold: the first needs nothing for that. */
function copyCounter(): (fingerprint: string) => string {
  const seen = new Map<string, number>();
  return (fingerprint) => {
    const earlier = seen.get(fingerprint) ?? 0;
    seen.set(fingerprint, earlier + 1);
    return earlier === 0 ? "" : String(earlier + 1);
  };
}

/** Those of the cards that a batch which reuses cards would make, and with a live key charge, at `now`. */
export async function newCards(
  tx: Tx,
  {
    account,
    environment,
    requests,
  }: Pick<CardsOwner, "account" | "environment"> & { requests: CreateImageRequest[] },
  now: number,
): Promise<number[]> {
  const fresh: number[] = [];
  const copyOf = copyCounter();
  for (const [at, request] of requests.entries()) {
    const fingerprint = fingerprintOf(request);
    const key = recordKeyOf({ idempotencyKey: null }, fingerprint, copyOf(fingerprint));
    const known = await madeBefore(tx, { accountId: account.id, environment, key }, now, findImage);
    if (!known.image) fresh.push(at);
  }
  return fresh;
}

interface MadeBefore {
  image?: Image;
  record?: IdempotencyRecord;
}

/** The image made from the same request, unless it cannot be reused, and what remembers it. */
async function madeBefore(
  tx: Tx,
  scope: { accountId: string; environment: Environment; key: string },
  now: number,
  find: typeof findImage,
): Promise<MadeBefore> {
  const record = await findRecord(tx, scope);
  if (!record) return {};
  if (record.expiresAt <= now) return { record };
  const image = await find(tx, { ...scope, id: record.imageId });
  const isOfUse =
    image &&
    image.state !== "failed" &&
    (image.expiresAt ?? now + 1) > now &&
    // What another card replaced has no number of its own any more.
    (image.setPlace === null || (await setCardsOf(tx, [image.id])).get(image.id)?.state !== "replaced");
  return isOfUse ? { image, record } : { record };
}

/** Writes the new ones among the cards: their rows, jobs, reservations and counters, and what finds them. */
export async function writeCards(
  tx: Tx,
  deps: AppContext,
  { account, environment, keyId }: CardsOwner,
  { cards, now }: { cards: Card[]; now: number },
): Promise<void> {
  const { random } = deps;
  const scope = { accountId: account.id, environment };
  const fresh = cards.filter(({ isNew }) => isNew);
  const images = fresh.map(({ image }) => image);
  await insertImages(tx, images);
  await holdPlaces(
    tx,
    fresh.map(({ image, free }) => ({ imageId: image.id, free })),
    now,
  );
  // Those of the live environment wait for their photos first.
  const queued = images.filter(({ state }) => state === "queued");
  await deps.jobs.enqueue(tx, queued);
  const ids = images.map(({ id }) => id);
  if (environment === "live")
    await reserveCredits(tx, account.id, ids, { now, random, isDoubtful: !isProven(deps.clock) });
  if (fresh.length > 0)
    await countUsage(tx, { ...scope, keyId: keyId ?? null }, now, { requested: fresh.length });
  await insertRecords(
    tx,
    fresh.map(({ image, recordKey, fingerprint }) => ({
      ...scope,
      key: recordKey,
      fingerprint,
      imageId: image.id,
      responseBody: JSON.stringify({ image_id: image.id }),
      createdAt: now,
      expiresAt: now + IDEMPOTENCY_RETENTION_MS,
    })),
  );
}
