import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { LEASE_MS, MAX_REWRITTEN_BYTES, QUICKLY_REWRITTEN_BYTES } from "../../core/limits.ts";
import { imageNotFound } from "../../core/partner-refusals.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { dropPlaceholders } from "../../render/placeholders/placeholder-files.ts";
import { countFailures, countUsage } from "../../store/credits/usage.ts";
import {
  deleteEventsAbout,
  emptyImage,
  emptyRequests,
  endedBefore,
  findOnceOwn,
  forgettingAccounts,
  forgottenWithFiles,
  hasTraces,
  imagesOfPlayer,
  lockImages,
  markErased,
  markFilesGone,
  noteTraces,
} from "../../store/images/forgotten-images.ts";
import { freeAddress } from "../../store/images/idempotency.ts";
import { deleteMetadata } from "../../store/images/image-metadata.ts";
import { picturesOfImage } from "../../store/images/image-pictures.ts";
import type { Image } from "../../store/images/images.ts";
import { deleteReceipt } from "../../store/images/receipts.ts";
import { emptyChecklists } from "../../store/sets/card-sets.ts";
import type { Store, Tx } from "../../store/store.ts";
import { noteBatches } from "../batches/note-batches.ts";
import type { AppContext } from "../context.ts";
import { releaseCredits } from "../credits/credits.ts";
import { removeExported } from "../exports/record-export.ts";
import type { RequestLog } from "../operations/request-log.ts";
import { givePlacesBack } from "../sets/set-places.ts";
import type { SmallerPictures } from "./smaller-pictures.ts";
import type { SourceKeeper } from "./source-keeper.ts";

export interface FileDeps extends AppContext {
  blobs: Blobs;
  keeper: SourceKeeper;
  smaller: SmallerPictures;
}

export interface ForgetDeps extends FileDeps {
  /** Its rows wait a moment to be written, and must not be written after what they describe is gone. */
  requests: Pick<RequestLog, "flush">;
}

interface Scope {
  accountId: string;
  environment: Environment;
}

/** Images per transaction, so that requests never wait long for the writer. */
const AT_ONCE = 50;

/**
 * Deletes an image and everything personal that belongs to it: picture, photo, cutout, request and webhook
 * payloads. An unfinished image ends, and its credit is released. Idempotent. Returns the time of deletion in
 * epoch milliseconds. Throws IMAGE_NOT_FOUND.
 */
export async function forgetImage(deps: ForgetDeps, scope: Scope & { id: string }): Promise<number> {
  await deps.requests.flush();
  const { image, forgottenAt } = await forgetOne(deps, scope);
  if (image.forgottenAt === null) await removeFilesOf(deps, [image]);
  return forgottenAt;
}

/**
 * All but an image's files; returns it as it was. `isAged`: nobody asked for it, so that an address of the
 * card may make it anew.
 */
async function forgetOne(
  deps: FileDeps,
  scope: Scope & { id: string },
  { isAged = false }: { isAged?: boolean } = {},
): Promise<{ image: Image; forgottenAt: number }> {
  const forgotten = await deps.store.write(
    "forget image",
    async (tx) => {
      await deps.jobs.lock(tx, [scope.id]);
      const image = await findOnceOwn(tx, scope);
      if (!image) throw imageNotFound();
      if (isAged) await freeAddress(tx, image.id);
      return { image, forgottenAt: image.forgottenAt ?? (await forgetRow(tx, deps, image)) };
    },
    { concurrent: true },
  );
  deps.endings.notify([forgotten.image.id]);
  return forgotten;
}

/**
 * Deletes every image of a player, finished or not; those created after `until` stay. Returns how many there
 * were.
 */
export async function forgetPlayer(
  deps: FileDeps & Partial<Pick<ForgetDeps, "requests">>,
  scope: Scope & { externalId: string; until?: number },
): Promise<number> {
  await deps.requests?.flush();
  let count = 0;
  for (;;) {
    const images = await deps.store.write(
      "forget player",
      async (tx) => {
        const ids = await imagesOfPlayer(tx, scope, AT_ONCE);
        await deps.jobs.lock(tx, ids);
        const found = await lockImages(tx, ids);
        for (const image of found) await forgetRow(tx, deps, image);
        // Includes refused requests, which have no image.
        const wasLogged = await emptyRequests(tx, scope);
        const wasListed = await emptyChecklists(tx, scope);
        // Otherwise the images' rows remember that there are traces.
        if (found.length === 0 && (wasLogged || wasListed))
          await noteTraces(tx, scope.accountId, deps.clock.now());
        return { ids, found };
      },
      { concurrent: true },
    );
    deps.endings.notify(images.ids);
    await removeFilesOf(deps, images.found);
    count += images.found.length;
    if (images.ids.length < AT_ONCE) return count;
  }
}

/** Empties an image's row. Returns the time that it keeps as that of its deletion. */
async function forgetRow(tx: Tx, { clock, random, jobs }: AppContext, image: Image): Promise<number> {
  const now = clock.now();
  if (image.completedAt === null) {
    await jobs.cancel(tx, [image]);
    await givePlacesBack(tx, [image]);
    await releaseCredits(tx, [image.id], { now, random });
    await countUsage(tx, image, now, { failed: 1, canceled: 1 });
    await countFailures(tx, image, now, { reason: "canceled", failed: 1 });
    await noteBatches(tx, [image], "canceled", { now, random });
  }
  await emptyImage(tx, image, now);
  await deleteMetadata(tx, image.id);
  await deleteReceipt(tx, image.id);
  await removeExported(tx, image.id, now);
  await deleteEventsAbout(tx, image.id);
  await emptyRequests(tx, image);
  return now;
}

