import type { Blobs } from "../../blobs/blobs.ts";
import { nextAttemptAt } from "../../core/delivery-schedule.ts";
import { leaseToken } from "../../core/lease.ts";
import { EXPORT_LEASE_MS, EXPORT_PAUSE_MS, MAX_EXPORTS_PER_ACCOUNT } from "../../core/outbound-limits.ts";
import {
  type AccountBucket,
  changeHealth,
  claimExport,
  deleteExport,
  dueBuckets,
  endExport,
  findBucket,
  hasLostExport,
  type ImageExport,
  noteExport,
  releaseExports,
} from "../../store/exports/exports.ts";
import { findAnyImage } from "../../store/images/image-reads.ts";
import {
  bucketWords,
  type ExportContext,
  isOwnFault,
  OwnFault,
  openOwnBucket,
  placeOf,
} from "./own-bucket.ts";
import { noteOf } from "./record-export.ts";

export interface SendDeps extends ExportContext {
  blobs: Blobs;
}

/** Puts due cards into their accounts' own buckets, and removes deleted ones. One per process. */
export interface Exporter {
  /** Does one that is due, if any; calls `more` once it has claimed it. */
  sendNext(signal: AbortSignal, more: () => void): Promise<void>;
}

/** The picture expired or was deleted before it could be put anywhere. */
class PictureGone extends Error {}

export function createExporter(deps: SendDeps): Exporter {
  /** Of this process: how many attempts run for each account, and who had the last turn. */
  const inFlight = new Map<string, number>();
  const turns = new Map<string, number>();
  let turn = 0;

  const claimNext = async () => {
    const { store, clock } = deps;
    const now = clock.now();
    const due = await dueBuckets(store.read, now);
    const free = due.filter(({ accountId }) => (inFlight.get(accountId) ?? 0) < MAX_EXPORTS_PER_ACCOUNT);
    const inTurn = free.toSorted((a, b) => (turns.get(a.accountId) ?? 0) - (turns.get(b.accountId) ?? 0));
    const token = leaseToken(deps);
    for (const bucket of inTurn) {
      const { accountId } = bucket;
      turns.set(accountId, ++turn);
      const claim = { accountId, token, now, leaseExpiresAt: now + EXPORT_LEASE_MS, place: placeOf(bucket) };
      const row = await store.write("claim export", (tx) => claimExport(tx, claim), { concurrent: true });
      if (row) return { row, bucket, token };
    }
    return undefined;
  };

  return {
    sendNext: async (signal, more) => {
      const claimed = await claimNext();
      if (!claimed) return;
      const { accountId } = claimed.row;
      inFlight.set(accountId, (inFlight.get(accountId) ?? 0) + 1);
      more();
      try {
        await attempt(deps, claimed, signal);
      } finally {
        const left = (inFlight.get(accountId) ?? 1) - 1;
        if (left === 0) inFlight.delete(accountId);
        else inFlight.set(accountId, left);
      }
    },
  };
}

interface Claimed {
  row: ImageExport;
  bucket: AccountBucket;
  token: string;
}

async function attempt(deps: SendDeps, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { row } = claimed;
  const work = row.state === "removing" ? removeObjects : putObjects;
  const fault = await work(deps, claimed, signal).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (fault && signal.aborted) return giveBack(deps, claimed);
  if (fault) logFault(deps, row, fault.error);
  const isOurs = fault
    ? await recordFailed(deps, claimed, fault.error)
    : await recordDone(deps, claimed).catch((cause) => giveBackUnrecorded(deps, claimed, cause));
  if (!isOurs && row.state !== "removing") await removeIfForgotten(deps, claimed, signal);
}

function logFault({ log }: SendDeps, { imageId, state }: ImageExport, error: unknown): void {
  const fields = { imageId, state, error: String(error) };
  if (isOwnFault(error) || error instanceof PictureGone) log.warn("export_impossible", fields);
  else log.info("export_failed", fields);
}

async function putObjects(deps: SendDeps, { row, bucket: own }: Claimed, signal: AbortSignal): Promise<void> {
  const image = await ownRead(() => findAnyImage(deps.store.read, row.imageId));
  const names = [image?.outputName, image?.backOutputName].filter((name) => typeof name === "string");
  const bucket = await openOwnBucket(deps, own, signal);
  for (const [side, name] of names.entries()) {
    const isKept = image?.forgottenAt === null && image.purgedAt === null;
    const file = isKept ? await ownRead(async () => (await deps.blobs.open("picture", name))?.bytes()) : null;
    if (!file)
      throw new PictureGone(
        isKept ? LOST : "The picture expired or was deleted before it was put into the bucket.",
      );
    await bucket.put(row.keys[side] ?? "", file, image?.outputContentType ?? "application/octet-stream");
  }
}

const LOST = "The picture's file is missing in this service. Tell the operator, or make the card again.";

/** What keeps it from being read is this service's own fault. */
async function ownRead<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new OwnFault("The picture cannot be read here at the moment.", { cause });
  }
}

