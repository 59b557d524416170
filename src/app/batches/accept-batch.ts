import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { fingerprint } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { IDEMPOTENCY_RETENTION_MS, MAX_OPEN_BATCH_CARDS } from "../../core/limits.ts";
import { idempotencyKeyReused, overloaded, partnerSuspended } from "../../core/partner-refusals.ts";
import { isProven } from "../../core/steady-clock.ts";
import { countUsage } from "../../store/credits/usage.ts";
import {
  type Batch,
  findBatchByKey,
  freeBatchKey,
  insertBatch,
  insertImages,
  insertRecords,
  openBatchCards,
} from "../../store/images/batches.ts";
import { deleteRecord, findRecord, type IdempotencyRecord } from "../../store/images/idempotency.ts";
import { findImage, lockImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { nextPlace } from "../../store/images/queue-place.ts";
import { type Account, findAccount, lockAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import { reserveCredits } from "../credits/credits.ts";
import type { DiskRoom } from "../images/disk-room.ts";
import { type FreshImage, freshImage } from "../images/fresh-image.ts";
import { keepTemplate } from "../images/keep-template.ts";
import type { QueueEstimate } from "../images/queue-estimate.ts";
import { refuseOnRequest } from "../images/test-endings.ts";
import { tellEnd } from "./note-batches.ts";

export interface AcceptBatchDeps extends AppContext {
  queue: QueueEstimate;
  blobs: Blobs;
  room: DiskRoom;
  templates: TemplateRegistry;
  /** Called after the commit: photos must be fetched, or test images made. */
  wakeBatches: (environment: Environment) => void;
}

export interface BatchCommand {
  account: Account;
  environment: Environment;
  /** Absent when the console asks. */
  keyId?: string;
  /** A batch sent again with its key is answered, not made again. */
  idempotencyKey: string | null;
  /**
   * Whether a card that was asked for in the same words is taken over from its batch, rather than made and
   * charged again. Unless it is said, only without an idempotency key: a new key asks for new cards.
   */
  reusesCards?: boolean;
  name: string;
  /** Their external ids must differ. */
  requests: CreateImageRequest[];
}

export interface AcceptedBatch {
  batch: Batch;
  replayed: boolean;
  /** Whole seconds until it is finished; at least 1. */
  etaSeconds: number;
}

/** When there may be room for more cards, in seconds. */
const FULL_RETRY_SECONDS = 300;

/**
 * Accepts all cards of a batch or none, reserving a credit for each, in one transaction; photos are fetched
 * afterwards. A card requested identically within three days, and not failed, is reused. Throws a Refusal,
 * and then leaves nothing behind.
 */
export async function acceptBatch(deps: AcceptBatchDeps, command: BatchCommand): Promise<AcceptedBatch> {
  const { store, clock, queue } = deps;
  const { account, environment, requests } = command;
  const print = fingerprint({ name: command.name, cards: requests });
  const earlier = await replayOf(store.read, command, print, clock.now());
  if (earlier) return { batch: earlier, replayed: true, etaSeconds: 1 };
  await deps.room.refuseWhenLow();
  if (environment === "test") {
    for (const { player } of requests)
      if (player.external_id !== PER_CARD) refuseOnRequest(player.external_id, account, clock.now());
  }
  const templates = await templatesOf(deps, requests);
  const accepted = await store.write(
    "accept batch",
    async (tx) => {
      const now = clock.now();
      const scope = { accountId: account.id, environment };
      const place = await nextPlace(tx, scope, { lane: "batch", most: COUNTED_AHEAD });
      const cards = await cardsOf(tx, deps, command, { templates, turn: place.turn, now });
      // Batches of one account come in turn from here on. After the images, which whoever ends them locks
      // first, too.
      await lockAccount(tx, account.id);
      const overtaken = await replayOf(tx, command, print, now);
      if (overtaken) return { batch: overtaken, replayed: true, etaSeconds: 1 };
      if ((await findAccount(tx, account.id))?.status !== "active") throw partnerSuspended();
      if ((await openBatchCards(tx, scope)) + requests.length > MAX_OPEN_BATCH_CARDS)
        throw overloaded(FULL_RETRY_SECONDS);
      const batch = await writeBatch(tx, deps, command, { cards, print, now });
      const ahead = place.ahead + requests.length - 1;
      return { batch, replayed: false, etaSeconds: environment === "test" ? 1 : queue.etaSeconds({ ahead }) };
    },
    { sideBySide: true },
  );
  if (!accepted.replayed) deps.wakeBatches(environment);
  return accepted;
}

/** For the estimate alone, which then says "at least": as many as one account may have open. */
const COUNTED_AHEAD = { ahead: MAX_OPEN_BATCH_CARDS, total: 0 };

/**
 * The one test refusal that is reported on the card itself, because the photos of a batch are fetched later.
 */
const PER_CARD = "test_unsupported_source";

async function replayOf(
  tx: Tx,
  command: BatchCommand,
  print: string,
  now: number,
): Promise<Batch | undefined> {
  const { account, environment, idempotencyKey: key } = command;
  if (key === null) return undefined;
  const scope = { accountId: account.id, environment, key };
  const batch = await findBatchByKey(tx, { ...scope, since: now - IDEMPOTENCY_RETENTION_MS });
  if (batch && batch.fingerprint !== print) throw idempotencyKeyReused();
  return batch;
}

type Pinned = Pick<Image, "templateName" | "templateVersion" | "templateDigest">;

/** The current version of each template, by name. */
async function templatesOf(
  { templates: registry, blobs, clock }: AcceptBatchDeps,
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

interface Card {
  image: Image;
  isNew: boolean;
  recordKey: string;
  print: string;
}

/** The image for each card: a new one, or one already made from the same request. */
async function cardsOf(
  tx: Tx,
  deps: AcceptBatchDeps,
  command: BatchCommand,
  { templates, turn, now }: { templates: Map<string, Pinned>; turn: number; now: number },
): Promise<Card[]> {
  const { account, environment } = command;
  const cards: Card[] = [];
  let next = turn;
  for (const request of command.requests) {
    const print = fingerprint(request);
    const recordKey = recordKeyOf(command, print);
    const scope = { accountId: account.id, environment, key: recordKey };
    const known = await madeBefore(tx, scope, now, lockImage);
    if (known.image) {
      cards.push({ image: known.image, isNew: false, recordKey, print });
      continue;
    }
    // It is of no use any more.
    if (known.record) await deleteRecord(tx, known.record);
    const fresh: FreshImage = {
      scope: { accountId: account.id, environment },
      keyId: command.keyId ?? null,
      request,
      template: templates.get(request.style.preset) as Pinned,
      lane: "batch",
      turn: next++,
      now,
    };
    cards.push({ image: freshImage(deps.random, fresh), isNew: true, recordKey, print });
  }
  return cards;
}

/** Under what a card is remembered: with the batch's key, or so that other batches find it too. */
function recordKeyOf(
  { idempotencyKey, reusesCards = idempotencyKey === null }: OrderedBy,
  print: string,
): string {
  // No header value contains a space, so no partner's key can collide. The player is part of the fingerprint,
  // so the id stays unreadable.
  return `${reusesCards ? "" : idempotencyKey} ${print}`;
}

type OrderedBy = Pick<BatchCommand, "idempotencyKey" | "reusesCards">;

/** How many of the cards a batch that reuses cards would make, and with a live key charge, at `now`. */
export async function countNewCards(
  tx: Tx,
  { account, environment, requests }: Pick<BatchCommand, "account" | "environment" | "requests">,
  now: number,
): Promise<number> {
  let fresh = 0;
  for (const request of requests) {
    const key = recordKeyOf({ idempotencyKey: null }, fingerprint(request));
    const known = await madeBefore(tx, { accountId: account.id, environment, key }, now, findImage);
    if (!known.image) fresh++;
  }
  return fresh;
}

/** The image made from the same request, unless it cannot be reused, and what remembers it. */
async function madeBefore(
  tx: Tx,
  scope: { accountId: string; environment: Environment; key: string },
  now: number,
  find: typeof findImage,
): Promise<{ image?: Image; record?: IdempotencyRecord }> {
  const record = await findRecord(tx, scope);
  if (!record) return {};
  if (record.expiresAt <= now) return { record };
  const image = await find(tx, { ...scope, id: record.imageId });
  const isOfUse = image && image.state !== "failed" && (image.expiresAt ?? now + 1) > now;
  return isOfUse ? { image, record } : { record };
}

async function writeBatch(
  tx: Tx,
  deps: AcceptBatchDeps,
  command: BatchCommand,
  { cards, print, now }: { cards: Card[]; print: string; now: number },
): Promise<Batch> {
  const { account, environment, idempotencyKey, keyId = null } = command;
  const { random } = deps;
  const scope = { accountId: account.id, environment };
  const fresh = cards.filter(({ isNew }) => isNew);
  const images = fresh.map(({ image }) => image);
  await insertImages(tx, images);
  // Those of the live environment wait for their photos first.
  const queued = images.filter(({ state }) => state === "queued");
  await deps.jobs.enqueue(tx, queued);
  const ids = images.map(({ id }) => id);
  if (environment === "live")
    await reserveCredits(tx, account.id, ids, { now, random, isDoubtful: !isProven(deps.clock) });
  if (fresh.length > 0) await countUsage(tx, { ...scope, keyId }, now, { requested: fresh.length });
  await insertRecords(
    tx,
    fresh.map(({ image, recordKey, print: fingerprint }) => ({
      ...scope,
      key: recordKey,
      fingerprint,
      imageId: image.id,
      responseBody: JSON.stringify({ image_id: image.id }),
      createdAt: now,
      expiresAt: now + IDEMPOTENCY_RETENTION_MS,
    })),
  );
  if (idempotencyKey !== null) await freeBatchKey(tx, { ...scope, key: idempotencyKey });
  const completed = cards.filter(({ image }) => image.state === "completed").length;
  const batch: Batch = {
    ...scope,
    id: random.id("bat"),
    name: command.name,
    idempotencyKey,
    fingerprint: print,
    total: cards.length,
    completed,
    failed: 0,
    canceled: 0,
    createdAt: now,
    updatedAt: now,
    canceledAt: null,
    completedAt: completed === cards.length ? now : null,
  };
  await insertBatch(
    tx,
    batch,
    cards.map(({ image }) => image.id),
  );
  if (batch.completedAt !== null) await tellEnd(tx, batch, { now, random });
  return batch;
}
