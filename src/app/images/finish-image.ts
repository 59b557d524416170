import type { FailureReason } from "../../core/failure-reasons.ts";
import { RENDER_RETRY_PAUSES_MS } from "../../core/limits.ts";
import { PHOTO_LOST_MESSAGE, RENDER_FAULT_MESSAGE } from "../../core/partner-refusals.ts";
import { DAY_MS } from "../../core/time.ts";
import { countFailures, countUsage } from "../../store/credits/usage.ts";
import { failUnbegun, firstBatches, lockUnbegun } from "../../store/images/batches.ts";
import {
  completeImage,
  failImage,
  type Image,
  type ImageOutput,
  type Lease,
  requeueImage,
} from "../../store/images/images.ts";
import { insertReceipt } from "../../store/images/receipts.ts";
import { ownerOf } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import { noteBatches } from "../batches/note-batches.ts";
import type { AppContext, Moment } from "../context.ts";
import { releaseCredits, settleCredit } from "../credits/credits.ts";
import { alertOfUsage } from "../credits/usage-alerts.ts";
import { recordExport } from "../exports/record-export.ts";
import { givePlacesBack, keepPlace } from "../sets/set-places.ts";
import { type NewEvent, recordEvents } from "../webhooks/webhook-events.ts";
import { imageView } from "./image-view.ts";

/**
 * How a render ended. `fault`: ours, will be retried; `refused`: because of the photo, final; `photo_lost`:
 * our fault but final, since its URL may have been single-use; `requeued`: says nothing about this image,
 * so it is not counted.
 */
export type RenderEnd =
  | { kind: "completed"; output: ImageOutput }
  | { kind: "refused"; message: string; reason: FailureReason }
  | { kind: "photo_lost" }
  | { kind: "fault" }
  | { kind: "requeued"; pauseMs?: number };

/** A lease on an image, with the number of the render it covers. */
export type RenderLease = Lease & { renders: number };

/**
 * Ends one render in a single transaction guarded by its lease: state, credit and counters change together or
 * not at all. Returns the updated image, or undefined when the lease was lost and nothing changed. `requeue`:
 * the renderer is gone and somebody else ends the render.
 */
export async function finishImage(
  context: AppContext,
  lease: RenderLease,
  end: RenderEnd,
  name: "finish" | "requeue" = "finish",
): Promise<Image | undefined> {
  const work = (tx: Tx) => endRender(tx, context, lease, end);
  const image = await context.store.write(name, work, { concurrent: true });
  if (image && image.completedAt !== null) context.endings.notify([image.id]);
  return image;
}

/** See finishImage: its part inside of the transaction. */
export async function endRender(
  tx: Tx,
  context: AppContext,
  lease: RenderLease,
  end: RenderEnd,
): Promise<Image | undefined> {
  const now = context.clock.now();
  switch (end.kind) {
    case "completed":
      return complete(tx, context, lease, end.output, now);
    case "refused":
      return fail(tx, context, lease, { ...end, now });
    case "photo_lost":
      return fail(tx, context, lease, { message: PHOTO_LOST_MESSAGE, reason: "provider", now });
    case "requeued":
      return requeue(tx, context, lease, { now, pauseMs: end.pauseMs ?? 0, uncounted: true });
    case "fault": {
      const pauseMs = RENDER_RETRY_PAUSES_MS[lease.renders - 1];
      if (pauseMs === undefined)
        return fail(tx, context, lease, { message: RENDER_FAULT_MESSAGE, reason: "provider", now });
      const image = await requeue(tx, context, lease, { now, pauseMs });
      // The account used up a render, so its turn moves back by one; this image stays ahead of its others.
      if (image) await context.jobs.postpone(tx, image);
      return image;
    }
  }
}

async function requeue(
  tx: Tx,
  { jobs }: AppContext,
  lease: Lease,
  { now, pauseMs, ...back }: { now: number; pauseMs: number; uncounted?: boolean },
): Promise<Image | undefined> {
  if (!(await jobs.requeue(tx, lease, pauseMs))) return undefined;
  return requeueImage(tx, lease, { ...back, now, availableAt: now + pauseMs });
}

