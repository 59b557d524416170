import {
  BATCH_FETCH_LEASE_MS,
  BATCH_FETCH_PAUSES_MS,
  MAX_COUNTED_BATCH_FETCHES,
} from "../../core/batch-fetch-limits.ts";
import { Refusal } from "../../core/errors.ts";
import { storedRequest } from "../../core/image-request.ts";
import { MAX_RETRY_PAUSE_MS, SOURCE_BYTES_PER_DAY } from "../../core/limits.ts";
import { searchedName } from "../../core/name.ts";
import { DAY_MS, SECOND_MS } from "../../core/time.ts";
import { failureReasonOf, mayPass } from "../../sources/fetch-source.ts";
import type { Counters, ShortLivedState } from "../../state/state.ts";
import { claimWaiting, nextWaiting, postponeWaiting, queueWaiting } from "../../store/images/batches.ts";
import { insertPictures } from "../../store/images/image-pictures.ts";
import type { Image } from "../../store/images/images.ts";
import { findAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import { type FetchSourcesDeps, fetchSources, refuseWhenSpent } from "../images/fetch-sources.ts";
import { failImagesUnbegun } from "../images/finish-image.ts";
import { manifestOf, type PinnedManifestDeps } from "../images/pinned-manifest.ts";
import type { SourceKeeper } from "../images/source-keeper.ts";
import { obeyConsents } from "../people/consent.ts";
import { type FetchSlot, fetchSlots } from "./fetch-slots.ts";

export interface FetchPhotosDeps extends FetchSourcesDeps, PinnedManifestDeps {
  keeper: SourceKeeper;
  /** Counts what all servers fetch. */
  state: ShortLivedState;
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
  const { store, clock, state } = deps;
  const slots = fetchSlots(deps);
  const tries = state.counters("batch fetch tries", { forMs: DAY_MS, maxKeys: MAX_COUNTED_BATCH_FETCHES });

  const take = async (): Promise<{ image: Image; slot: FetchSlot } | undefined> => {
    const exceptAccounts = slots.accountsFullHere();
    for (;;) {
      const next = await nextWaiting(store.read, { now: clock.now(), exceptAccounts });
      if (!next) return undefined;
      const slot = await slots.take(next.accountId);
      if (!slot) {
        exceptAccounts.push(next.accountId);
        continue;
      }
      const claim = (tx: Tx) => {
        const now = clock.now();
        return claimWaiting(tx, next.id, { now, until: now + BATCH_FETCH_LEASE_MS });
      };
      const image = await store.write("claim photo", claim, { concurrent: true }).catch(async (error) => {
        await slot.giveBack();
        throw error;
      });
      if (image) return { image, slot };
      await slot.giveBack();
    }
  };

  return {
    fetchNext: async (signal, more) => {
      const taken = await take();
      if (!taken) return;
      const { image, slot } = taken;
      more();
      try {
        const outcome = await fetchOne(deps, image, signal);
        if (outcome === "queued") onQueued();
        if (outcome === "refused") onEnd();
      } catch (error) {
        if (signal.aborted) return await giveBack(deps, image);
        if (await postpone(deps, image, error, tries)) return;
        const { message } = error as Refusal;
        await failImagesUnbegun(deps, [image.id], { message, reason: failureReasonOf(error) });
        onEnd();
      } finally {
        await slot.giveBack();
      }
    },
  };
}

/**
 * Fetches an image's photo and queues it. `gone`: nobody needs it any more; `refused`: the player's consent
 * was withdrawn since, so that it has failed. Throws as fetchSources does.
 */
async function fetchOne(
  deps: FetchPhotosDeps,
  image: Image,
  signal: AbortSignal,
): Promise<"queued" | "gone" | "refused"> {
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
    const template = await manifestOf(deps, request.style.preset, image.templateDigest);
    const wanted = { accountId, environment, request, template, signal };
    const { photo, badge, pictures } = await fetchSources(deps, wanted, hold);
    const sources = { sourceSha256: photo?.sha256 ?? null, badgeSha256: badge?.sha256 ?? null };
    const { card, fault } = await store.write(
      "queue card",
      async (tx) => {
        const now = clock.now();
        // Consent may have been withdrawn, or limited, while the card waited.
        const { requests, faults } = await obeyConsents(tx, accountId, [request], now);
        if (faults[0]) return { fault: faults[0].detail };
        const [allowed = request] = requests;
        const isSame = allowed.player.name === request.player.name;
        const shorter = { request: allowed, playerName: searchedName(allowed.player.name) };
        const card = await queueWaiting(tx, image.id, { ...sources, ...(isSame ? {} : shorter), now });
        if (card) await insertPictures(tx, card.id, pictures);
        if (card) await deps.jobs.enqueue(tx, [card]);
        return { card };
      },
      { concurrent: true },
    );
    used = card !== undefined;
    if (!fault) return used ? "queued" : "gone";
    const message = `${fault.field} ${fault.message}`;
    await failImagesUnbegun(deps, [image.id], { message, reason: "consent" });
    return "refused";
  } finally {
    await hold.close(used);
  }
}

/** Nobody has the photo: the next server fetches it at once. */
async function giveBack({ store, clock }: FetchPhotosDeps, image: Image): Promise<void> {
  await store.write("give photo back", (tx) => postponeWaiting(tx, image, clock.now()), { concurrent: true });
}

/** Whether to retry the fetch later: we were busy, its host may have been, or something of ours broke. */
async function postpone(
  { store, clock, log }: FetchPhotosDeps,
  image: Image,
  error: unknown,
  tries: Counters,
): Promise<boolean> {
  const failures = mayPass(error) ? await tries.add(image.id, 1) : 0;
  const pauseMs = pauseAfter(error, failures);
  if (pauseMs === undefined) return false;
  if (!(error instanceof Refusal)) log.warn("batch_fetch_fault", { imageId: image.id, error: String(error) });
  await store.write("postpone photo", (tx) => postponeWaiting(tx, image, clock.now() + pauseMs), {
    concurrent: true,
  });
  return true;
}

const BUSY_PAUSE_MS = 2 * SECOND_MS;

/** `failures`: of all servers, this one with them, where another try may help. */
function pauseAfter(error: unknown, failures: number): number | undefined {
  if (!(error instanceof Refusal)) return MAX_RETRY_PAUSE_MS;
  if (error.code !== "UNSUPPORTED_IMAGE_SOURCE")
    return Math.min((error.retryAfterSeconds ?? 0) * SECOND_MS || BUSY_PAUSE_MS, MAX_RETRY_PAUSE_MS);
  return mayPass(error) ? BATCH_FETCH_PAUSES_MS[failures - 1] : undefined;
}
