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
import { bucketWords, type ExportContext, openOwnBucket, placeOf } from "./own-bucket.ts";
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
  const underWay = new Map<string, number>();
  const turns = new Map<string, number>();
  let turn = 0;

  const claimNext = async () => {
    const { store, clock } = deps;
    const now = clock.now();
    const due = await dueBuckets(store.read, now);
    const free = due.filter(({ accountId }) => (underWay.get(accountId) ?? 0) < MAX_EXPORTS_PER_ACCOUNT);
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
      underWay.set(accountId, (underWay.get(accountId) ?? 0) + 1);
      more();
      try {
        await attempt(deps, claimed, signal);
      } finally {
        const left = (underWay.get(accountId) ?? 1) - 1;
        if (left === 0) underWay.delete(accountId);
        else underWay.set(accountId, left);
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
  try {
    await work(deps, claimed, signal);
    await recordDone(deps, claimed);
  } catch (error) {
    if (signal.aborted) return giveBack(deps, claimed);
    deps.log.info("export_failed", { imageId: row.imageId, state: row.state, error: String(error) });
    await recordFailed(deps, claimed, error);
  }
}

async function putObjects(deps: SendDeps, { row, bucket: own }: Claimed, signal: AbortSignal): Promise<void> {
  const image = await findAnyImage(deps.store.read, row.imageId);
  const names = [image?.outputName, image?.backOutputName].filter((name) => typeof name === "string");
  const bucket = await openOwnBucket(deps, own, signal);
  for (const [side, name] of names.entries()) {
    const file = image?.forgottenAt === null ? await readPicture(deps, name) : null;
    if (!file) throw new PictureGone("The picture expired or was deleted before it was put into the bucket.");
    await bucket.put(row.keys[side] ?? "", file, image?.outputContentType ?? "application/octet-stream");
  }
}

/** Null when it is gone; what keeps it from being read is this service's own fault. */
async function readPicture({ blobs }: SendDeps, name: string): Promise<Uint8Array | null> {
  try {
    return (await (await blobs.open("picture", name))?.bytes()) ?? null;
  } catch (cause) {
    throw new OwnFault("The picture cannot be read here at the moment.", { cause });
  }
}

/** Says nothing about the partner's bucket. */
class OwnFault extends Error {}

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

async function recordDone({ store, clock }: SendDeps, { row, bucket, token }: Claimed): Promise<void> {
  const now = clock.now();
  const { imageId, accountId } = row;
  await store.write(
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
      if (!isStill(current, bucket)) return;
      if (current.failingSince !== null || current.lastError !== null)
        await changeHealth(tx, accountId, { failingSince: null, pausedUntil: null, lastError: null });
    },
    { concurrent: true },
  );
}

async function recordFailed(deps: SendDeps, { row, bucket, token }: Claimed, error: unknown): Promise<void> {
  const { store, clock, random } = deps;
  const now = clock.now();
  const { imageId, accountId } = row;
  const isGone = error instanceof PictureGone;
  const isOwn = error instanceof OwnFault;
  const words =
    isGone || isOwn ? error.message : bucketWords(error, row.state === "removing" ? "remove" : "write");
  const next = isGone
    ? null
    : nextAttemptAt({ made: row.attempts + 1, now, random: fraction(random), retryAfterMs: null });
  // Whose deletion was asked for is tried for as long as the bucket is named.
  const nextAt = row.state === "removing" ? (next ?? now + LAST_WAIT_MS) : next;
  const state = nextAt === null ? ("failed" as const) : row.state;
  await store.write(
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
      if (isGone || isOwn || !isStill(current, bucket)) return;
      await changeHealth(tx, accountId, {
        failingSince: current.failingSince ?? now,
        pausedUntil: now + EXPORT_PAUSE_MS,
        lastError: words,
      });
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

/** A day between the attempts to remove what the schedule has given up. */
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
