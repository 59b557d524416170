import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { storedCard } from "../../core/image-request.ts";
import { leaseToken } from "../../core/lease.ts";
import {
  FAILED_SOURCE_BYTES_PER_DAY,
  FINISH_RETRY_MS,
  LEASE_MS,
  MOST_RENDER_MS,
  STORAGE_RETRY_MS,
} from "../../core/limits.ts";
import type { Meter } from "../../core/metrics.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import type { Claimed } from "../../jobs/jobs.ts";
import { type Renderer, RenderFault, RenderInterrupted, type RenderPool } from "../../render/pool.ts";
import type { RenderedFile, RenderJob, Stage } from "../../render/protocol.ts";
import { type FieldPictures, picturesOfImage } from "../../store/images/image-pictures.ts";
import type { Image } from "../../store/images/images.ts";
import type { Tx } from "../../store/store.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { isFullDisk, removeWhole } from "../../system/write-whole.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import type { Traces } from "../operations/traces.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import { endRender, finishImage, type RenderEnd, type RenderLease } from "./finish-image.ts";
import { dropPictures, keepCard } from "./keep-card.ts";
import type { ProgressTracker } from "./progress.ts";
import type { QueueEstimate } from "./queue-estimate.ts";
import type { SourceKeeper } from "./source-keeper.ts";

export interface RenderImageDeps extends AppContext {
  pool: RenderPool;
  blobs: Blobs;
  /** Where renderers write their pictures. */
  folder: Pick<DataFolder, "scratch">;
  queue: QueueEstimate;
  progress: ProgressTracker;
  keeper: SourceKeeper;
  templates: TemplateRegistry;
  /** Where renders are traced to, if anywhere. */
  traces?: Traces | undefined;
  /** Daily budget for keeping photos of failed images. */
  failedBytes: DailyBytes;
}

/** What remains of a lease after the longest possible renders of both sides. */
const FINISH_PATIENCE_MS = LEASE_MS - 2 * MOST_RENDER_MS;

const NEVER = new AbortController().signal;

/**
 * Claims the next image of an environment; undefined when none is waiting. If the database's answer is lost,
 * the claim may be committed all the same. It is then requeued, since a render that never began must not
 * count against the image.
 */
export async function claimImage(
  context: AppContext,
  environment: Environment,
  signal: AbortSignal = NEVER,
): Promise<Claimed | undefined> {
  const { store, jobs, clock } = context;
  if (!(await jobs.isWaiting(environment, clock.now()))) return undefined;
  const token = leaseToken(context);
  let claimed: Claimed | undefined;
  const spent: string[] = [];
  const claim = async (tx: Tx) => {
    for (;;) {
      const now = clock.now();
      claimed = await jobs.claim(tx, { environment, token, now, leaseExpiresAt: now + LEASE_MS });
      if (!claimed?.isSpent) return claimed;
      await endRender(tx, context, leaseOf(claimed), { kind: "fault" });
      spent.push(claimed.id);
    }
  };
  try {
    const image = await store.write("claim", claim, { concurrent: true });
    context.endings.notify(spent);
    return image;
  } catch (error) {
    // A server that claimed nothing finds its lease lost, and changes nothing.
    if (claimed && storageFault(error))
      await finishWhileLeased(context, leaseOf(claimed), { kind: "requeued" }, signal);
    throw error;
  }
}

/** What ends a claimed image's render. */
export function leaseOf(image: Claimed): RenderLease {
  return { imageId: image.id, token: image.leaseToken, renders: image.renders };
}

/**
 * A full disk, or a database or bucket out of reach. It breaks every render, so waiting is better than
 * failing the whole queue.
 */
export function isStorageFault(error: unknown): boolean {
  if (error instanceof RenderFault && error.storage) return true;
  return isFullDisk(error) || storageFault(error) !== undefined;
}

/**
 * Renders the next waiting live image, if any, and calls `more` once it is claimed. A worker is acquired
 * before the image is claimed, so that no render is counted while no browser is available.
 */
export async function renderNextImage(
  deps: RenderImageDeps,
  signal: AbortSignal,
  more: () => void,
): Promise<void> {
  if (!(await deps.jobs.isWaiting("live", deps.clock.now()))) return;
  const renderer = await deps.pool.acquire(signal);
  try {
    const image = await claimImage(deps, "live", signal);
    if (!image) return;
    more();
    if (image.renders === 1)
      deps.meter.time("cardpress_image_wait_seconds", {}, (deps.clock.now() - image.createdAt) / 1000);
    const stopHeartbeat = deps.jobs.heartbeat(leaseOf(image));
    await renderClaimed(deps, renderer, image, signal).finally(stopHeartbeat);
  } finally {
    renderer.release();
  }
}