async function complete(tx: Tx, context: AppContext, lease: Lease, output: ImageOutput, now: number) {
  if (!(await context.jobs.end(tx, lease))) return undefined;
  const account = await ownerOf(tx, lease.imageId);
  const days = account.retentionDays ?? context.config.retentionDays;
  const completed = await completeImage(tx, lease, { output, now, keptMs: days * DAY_MS });
  if (!completed) return undefined;
  const image = await recordExport(tx, completed, now);
  if (output.receipt) await insertReceipt(tx, image.id, output.receipt);
  await keepPlace(tx, image);
  const creditsUsed = await settleCredit(tx, image.id, { now, random: context.random });
  await countUsage(tx, image, now, { completed: 1, creditsUsed });
  if (creditsUsed > 0) await alertOfUsage(tx, context, account, now);
  await noteBatches(tx, [image], "completed", { now, random: context.random });
  await recordEnds(tx, context, [image], { now, random: context.random });
  return image;
}

interface Failure {
  message: string;
  reason: FailureReason;
  now: number;
}

async function fail(tx: Tx, context: AppContext, lease: Lease, { message, reason, now }: Failure) {
  if (!(await context.jobs.end(tx, lease))) return undefined;
  const image = await failImage(tx, lease, { code: "IMAGE_PROCESSING_FAILED", message, reason, now });
  if (image) await recordFailures(tx, context, [image], { now, reason });
  return image;
}

/** What becomes of the credits, counters, batches and subscribers of images that have just failed. */
async function recordFailures(
  tx: Tx,
  context: AppContext,
  images: Image[],
  { now, reason }: Omit<Failure, "message">,
): Promise<void> {
  const moment = { now, random: context.random };
  const isCanceled = reason === "canceled";
  await givePlacesBack(tx, images);
  await releaseCredits(
    tx,
    images.map(({ id }) => id),
    moment,
  );
  const alike = Map.groupBy(images, ({ accountId, environment, keyId }) =>
    [accountId, environment, keyId].join(),
  );
  for (const group of alike.values()) {
    const failed = group.length;
    await countUsage(tx, group[0] as Image, now, { failed, canceled: isCanceled ? failed : 0 });
    await countFailures(tx, group[0] as Image, now, { reason, failed });
  }
  await noteBatches(tx, images, isCanceled ? "canceled" : "failed", moment);
  await recordEnds(tx, context, images, moment);
}

/**
 * Fails those of these images whose rendering has not begun, and that have not ended; when `canceledBatch` is
 * given, none that another batch has come to want. Returns how many. In few statements, however many images:
 * a transaction that waited for an answer of the database for each would keep every other writer waiting.
 */
export async function failImagesUnbegun(
  context: AppContext,
  ids: string[],
  { message, reason }: Omit<Failure, "now">,
  canceledBatch?: string,
): Promise<number> {
  const failed = await context.store.write(
    "fail unbegun",
    async (tx) => {
      const now = context.clock.now();
      const end = { code: "IMAGE_PROCESSING_FAILED", message, reason, now, canceledBatch };
      await context.jobs.lock(tx, ids);
      // A batch that comes to want one of them does so before this, and is seen, or finds it failed.
      await lockUnbegun(tx, ids);
      const images = await failUnbegun(tx, ids, end);
      if (images.length === 0) return [];
      await context.jobs.cancel(tx, images);
      await recordFailures(tx, context, images, { now, reason });
      return images.map(({ id }) => id);
    },
    { concurrent: true },
  );
  context.endings.notify(failed);
  return failed.length;
}

/**
 * Records the events of images' ends. Their data equals the status view, so that partners parse both with the
 * same code.
 */
async function recordEnds(tx: Tx, { config }: AppContext, images: Image[], moment: Moment): Promise<void> {
  const batchIds = await firstBatches(
    tx,
    images.map(({ id }) => id),
  );
  const events = images.map((image): NewEvent => {
    const { accountId, environment, id: subject } = image;
    const type = image.state === "completed" ? "image.completed" : "image.failed";
    const answer = { ...image, batchId: batchIds.get(subject) ?? null };
    const data = imageView(answer, { config, progress: null });
    return { accountId, environment, type, subject, data };
  });
  await recordEvents(tx, events, moment);
}