/** Pictures that are removed side by side: a bucket takes a while over each. */
const PICTURES_AT_ONCE = 8;

/**
 * Removes the files of images. The rows remember them until they are gone, so that a crash in between leaves
 * no orphans. Returns how many still have some.
 */
async function removeFilesOf(deps: FileDeps, images: Image[], { areOver = false } = {}): Promise<number> {
  const { store, blobs, smaller, clock } = deps;
  // The pictures of test cards are kept for cards that look alike, and show the names.
  if (images.some(({ environment }) => environment === "test")) await dropPlaceholders(blobs);
  const names = images.flatMap(({ outputName, backOutputName }) =>
    [outputName ?? [], backOutputName ?? []].flat(),
  );
  const queue = new PQueue({ concurrency: PICTURES_AT_ONCE });
  await queue.addAll(
    names.map((name) => async () => {
      await blobs.remove("picture", name);
      smaller.drop(name);
    }),
  );
  const forgetSources = sourcesForgotten(deps);
  const gone: string[] = [];
  for (const image of images) {
    const isHeld = !(await forgetSources(image));
    // A renderer that still holds the photo may write its cutout again, and a create that holds it may be
    // refused and leave it: the sweep looks once no lease can be held, until it is gone.
    if (!isHeld && (areOver || image.state !== "rendering")) gone.push(image.id);
  }
  if (gone.length > 0)
    await store.write("mark files gone", (tx) => markFilesGone(tx, gone, clock.now()), { concurrent: true });
  return images.length - gone.length;
}

/** Forgets the photos of deleted images, each once for all of them. False while somebody holds one. */
function sourcesForgotten({ store, keeper }: FileDeps): (image: Image) => Promise<boolean> {
  const known = new Map<string, boolean>();
  const forget = async (sha256: string, { accountId, environment }: Image, keepsUploads = false) => {
    const key = JSON.stringify([sha256, accountId, environment, keepsUploads]);
    const isGone =
      known.get(key) ?? (await keeper.forget(sha256, { accountId, environment }, { keepsUploads }));
    known.set(key, isGone);
    return isGone;
  };
  return async (image) => {
    const { sourceSha256: photo, badgeSha256: badge } = image;
    let isGone = photo === null || (await forget(photo, image));
    // A badge shows no person, and an upload of it is there for other cards and brand kits too.
    if (badge !== null && !(await forget(badge, image, true))) isGone = false;
    // Pictures in fields may show a person too, so they go like the photo.
    for (const sha256 of Object.values(await picturesOfImage(store.read, image.id)))
      if (!(await forget(sha256, image))) isGone = false;
    return isGone;
  };
}

/** Finishes deletions that were interrupted by a crash, or by a render or a create still running. */
export async function finishForgetting(deps: FileDeps): Promise<void> {
  const until = deps.clock.now() - LEASE_MS;
  for (let held = 0; ; ) {
    const left = await forgottenWithFiles(deps.store.read, { until, skip: held, limit: AT_ONCE });
    held += await removeFilesOf(deps, left, { areOver: true });
    if (left.length < AT_ONCE) return;
  }
}

/** Deletes images of accounts that chose to have this done some days after completion. */
export async function forgetAged(deps: FileDeps): Promise<void> {
  for (const { id: accountId, days } of await forgettingAccounts(deps.store.read)) {
    for (const environment of ["live", "test"] as const) {
      const before = deps.clock.now() - days * DAY_MS;
      const due = () => endedBefore(deps.store.read, { accountId, environment }, before, AT_ONCE);
      for (let images = await due(); images.length > 0; images = await due()) {
        const forgotten: Image[] = [];
        for (const { id } of images) {
          const { image } = await forgetOne(deps, { accountId, environment, id }, { isAged: true });
          if (image.forgottenAt === null) forgotten.push(image);
        }
        await removeFilesOf(deps, forgotten);
      }
    }
  }
}

/** From 02:00 to 05:00 UTC. */
const isNight = (now: number) => now % DAY_MS >= 2 * HOUR_MS && now % DAY_MS < 5 * HOUR_MS;
/** A large file is rewritten once a night, however often something is deleted in it. */
const ONCE_MS = 12 * HOUR_MS;
const lastRewrites = new WeakMap<Store, number>();

/**
 * Removes the traces that deleted rows leave in the database; a large file keeps them until the next night,
 * and one above MAX_REWRITTEN_BYTES until its pages are used again.
 */
export async function eraseTraces({ store, clock }: FileDeps, signal?: AbortSignal): Promise<void> {
  if (!(await hasTraces(store.read))) return;
  const now = clock.now();
  const mayTakeLong = isNight(now) && now - (lastRewrites.get(store) ?? 0) >= ONCE_MS;
  const maxBytes = mayTakeLong ? MAX_REWRITTEN_BYTES : QUICKLY_REWRITTEN_BYTES;
  const erased = await store.erase({ maxBytes, signal });
  if (erased && mayTakeLong) lastRewrites.set(store, now);
  if (erased)
    await store.write("mark erased", (tx) => markErased(tx, now, clock.now()), { concurrent: true });
}