async function renderClaimed(
  deps: RenderImageDeps,
  renderer: Renderer,
  image: Claimed,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = deps.clock.now();
  const end = await attempt(deps, renderer, image, signal);
  const lease = leaseOf(image);
  try {
    const { finished, certain } = await finishWhileLeased(deps, lease, end, signal);
    const outcome = finished ? end.kind : "lease_lost";
    if (end.kind === "completed" && !finished && certain) await dropPictures(deps, end.output);
    if (finished?.state === "failed") await keepOrDropSources(deps, finished);
    // Whatever the outcome, this is how long it kept a worker busy.
    const endedAt = deps.clock.now();
    const ms = endedAt - startedAt;
    if (end.kind !== "requeued") deps.queue.observe(ms);
    deps.meter.time("cardpress_render_seconds", { end: outcome }, ms / 1000);
    deps.traces?.render({
      imageId: image.id,
      accountId: image.accountId,
      preset: image.templateName ?? "",
      end: outcome,
      attempt: image.renders,
      acceptedAt: image.createdAt,
      startedAt,
      endedAt,
      stages: end.kind === "completed" ? (end.output.receipt?.timingsMs ?? null) : null,
    });
    if (finished?.state === "completed") deps.meter.add("cardpress_credits_used_total");
    deps.log.info("image_rendered", {
      imageId: image.id,
      end: outcome,
      renders: image.renders,
      ms,
    });
  } finally {
    deps.progress.clear(image.id);
  }
}

/**
 * Records the end of a render, retrying for as long as the lease holds when the disk is full or the database
 * out of reach: that may be over any moment, and the image need not wait for its lease to expire and be
 * rendered again. `certain` is false after a try that threw: its commit may have reached the disk all the
 * same, in which case this picture is in use.
 */