/** Objects in a bucket that the account no longer names are out of reach, and its owner's to remove. */
async function removeObjects(
  deps: SendDeps,
  { row, bucket: own }: Claimed,
  signal: AbortSignal,
): Promise<void> {
  if (row.place !== null && row.place !== placeOf(own)) return;
  const bucket = await openOwnBucket(deps, own, signal);
  for (const key of row.keys) await bucket.remove(key);
}

/** Whether the bucket of an attempt is named as it was when it began. */
function isStill(current: AccountBucket | undefined, tried: AccountBucket): current is AccountBucket {
  return current?.updatedAt === tried.updatedAt;
}

/** Returns whether the claim was still this process's. */
async function recordDone({ store, clock }: SendDeps, { row, bucket, token }: Claimed): Promise<boolean> {
  const now = clock.now();
  const { imageId, accountId } = row;
  return store.write(
    "record export",
    async (tx) => {
      const isOurs = await endExport(
        tx,
        { imageId, token, now },
        { state: "exported", attempts: 0, error: null, updatedAt: now },
      );
      if (isOurs && row.state === "removing") await deleteExport(tx, imageId);
      else if (isOurs) await noteExport(tx, imageId, noteOf(row.keys, "exported", null));
      const current = await findBucket(tx, accountId);
      if (isStill(current, bucket) && (current.failingSince !== null || current.lastError !== null))
        await changeHealth(tx, accountId, { failingSince: null, pausedUntil: null, lastError: null });
      return isOurs;
    },
    { concurrent: true },
  );
}

/** Returns whether the claim was still this process's. */
async function recordFailed(
  deps: SendDeps,
  { row, bucket, token }: Claimed,
  error: unknown,
): Promise<boolean> {
  const { store, clock, random } = deps;
  const now = clock.now();
  const { imageId, accountId } = row;
  const isGone = error instanceof PictureGone;
  const isOwn = isOwnFault(error);
  const words = isGone ? error.message : bucketWords(error, row.state === "removing" ? "remove" : "write");
  const next = isGone
    ? null
    : nextAttemptAt({ made: row.attempts + 1, now, random: fraction(random), retryAfterMs: null });
  // For as long as the bucket is named: what a deletion asked for, and what only this service holds up.
  const nextAt = row.state === "removing" || isOwn ? (next ?? now + LAST_WAIT_MS) : next;
  const state = nextAt === null ? ("failed" as const) : row.state;
  return store.write(
    "record failed export",
    async (tx) => {
      const isOurs = await endExport(
        tx,
        { imageId, token, now },
        { state, attempts: row.attempts + 1, nextAttemptAt: nextAt, error: words, updatedAt: now },
      );
      if (isOurs && row.state !== "removing")
        await noteExport(tx, imageId, noteOf(row.keys, state === "failed" ? "failed" : "pending", words));
      const current = await findBucket(tx, accountId);
      if (isOurs && !current) {
        // Removed meanwhile, and with it what waited then.
        await deleteExport(tx, imageId);
        await noteExport(tx, imageId, null);
      }
      if (!isGone && !isOwn && isStill(current, bucket))
        await changeHealth(tx, accountId, {
          failingSince: current.failingSince ?? now,
          pausedUntil: now + EXPORT_PAUSE_MS,
          lastError: words,
        });
      return isOurs;
    },
    { concurrent: true },
  );
}

/** The service stops: what was under way is begun again at once, and does not count. */
async function giveBack({ store, clock }: SendDeps, { row, token }: Claimed): Promise<void> {
  const now = clock.now();
  const lease = { imageId: row.imageId, token, now };
  await store.write("give export back", (tx) => endExport(tx, lease, { nextAttemptAt: now }), {
    concurrent: true,
  });
}

/**
 * What was put there and could not be recorded, such as by a database out of reach, is put there again: the
 * same bytes under the same key.
 */
async function giveBackUnrecorded(deps: SendDeps, claimed: Claimed, cause: unknown): Promise<boolean> {
  deps.log.warn("export_unrecorded", { imageId: claimed.row.imageId, error: String(cause) });
  await giveBack(deps, claimed);
  return true;
}

/**
 * A process that stood still may have lost its claim, and put there what was deleted, and removed by others,
 * meanwhile.
 */
async function removeIfForgotten(deps: SendDeps, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { imageId } = claimed.row;
  const image = await findAnyImage(deps.store.read, imageId);
  if (image?.forgottenAt === null) return;
  await removeObjects(deps, claimed, signal).catch((error) =>
    deps.log.error("export_not_removed", { imageId, error: String(error) }),
  );
}

/** A day between the attempts at what the schedule has given up, and must not be. */
const LAST_WAIT_MS = 24 * 3_600_000;

/** From 0 up to 1. */
function fraction(random: SendDeps["random"]): number {
  return Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32;
}

/** Rows per transaction, so that requests never wait long for the writer. */
const BATCH = 200;

/** Makes due again what a process that ended had claimed. */
export async function releaseLostExports({ store, clock }: ExportContext): Promise<void> {
  const now = clock.now();
  while (await hasLostExport(store.read, now)) {
    const released = await store.write("release exports", (tx) => releaseExports(tx, now, BATCH), {
      concurrent: true,
    });
    if (released < BATCH) return;
  }
}
