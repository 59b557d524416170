import { setTimeout as sleep } from "node:timers/promises";
import { cardInput, storedRequest } from "../../core/image-request.ts";
import { STORAGE_RETRY_MS } from "../../core/limits.ts";
import { frameSize, isMoving } from "../../core/moving-pictures.ts";
import type { Claimed } from "../../jobs/jobs.ts";
import type { SharedPlaceholders } from "../../render/placeholders/placeholder-files.ts";
import { RenderInterrupted } from "../../render/pool.ts";
import type { ImageOutput } from "../../store/images/images.ts";
import type { AppContext } from "../context.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import type { RenderEnd } from "./finish-image.ts";
import { dropPictures, newName } from "./keep-card.ts";
import {
  backPlaceholder,
  PlaceholderRefused,
  pdfPlaceholder,
  type TestPlaceholderDeps,
  testComposition,
  testPlaceholder,
} from "./placeholder-picture.ts";
import type { ProgressTracker } from "./progress.ts";
import { claimImage, finishWhileLeased, isStorageFault, leaseOf } from "./render-image.ts";
import { testEnding } from "./requested-ending.ts";

export interface TestImageDeps extends AppContext, TestPlaceholderDeps {
  progress: ProgressTracker;
  placeholders: SharedPlaceholders;
  /** Daily budget for drawn pictures: accounts only pay for those that could not be shared. */
  placeholderBytes: DailyBytes;
}

const PROGRESS_STEPS = 10;

/** Ends the next waiting test image, if any, as its external_id asks: with a placeholder or a failure. */
export async function renderNextTestImage(
  deps: TestImageDeps,
  signal: AbortSignal,
  more: () => void,
): Promise<void> {
  const image = await claimImage(deps, "test", signal);
  if (!image) return;
  more();
  const lease = leaseOf(image);
  const stopHeartbeat = deps.jobs.heartbeat(lease);
  try {
    const end = await renderTestImage(deps, image, signal).catch((error): RenderEnd => {
      if (signal.aborted || error instanceof RenderInterrupted) return { kind: "requeued" };
      if (error instanceof PlaceholderRefused)
        return { kind: "refused", message: error.message, reason: error.reason };
      deps.log.warn("mock_fault", { imageId: image.id, renders: image.renders, error: String(error) });
      return isStorageFault(error) ? { kind: "requeued", pauseMs: STORAGE_RETRY_MS } : { kind: "fault" };
    });
    const { finished, certain } = await finishWhileLeased(deps, lease, end, signal);
    if (end.kind === "completed" && !finished && certain) await dropPictures(deps, end.output);
  } finally {
    stopHeartbeat();
    deps.progress.clear(image.id);
  }
}

async function renderTestImage(deps: TestImageDeps, image: Claimed, signal: AbortSignal): Promise<RenderEnd> {
  const ending = testEnding(image.externalId);
  if (ending.kind === "failed") return { ...ending, kind: "refused" };
  for (let step = 0; step < PROGRESS_STEPS && ending.afterMs > 0; step++) {
    deps.progress.set(image.id, step / PROGRESS_STEPS);
    await sleep(ending.afterMs / PROGRESS_STEPS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return { kind: "requeued" };
  }
  const request = storedRequest(image.request);
  const { format, motion = "foil", back: hasBack, ...size } = cardInput(request).style;
  const { width, height } = isMoving(format) ? frameSize({ format, motion }, size) : size;
  const name = newName(deps, image.id, request.style);
  const isPdf = request.style.format === "pdf";
  const { best, instead } = isPdf
    ? await pdfPlaceholder(deps, image, signal)
    : await testPlaceholder(deps, image, signal);
  const picture = await deps.placeholders.give(best, name).catch((error) => {
    if (!instead || signal.aborted) throw error;
    return deps.placeholders.give(instead, name);
  });
  await deps.placeholderBytes.spend(image.accountId, picture.drawnBytes);
  const { contentType, bytes } = picture;
  const composition = await testComposition(deps, image);
  const output: ImageOutput = { name, width, height, contentType, bytes, composition };
  if (hasBack && !isPdf)
    output.back = await testBack(deps, image, newName(deps, image.id, request.style), signal);
  return { kind: "completed", output };
}

/** The other side of a test card, for which nothing stands in while workers are busy. */
async function testBack(deps: TestImageDeps, image: Claimed, name: string, signal: AbortSignal) {
  const { bytes, drawnBytes } = await deps.placeholders.give(
    await backPlaceholder(deps, image, signal),
    name,
  );
  await deps.placeholderBytes.spend(image.accountId, drawnBytes);
  return { name, bytes };
}
