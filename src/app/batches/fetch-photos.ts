import { Refusal } from "../../core/errors.ts";
import { storedRequest } from "../../core/image-request.ts";
import {
  BATCH_FETCH_LEASE_MS,
  BATCH_FETCH_PAUSES_MS,
  MAX_BATCH_FETCHES_PER_ACCOUNT,
  MAX_RETRY_PAUSE_MS,
  SOURCE_BYTES_PER_DAY,
} from "../../core/limits.ts";
import { SECOND_MS } from "../../core/time.ts";
import { mayPass } from "../../sources/fetch-source.ts";
import { findAccount } from "../../store/accounts.ts";
import { claimWaiting, hasWaiting, postponeWaiting, queueWaiting } from "../../store/batches.ts";
import type { Image } from "../../store/images.ts";
import type { Tx } from "../../store/store.ts";
import { type FetchSourcesDeps, fetchSources, refuseWhenSpent } from "../images/fetch-sources.ts";
import { failImagesUnbegun } from "../images/finish-image.ts";
import type { SourceKeeper } from "../images/source-keeper.ts";

export interface FetchPhotosDeps extends FetchSourcesDeps {
  keeper: SourceKeeper;
}

/** Fetches photos for batches, a few at a time per account, in fair order. */
export interface PhotoFetcher {
  /** Fetches the next photo, if any, and calls `more` once it is claimed. */
  fetchNext(signal: AbortSignal, more: () => void): Promise<void>;
}

/** `onQueued`: an image is ready to render; `onEnd`: one has failed, and a webhook event was written. */
export function photoFetcher(
  deps: FetchPhotosDeps,
  { onQueued, onEnd }: { onQueued: () => void; onEnd: () => void },
): PhotoFetcher {
  const underWay = new Map<string, string>();
  const tries = new Map<string, number>();

  const take = async (): Promise<Image | undefined> => {
    const counts = Map.groupBy(underWay.values(), (account) => account);
    const busy = [...counts].filter(([, own]) => own.length >= MAX_BATCH_FETCHES_PER_ACCOUNT);
    const { store, clock } = deps;
    const exceptAccounts = busy.map(([account]) => account);
    if (!(await hasWaiting(store.read, { now: clock.now(), exceptAccounts }))) return undefined;
    const claim = (tx: Tx) => {
      const now = clock.now();
      return claimWaiting(tx, { now, exceptAccounts, until: now + BATCH_FETCH_LEASE_MS });
    };
    const image = await store.write("claim photo", claim, { sideBySide: true });
    if (image) underWay.set(image.id, image.accountId);
    return image;
  };

  return {
    fetchNext: async (signal, more) => {
      const image = await take();
      if (!image) return;
      more();
      try {
        const isQueued = await fetchOne(deps, image, signal);
        tries.delete(image.id);
        if (isQueued) onQueued();
      } catch (error) {
        if (signal.aborted) return await giveBack(deps, image);
        if (await postpone(deps, image, error, tries)) return;
        tries.delete(image.id);
        await failImagesUnbegun(deps, [image.id], (error as Refusal).message);
        onEnd();
      } finally {
        underWay.delete(image.id);
      }
    },
  };
}

/** False when nobody needs the photo any more. Throws as fetchSources does. */
async function fetchOne(deps: FetchPhotosDeps, image: Image, signal: AbortSignal): Promise<boolean> {
  const { store, clock, keeper } = deps;
  const account = await findAccount(store.read, image.accountId);
  if (!account) throw new Error(`account ${image.accountId} is gone`);
  await refuseWhenSpent(
    deps.sourceBytes,
    account,
    SOURCE_BYTES_PER_DAY[account.tier],
    "photos and badges fetched",
  );
  const hold = keeper.hold();
  let used = false;
  try {
    const { accountId, environment } = image;
    const request = storedRequest(image.request);
    const { photo, badge } = await fetchSources(deps, { accountId, environment, request, signal }, hold);
    const sources = { sourceSha256: photo?.sha256 ?? null, badgeSha256: badge?.sha256 ?? null };
    const queued = await store.write(
      "queue card",
      async (tx) => {
        const card = await queueWaiting(tx, image.id, { ...sources, now: clock.now() });
        if (card) await deps.jobs.enqueue(tx, [card]);
        return card;
      },
      { sideBySide: true },
    );
    used = queued !== undefined;
    return used;
  } finally {
    await hold.close(used);
  }
}

/** Nobody has the photo: whoever serves next fetches it at once. */
async function giveBack({ store, clock }: FetchPhotosDeps, image: Image): Promise<void> {
  await store.write("give photo back", (tx) => postponeWaiting(tx, image, clock.now()), { sideBySide: true });
}

/** Whether to retry the fetch later: we were busy, its host may have been, or something of ours broke. */
async function postpone(
  { store, clock, log }: FetchPhotosDeps,
  image: Image,
  error: unknown,
  tries: Map<string, number>,
): Promise<boolean> {
  const pauseMs = pauseAfter(error, tries.get(image.id) ?? 0);
  if (pauseMs === undefined) return false;
  if (!(error instanceof Refusal)) log.warn("batch_fetch_fault", { imageId: image.id, error: String(error) });
  if (mayPass(error)) tries.set(image.id, (tries.get(image.id) ?? 0) + 1);
  await store.write("postpone photo", (tx) => postponeWaiting(tx, image, clock.now() + pauseMs), {
    sideBySide: true,
  });
  return true;
}

const BUSY_PAUSE_MS = 2 * SECOND_MS;

function pauseAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof Refusal)) return MAX_RETRY_PAUSE_MS;
  if (error.code !== "UNSUPPORTED_IMAGE_SOURCE")
    return Math.min((error.retryAfterSeconds ?? 0) * SECOND_MS || BUSY_PAUSE_MS, MAX_RETRY_PAUSE_MS);
  return mayPass(error) ? BATCH_FETCH_PAUSES_MS[failures] : undefined;
}