export async function finishWhileLeased(
  deps: AppContext,
  lease: RenderLease,
  end: RenderEnd,
  signal: AbortSignal,
): Promise<{ finished: Image | undefined; certain: boolean }> {
  for (let tries = 1; ; tries++) {
    try {
      return { finished: await finishImage(deps, lease, end), certain: tries === 1 };
    } catch (error) {
      const isPatient = !signal.aborted && tries * FINISH_RETRY_MS <= FINISH_PATIENCE_MS;
      if (!(storageFault(error) && isPatient)) throw error;
      deps.log.warn("finish_delayed", { imageId: lease.imageId, tries, error: String(error) });
      await sleep(FINISH_RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/**
 * Photos of failed images are kept for inspection, like others. But nobody paid for them, so an account with
 * many and large failures has no more of them kept that day.
 */
async function keepOrDropSources(
  { store, blobs, keeper, failedBytes }: RenderImageDeps,
  image: Image,
): Promise<void> {
  const pictures = Object.values(await picturesOfImage(store.read, image.id));
  for (const sha256 of [image.sourceSha256, image.badgeSha256, ...pictures]) {
    if (sha256 === null) continue;
    const bytes = (await blobs.stat("source", sha256).catch(() => null))?.bytes ?? 0;
    if ((await failedBytes.spent(image.accountId)) + bytes > FAILED_SOURCE_BYTES_PER_DAY)
      await keeper.drop(sha256);
    else await failedBytes.spend(image.accountId, bytes);
  }
}

/**
 * Makes one attempt. Every kind of failure becomes an outcome, so that no image waits for its lease to
 * expire.
 */
async function attempt(
  deps: RenderImageDeps,
  renderer: Renderer,
  image: Claimed,
  signal: AbortSignal,
): Promise<RenderEnd> {
  const outputPath = join(deps.folder.scratch, image.leaseToken);
  const backPath = `${outputPath}-back`;
  try {
    const job = await renderJob(deps, image, outputPath);
    const { preset } = job.card.style;
    if (job.template === undefined && (await isGone(deps.templates, preset)))
      return { kind: "refused", message: templateGone(preset), reason: "preset_gone" };
    const outcome = await renderer.render(job, (stage: Stage) => deps.progress.reach(image.id, stage));
    if (outcome.kind === "refused")
      return (await isPhotoWhole(deps, image, job)) ? outcome : { kind: "photo_lost" };
    const back = job.card.style.back
      ? await drawBack(renderer, { ...job, outputPath: backPath }, outcome.file)
      : null;
    if (back?.kind === "refused") return back;
    noteStages(deps.meter, outcome.file.timingsMs);
    const sides = {
      front: { ...outcome.file, path: outputPath },
      back: back && { ...back.file, path: backPath },
    };
    return { kind: "completed", output: await keepCard(deps, image, sides) };
  } catch (error) {
    if (error instanceof RenderInterrupted) return { kind: "requeued" };
    deps.log.warn("render_fault", { imageId: image.id, renders: image.renders, error: String(error) });
    // A stop signal often reaches the whole process group: the browser was stopped, it did not crash.
    if (signal.aborted) return { kind: "requeued" };
    if (isStorageFault(error)) return { kind: "requeued", pauseMs: STORAGE_RETRY_MS };
    return { kind: "fault" };
  } finally {
    // If it cannot be removed now, a sweep or the next start will.
    for (const path of [outputPath, backPath]) await removeWhole(path).catch(() => {});
  }
}

/**
 * Draws the other side of a card whose front has just been drawn, which tells its time as one of its stages.
 * Both are drawn before either is stored: an image has all that was asked for, or nothing.
 */
async function drawBack(renderer: Renderer, job: RenderJob, front: RenderedFile) {
  const drawn = await renderer.render({ ...job, side: "back" }, () => {});
  if (drawn.kind !== "refused") front.timingsMs.back = drawn.file.timingsMs.total ?? 0;
  return drawn;
}

/** Stages are few and named by the renderer; the total goes by that name. */
function noteStages(meter: Meter, { total: _, ...stages }: Record<string, number>): void {
  for (const [stage, ms] of Object.entries(stages))
    meter.time("cardpress_stage_seconds", { stage }, ms / 1000);
}

/**
 * A template the operator has delisted is still drawn while its files exist; a listed one whose files are
 * missing will come back.
 */
async function isGone(templates: TemplateRegistry, preset: string): Promise<boolean> {
  return !(await templates.listed()).includes(preset) && !(await templates.has(preset));
}

function templateGone(preset: string): string {
  return `The card template "${preset}" was removed from this service before the card was made. Nothing was charged; send the request again with a template that GET /v1/presets lists and a new Idempotency-Key.`;
}

/**
 * Whether the photo is still the one that was fetched. A file that our disk lost or damaged looks like a bad
 * photo, and would again for everybody who sends the same one, so it is removed.
 */
async function isPhotoWhole(
  { log, blobs }: RenderImageDeps,
  image: Claimed,
  { photoPath, photoSha256 }: RenderJob,
): Promise<boolean> {
  const hasher = new Bun.CryptoHasher("sha256");
  const photo = await blobs.open("source", photoSha256).catch((error) => {
    // A bucket out of reach says nothing about the photo.
    if (storageFault(error)) throw error;
    return null;
  });
  const bytes = await photo?.bytes().catch(() => null);
  if (bytes && hasher.update(bytes).digest("hex") === photoSha256) return true;
  log.error("photo_lost", { imageId: image.id, photo: photoPath, found: bytes ? "damaged" : "missing" });
  await blobs.remove("source", photoSha256);
  return false;
}

async function renderJob(
  { store, blobs }: RenderImageDeps,
  image: Claimed,
  outputPath: string,
): Promise<RenderJob> {
  const { sourceSha256, badgeSha256 } = image;
  if (sourceSha256 === null) throw new Error(`image ${image.id} has no photo`);
  return {
    jobId: image.leaseToken,
    card: storedCard(image),
    ...(await pinnedTemplate(blobs, image)),
    photoPath: await blobs.local("source", sourceSha256),
    photoSha256: sourceSha256,
    badgePath: badgeSha256 === null ? null : await blobs.local("source", badgeSha256),
    picturePaths: await picturePaths(blobs, await picturesOfImage(store.read, image.id)),
    outputPath,
  };
}

/** Where the pictures among an image's own fields are, by the fields' names. */
export async function picturePaths(
  blobs: Pick<Blobs, "local">,
  pictures: FieldPictures,
): Promise<Record<string, string>> {
  const paths = Object.entries(pictures).map(
    async ([field, sha256]) => [field, await blobs.local("source", sha256)] as const,
  );
  return Object.fromEntries(await Promise.all(paths));
}

/** The template an image was accepted with; nothing for images older than kept templates. */
export async function pinnedTemplate(
  blobs: Blobs,
  { templateDigest: digest }: Pick<Image, "templateDigest">,
): Promise<Pick<RenderJob, "template">> {
  if (digest === null || !(await blobs.stat("template", digest))) return {};
  return { template: { digest, path: await blobs.local("template", digest) } };
}
