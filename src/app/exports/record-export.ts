import { type ExportNote, exportKeys } from "../../core/export-key.ts";
import { EXPORT_LEASE_MS } from "../../core/outbound-limits.ts";
import { isoTime } from "../../core/time.ts";
import {
  deleteExport,
  findBucket,
  lockExport,
  putExport,
  startRemoval,
} from "../../store/exports/exports.ts";
import { firstBatches } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import type { Tx } from "../../store/store.ts";

/** What stands for the batch in the key of a card that belongs to none. */
const NO_BATCH = "single";

/**
 * Has a live card put into its account's own bucket, in the transaction that completes it. Returns the image
 * with what its views say of that; cards of test keys stay here.
 */
export async function recordExport(tx: Tx, image: Image, now: number): Promise<Image> {
  if (image.environment !== "live" || image.outputName === null) return image;
  const bucket = await findBucket(tx, image.accountId);
  if (!bucket) return image;
  const words = {
    image_id: image.id,
    external_id: image.externalId,
    batch_id: (await firstBatches(tx, [image.id])).get(image.id) ?? NO_BATCH,
    date: isoTime(now).slice(0, 10),
  };
  const names = [image.outputName, image.backOutputName].filter((name) => name !== null);
  const keys = exportKeys(bucket.keyPattern, words, names);
  const note = noteOf(keys, "pending", null);
  await putExport(
    tx,
    {
      imageId: image.id,
      accountId: image.accountId,
      state: "pending",
      keys,
      place: null,
      attempts: 0,
      nextAttemptAt: now,
      leaseToken: null,
      leaseExpiresAt: null,
      error: null,
      createdAt: now,
      updatedAt: now,
    },
    note,
  );
  return { ...image, exported: JSON.stringify(note) };
}

/** What an image's views say of its export. */
export function noteOf(keys: string[], status: ExportNote["status"], error: string | null): ExportNote {
  const [key = "", back = null] = keys;
  return { status, key, back_key: back, error };
}

/**
 * Has what was put into an account's own bucket removed there, in the transaction that deletes the card. What
 * another process is just putting there must have ended first, or its lease.
 */
export async function removeExported(tx: Tx, imageId: string, now: number): Promise<void> {
  const row = await lockExport(tx, imageId);
  if (!row) return;
  // What lies in a bucket that is no longer named is out of reach, and its keys may hold a player's id.
  if (!(await findBucket(tx, row.accountId))) return deleteExport(tx, imageId);
  // Nobody has begun to send it: nothing is there.
  if (row.place === null) return deleteExport(tx, imageId);
  const isUnderWay = row.leaseToken !== null;
  await startRemoval(tx, imageId, isUnderWay ? (row.leaseExpiresAt ?? now + EXPORT_LEASE_MS) : now);
}
