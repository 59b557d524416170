import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_OPEN_BATCH_CARDS } from "../../core/limits.ts";
import { overloaded, partnerSuspended } from "../../core/partner-refusals.ts";
import { requirePublicationTimes } from "../../core/publication.ts";
import { findBatchByKey, freeBatchKey } from "../../store/images/batch-keys.ts";
import { type Batch, insertBatch, openBatchCards } from "../../store/images/batches.ts";
import { nextPlace } from "../../store/images/queue-place.ts";
import { findAccount, lockAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import { earlierOf } from "../earlier-request.ts";
import type { DiskRoom } from "../images/disk-room.ts";
import type { QueueEstimate } from "../images/queue-estimate.ts";
import { requireConsent } from "../people/consent.ts";
import {
  type Card,
  type CardsOwner,
  cardsOf,
  placeCards,
  refuseTestCards,
  templatesOf,
  writeCards,
} from "./batch-cards.ts";
import { tellEnd } from "./note-batches.ts";

export interface AcceptBatchDeps extends AppContext {
  queue: QueueEstimate;
  blobs: Blobs;
  room: DiskRoom;
  templates: TemplateRegistry;
  /** Called after the commit: photos must be fetched, or test images made. */
  wakeBatches: (environment: Environment) => void;
}

export interface BatchCommand extends CardsOwner {
  /** A batch sent again with its key is answered, not made again. */
  idempotencyKey: string | null;
  /**
   * Whether a card that was asked for in the same words is taken over from its batch, rather than made and
   * charged again. Unless it is said, only without an idempotency key: a new key asks for new cards.
   */
  reusesCards?: boolean;
  name: string;
  /** Those of one player differ in set, parallel or number wanted, or are of a parallel with numbers. */
  requests: CreateImageRequest[];
  /** The image that each is one more picture of, such as for print; in a set it shows its number. */
  shows?: string[];
  /** Where each stands in what was sent, which may ask for several at once; by default its position. */
  places?: number[];
  /** What a refusal calls each, such as `img_1.`, where the requests were not sent themselves. */
  fields?: string[];
  /** What was sent, where the requests follow from it: a key is known by this. */
  sent?: unknown;
}

export interface AcceptedBatch {
  batch: Batch;
  replayed: boolean;
  /** Whole seconds until it is finished; at least 1. */
  etaSeconds: number;
}

/** When there may be room for more cards, in seconds. */
export const FULL_RETRY_SECONDS = 300;

/**
 * Accepts all cards of a batch or none, reserving a credit for each, in one transaction; photos are fetched
 * afterwards. A card requested identically within three days, and not failed, is reused. Throws a Refusal,
 * and then leaves nothing behind.
 */
export async function acceptBatch(deps: AcceptBatchDeps, asked: BatchCommand): Promise<AcceptedBatch> {
  const { store, clock, queue } = deps;
  const { account, environment } = asked;
  // Known by what was sent, whatever its players allow of it at the moment.
  const fingerprint = batchFingerprint(asked);
  const earlier = await replayOf(store.read, asked, fingerprint, clock.now());
  if (earlier) return { batch: earlier, replayed: true, etaSeconds: 1 };
  const fieldOf = (at: number) => asked.fields?.[at] ?? `cards[${asked.places?.[at] ?? at}].`;
  const allowed = (tx: Tx, now: number) =>
    requireConsent(tx, account.id, asked.requests, { now, place: fieldOf });
  requirePublicationTimes(asked.requests, { account, now: clock.now(), place: fieldOf });
  const requests = await allowed(store.read, clock.now());
  await deps.room.refuseWhenLow();
  if (environment === "test") refuseTestCards(requests, account, clock.now());
  const templates = await templatesOf(deps, requests);
  const accepted = await store.write(
    "accept batch",
    async (tx) => {
      const now = clock.now();
      const scope = { accountId: account.id, environment };
      const place = await nextPlace(tx, scope, { lane: "batch", most: COUNTED_AHEAD });
      // Consent may have been withdrawn since.
      const command = { ...asked, requests: await allowed(tx, now) };
      const found = await cardsOf(tx, deps, command, { templates, turn: place.turn, now });
      const wishOf = (at: number) => ({ field: fieldOf(at), shows: asked.shows?.[at] });
      const cards = await placeCards(tx, scope, found, wishOf, now);
      // Batches of one account come in turn from here on. After the images, which are locked first where
      // they are ended, too.
      await lockAccount(tx, account.id);
      const overtaken = await replayOf(tx, command, fingerprint, now);
      if (overtaken) return { batch: overtaken, replayed: true, etaSeconds: 1 };
      if ((await findAccount(tx, account.id))?.status !== "active") throw partnerSuspended();
      if ((await openBatchCards(tx, scope)) + requests.length > MAX_OPEN_BATCH_CARDS)
        throw overloaded(FULL_RETRY_SECONDS);
      const batch = await writeBatch(tx, deps, command, { cards, fingerprint, now });
      const ahead = place.ahead + requests.length - 1;
      return { batch, replayed: false, etaSeconds: environment === "test" ? 1 : queue.etaSeconds({ ahead }) };
    },
    { concurrent: true },
  );
  if (!accepted.replayed) deps.wakeBatches(environment);
  return accepted;
}

/** For the estimate alone, which then says "at least": as many as one account may have open. */
export const COUNTED_AHEAD = { ahead: MAX_OPEN_BATCH_CARDS, total: 0 };

const batchFingerprint = ({ name, requests, sent }: Pick<BatchCommand, "name" | "requests" | "sent">) =>
  fingerprintOf(sent === undefined ? { name, cards: requests } : { name, sent });

/**
 * The batch that was made with this key for what is sent. Throws IDEMPOTENCY_KEY_REUSED where it was for
 * something else.
 */
export const earlierBatch = (
  { store, clock }: Pick<AppContext, "store" | "clock">,
  command: Pick<BatchCommand, "account" | "environment" | "idempotencyKey" | "name" | "sent">,
): Promise<Batch | undefined> =>
  replayOf(store.read, command, batchFingerprint({ ...command, requests: [] }), clock.now());

async function replayOf(
  tx: Tx,
  command: Pick<BatchCommand, "account" | "environment" | "idempotencyKey">,
  fingerprint: string,
  now: number,
): Promise<Batch | undefined> {
  const { account, environment, idempotencyKey: key } = command;
  if (key === null) return undefined;
  const scope = { accountId: account.id, environment, key };
  return earlierOf(await findBatchByKey(tx, scope), fingerprint, now);
}

async function writeBatch(
  tx: Tx,
  deps: AcceptBatchDeps,
  command: BatchCommand,
  { cards, fingerprint, now }: { cards: Card[]; fingerprint: string; now: number },
): Promise<Batch> {
  const { account, environment, idempotencyKey } = command;
  const { random } = deps;
  const scope = { accountId: account.id, environment };
  await writeCards(tx, deps, command, { cards, now });
  if (idempotencyKey !== null) await freeBatchKey(tx, { ...scope, key: idempotencyKey });
  const completed = cards.filter(({ image }) => image.state === "completed").length;
  const batch: Batch = {
    ...scope,
    id: random.id("bat"),
    name: command.name,
    idempotencyKey,
    fingerprint,
    total: cards.length,
    completed,
    failed: 0,
    canceled: 0,
    reopened: 0,
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
