import { MAX_RENDERS } from "../../core/limits.ts";
import { PHOTO_LOST_MESSAGE, RENDER_FAULT_MESSAGE } from "../../core/partner-refusals.ts";
import { DAY_MS } from "../../core/time.ts";
import { failUnbegun } from "../../store/batches.ts";
import { retentionOf } from "../../store/image-files.ts";
import {
  completeImage,
  failImage,
  type Image,
  type ImageOutput,
  type Lease,
  postponeTurns,
  requeueImage,
} from "../../store/images.ts";
import { insertReceipt } from "../../store/receipts.ts";
import type { Tx } from "../../store/store.ts";
import { countUsage } from "../../store/usage.ts";
import { noteBatches } from "../batches/note-batches.ts";
import type { AppContext } from "../context.ts";
import { releaseCredit, settleCredit } from "../credits/credits.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";
import { imageView } from "./image-view.ts";

/** The pause before another attempt after a fault, by the number of renders so far. */
const RETRY_DELAY_MS = [500, 2_000];

/**
 * How a render ended. `fault`: ours, tried again; `refused`: the photo's, final; `photo_lost`: ours, and final, since its
 * address may have been for one time only; `given_back`: nothing that says anything about this image, so it is not counted.
 */
export type RenderEnd =
  | { kind: "completed"; output: ImageOutput }
  | { kind: "refused"; message: string }
  | { kind: "photo_lost" }
  | { kind: "fault" }
  | { kind: "given_back"; pauseMs?: number };

/** A lease on an image, and the number of the render it is for. */
export type RenderLease = Lease & { renders: number };

/**
 * Ends one render in one transaction, guarded by its lease: the state, the credit and the counters change together or
 * not at all. Returns the image as it is now, or undefined when the lease was lost and nothing changed. `requeue`: its
 * renderer is gone, and somebody else ends it.
 */
export function finishImage(
  context: AppContext,
  lease: RenderLease,
  end: RenderEnd,
  name: "finish" | "requeue" = "finish",
): Promise<Image | undefined> {
  return context.store.write(name, (tx) => endRender(tx, context, lease, end), { sideBySide: true });
}

async function endRender(
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
      return fail(tx, context, lease, end.message, now);
    case "photo_lost":
      return fail(tx, context, lease, PHOTO_LOST_MESSAGE, now);
    case "given_back":
      return requeueImage(tx, lease, { now, availableAt: now + (end.pauseMs ?? 0), uncounted: true });
    case "fault": {
      if (lease.renders >= MAX_RENDERS) return fail(tx, context, lease, RENDER_FAULT_MESSAGE, now);
      const pauseMs = RETRY_DELAY_MS[lease.renders - 1] ?? RETRY_DELAY_MS.at(-1) ?? 0;
      const image = await requeueImage(tx, lease, { now, availableAt: now + pauseMs });
      // A render was spent on it: the account is served one turn later, this image still before its others.
      if (image) await postponeTurns(tx, image);
      return image;
    }
  }
}

async function complete(tx: Tx, context: AppContext, lease: Lease, output: ImageOutput, now: number) {
  const days = (await retentionOf(tx, lease.imageId)) ?? context.config.retentionDays;
  const expiresAt = now + days * DAY_MS;
  const image = await completeImage(tx, lease, { output, now, expiresAt });
  if (!image) return undefined;
  if (output.receipt) await insertReceipt(tx, image.id, output.receipt);
  const creditsUsed = await settleCredit(tx, image.id, { now, random: context.random });
  await countUsage(tx, image, now, { completed: 1, creditsUsed });
  await noteBatches(tx, image, "completed", { now, random: context.random });
  await recordImageEvent(tx, context, image, now);
  return image;
}

async function fail(tx: Tx, context: AppContext, lease: Lease, message: string, now: number) {
  const image = await failImage(tx, lease, { code: "IMAGE_PROCESSING_FAILED", message, now });
  return image && failed(tx, context, image, now);
}

async function failed(tx: Tx, context: AppContext, image: Image, now: number): Promise<Image> {
  await releaseCredit(tx, image.id, { now, random: context.random });
  await countUsage(tx, image, now, { failed: 1 });
  await noteBatches(tx, image, "failed", { now, random: context.random });
  await recordImageEvent(tx, context, image, now);
  return image;
}

/** Fails an image that nobody has begun to render; undefined when somebody has, or it has ended. */
export function failImageUnbegun(
  context: AppContext,
  id: string,
  message: string,
): Promise<Image | undefined> {
  return context.store.write("fail unbegun", async (tx) => {
    const now = context.clock.now();
    const image = await failUnbegun(tx, id, { code: "IMAGE_PROCESSING_FAILED", message, now });
    return image && failed(tx, context, image, now);
  });
}

/** Tells whoever listens. The data is what the status view says, so that a partner reads both with one program. */
function recordImageEvent(tx: Tx, context: AppContext, image: Image, now: number): Promise<void> {
  const type = image.state === "completed" ? "image.completed" : "image.failed";
  const data = imageView(image, { cdnBaseUrl: context.config.cdnBaseUrl, progress: null });
  const event = { ...scopeOf(image), type, subject: image.id, data } as const;
  return recordEvent(tx, event, { now, random: context.random });
}

function scopeOf(image: Image) {
  return { accountId: image.accountId, environment: image.environment };
}
