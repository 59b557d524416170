import type { Blobs } from "../../blobs/blobs.ts";
import {
  ACTIVITY_RETENTION_MS,
  DELETION_PAUSE_MS,
  MAIL_RETENTION_MS,
  SOURCE_RETENTION_MS,
} from "../../core/limits.ts";
import { WEBHOOK_RETENTION_MS } from "../../core/outbound-limits.ts";
import { SHARED_PLACEHOLDER_LIFETIME_MS } from "../../core/picture-limits.ts";
import type { Log, LogFields } from "../../core/ports.ts";
import { isProven } from "../../core/steady-clock.ts";
import { HOUR_MS, monthOf } from "../../core/time.ts";
import { dropPlaceholders } from "../../render/placeholders/placeholder-files.ts";
import { deleteExpiredRecords } from "../../store/images/idempotency.ts";
import { expiredOutputs, markPurged, sourceInUse, templateInUse } from "../../store/images/image-files.ts";
import { findImageByOutput, isRendering } from "../../store/images/image-reads.ts";
import { abandonedRenders } from "../../store/images/images.ts";
import { deleteExpiredUploads } from "../../store/images/photos.ts";
import { isPublished } from "../../store/images/templates.ts";
import { accountsToRenew } from "../../store/people/accounts.ts";
import { deleteOldActivity, hasOldActivity } from "../../store/people/activity.ts";
import { deleteOldMails } from "../../store/people/mails.ts";
import { deleteExpiredSessions } from "../../store/people/sessions.ts";
import {
  endpointsWithStranded,
  failPending,
  hasExpiredClaim,
  pullForward,
  releaseClaims,
} from "../../store/webhooks/deliveries.ts";
import {
  deleteOldEvents,
  deleteRemovedEndpoints,
  forgetExpiredSecrets,
  hasExpiredSecret,
  hasOldEvent,
} from "../../store/webhooks/webhooks.ts";
import { finishCanceling } from "../batches/cancel-batch.ts";
import type { AppContext } from "../context.ts";
import { renewPlan } from "../credits/credits.ts";
import { dropUnnamed } from "../exports/manage-bucket.ts";
import { releaseLostExports } from "../exports/send-exports.ts";
import { finishImage } from "../images/finish-image.ts";
import { eraseTraces, finishForgetting, forgetAged } from "../images/forget-image.ts";
import { imageOfOutput } from "../images/output-name.ts";
import { publishDue } from "../images/publish-images.ts";
import type { SmallerPictures } from "../images/smaller-pictures.ts";
import type { SourceKeeper } from "../images/source-keeper.ts";
import { recallEnded } from "../people/consent.ts";
import { dropOldRequests, type RequestLog } from "./request-log.ts";

export interface SweepDeps extends AppContext {
  blobs: Blobs;
  keeper: SourceKeeper;
  smaller: SmallerPictures;
  /** Its rows wait a moment to be written; absent where nothing is requested. */
  requests?: Pick<RequestLog, "flush">;
}

/** Rows per transaction, so that requests never wait long for the writer. */
const BATCH = 200;
/** A file this old that the database does not know belongs to a killed process. */
const ORPHAN_AGE_MS = HOUR_MS;
/** File times come from a coarser clock than ours; they never differ by a second. */
const FILE_TIME_SLACK_MS = 1_000;

/**
 * Requeues renders whose lease has expired (or fails them for good); with `tokens`, instead those of these
 * leases.
 */
export async function requeueAbandoned(
  deps: AppContext,
  options: { tokens?: readonly string[] } = {},
): Promise<number> {
  let count = 0;
  for (;;) {
    const lost = await abandonedRenders(deps.store.read, {
      now: deps.clock.now(),
      limit: BATCH,
      ...options,
    });
    let ended = 0;
    for (const lease of lost) {
      await logFailure(deps.log, { imageId: lease.imageId }, async () => {
        // Somebody else may have ended it meanwhile.
        if (await finishImage(deps, lease, { kind: "fault" }, "requeue")) ended += 1;
      });
    }
    count += ended;
    // If nothing in a batch could be ended, repeating it would not help.
    if (lost.length < BATCH || ended === 0) return count;
  }
}

/** One broken row must not hold up the others, or the service's start: it is logged with its id. */
async function logFailure(log: Log, what: LogFields, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error("sweep_failed", { ...what, error: String(error) });
  }
}

/**
 * Does everything that becomes due by time alone. Idempotent, and safe at any moment. What takes minutes ends
 * with `signal`.
 */
export async function sweep(deps: SweepDeps, signal?: AbortSignal): Promise<void> {
  const steps = [
    () => requeueAbandoned(deps),
    () => releaseLateClaims(deps),
    () => releaseLostExports(deps),
    () => dropUnnamed(deps),
    () => failStranded(deps),
    () => finishCanceling(deps),
    () => publishDue(deps),
    ...(isBeyondDoubt(deps)
      ? [() => renewPlans(deps), ...deletions(deps, signal)]
      : [
          () =>
            deps.store.write("pull deliveries forward", (tx) => pullForward(tx, deps.clock.now()), {
              concurrent: true,
            }),
        ]),
    () => deps.store.maintain(),
  ];
  for (const step of steps) await logFailure(deps.log, {}, step);
}

const deletions = (deps: SweepDeps, signal: AbortSignal | undefined) => [
  () => dropExpiredRecords(deps),
  () => dropExpiredPictures(deps),
  () => sweepWebhooks(deps),
  () => dropExpiredUploads(deps),
  () => dropPlaceholders(deps.blobs, deps.clock.now() - SHARED_PLACEHOLDER_LIFETIME_MS),
  () => dropOldRequests(deps),
  () => recallEnded(deps),
  () => forgetAged(deps),
  () => finishForgetting(deps),
  () => eraseTraces(deps, signal),
  () => dropOldActivity(deps),
  () =>
    deps.store.write(
      "drop old mails",
      (tx) => deleteOldMails(tx, deps.clock.now() - MAIL_RETENTION_MS, BATCH),
      { concurrent: true },
    ),
  () =>
    deps.store.write("drop expired sessions", (tx) => deleteExpiredSessions(tx, deps.clock.now()), {
      concurrent: true,
    }),
];

/**
 * What is deleted, and plan credits that expire, do not come back, so the time that makes it due must be
 * beyond doubt.
 */
function isBeyondDoubt({ clock, log }: SweepDeps): boolean {
  if (isProven(clock)) return true;
  log.warn("deletions_paused", {
    because: "the clock of this machine jumped, or was not proven at the start",
    forMs: DELETION_PAUSE_MS - (clock.settledForMs?.() ?? 0),
  });
  return false;
}

async function renewPlans({ store, clock, random, log }: SweepDeps): Promise<void> {
  for (;;) {
    const ids = await accountsToRenew(store.read, monthOf(clock.now()), BATCH);
    let renewed = 0;
    for (const accountId of ids) {
      await logFailure(log, { accountId }, async () => {
        await store.write("renew plan", (tx) => renewPlan(tx, accountId, { now: clock.now(), random }), {
          concurrent: true,
        });
        renewed += 1;
      });
    }
    if (ids.length < BATCH || renewed === 0) return;
  }
}

async function dropExpiredRecords({ store, clock }: SweepDeps): Promise<void> {
  for (;;) {
    const dropped = await store.write(
      "drop expired records",
      (tx) => deleteExpiredRecords(tx, clock.now(), BATCH),
      { concurrent: true },
    );
    if (dropped < BATCH) return;
  }
}

async function dropExpiredPictures({ store, clock, blobs }: SweepDeps): Promise<void> {
  for (;;) {
    const due = await expiredOutputs(store.read, clock.now(), BATCH);
    if (due.length === 0) return;
    // Files first: a picture whose row says "purged" must be gone. After a crash in between, removal is
    // repeated.
    for (const name of due.flatMap(({ names }) => names)) await blobs.remove("picture", name);
    await store.write(
      "drop expired pictures",
      (tx) =>
        markPurged(
          tx,
          due.map((row) => row.id),
          clock.now(),
        ),
      { concurrent: true },
    );
  }
}

async function dropOldActivity({ store, clock }: SweepDeps): Promise<void> {
  const before = clock.now() - ACTIVITY_RETENTION_MS;
  // An idle service takes no write lock.
  while (await hasOldActivity(store.read, before)) {
    const dropped = await store.write("drop old activity", (tx) => deleteOldActivity(tx, before, BATCH), {
      concurrent: true,
    });
    if (dropped < BATCH) return;
  }
}

async function releaseLateClaims({ store, clock }: SweepDeps): Promise<void> {
  if (await hasExpiredClaim(store.read, clock.now()))
    await store.write("release claims", (tx) => releaseClaims(tx, { now: clock.now() }), {
      concurrent: true,
    });
}

/**
 * Should the endpoint have been enabled since, what is failed here can be recovered like all that it missed.
 */
async function failStranded({ store, clock }: SweepDeps): Promise<void> {
  for (const id of await endpointsWithStranded(store.read))
    await store.write("fail stranded", (tx) => failPending(tx, id, clock.now()), { concurrent: true });
}

async function sweepWebhooks({ store, clock }: SweepDeps): Promise<void> {
  if (await hasExpiredSecret(store.read, clock.now()))
    await store.write("forget expired secrets", (tx) => forgetExpiredSecrets(tx, clock.now()), {
      concurrent: true,
    });
  for (;;) {
    const before = clock.now() - WEBHOOK_RETENTION_MS;
    if (!(await hasOldEvent(store.read, before))) return;
    const dropped = await store.write("drop old events", (tx) => deleteOldEvents(tx, before, BATCH), {
      concurrent: true,
    });
    if (dropped > 0)
      await store.write("drop removed endpoints", (tx) => deleteRemovedEndpoints(tx), { concurrent: true });
    if (dropped < BATCH) return;
  }
}

/** The photos themselves are removed once nothing else needs them. */
async function dropExpiredUploads({ store, clock, keeper }: SweepDeps): Promise<void> {
  for (;;) {
    const dropped = await store.write(
      "drop expired uploads",
      (tx) => deleteExpiredUploads(tx, clock.now(), BATCH),
      { concurrent: true },
    );
    for (const sha256 of dropped) await keeper.drop(sha256);
    if (dropped.length < BATCH) return;
  }
}

export interface FileSweep {
  /**
   * Older files were left by an earlier process and are removed without a grace period. Not given where
   * several processes write: what one of them has just put there, and not yet recorded, is younger than the
   * grace period.
   */
  startedAt?: number;
  /** Leave alone what is kept for all processes: another one looks after it. */
  onlyOwn?: boolean;
}

/**
 * Removes unreferenced files: pictures of renders that never finished, half-written files of killed
 * processes, and photos no unfinished image needs. Scans all files, so it runs at start and hourly. Returns
 * the number removed.
 */
export async function sweepFiles(deps: SweepDeps, options: FileSweep = {}): Promise<number> {
  const { store, blobs, clock, keeper } = deps;
  const { startedAt = 0, onlyOwn = false } = options;
  if (!isBeyondDoubt(deps)) return 0;
  const now = clock.now();
  const orphaned = now - Math.min(ORPHAN_AGE_MS, now - startedAt + FILE_TIME_SLACK_MS);
  const unused = now - SOURCE_RETENTION_MS;
  let removed = await blobs.tidy(orphaned);
  for await (const name of blobs.list("cutout", unused)) if (await blobs.remove("cutout", name)) removed += 1;
  if (onlyOwn) return removed;
  for await (const name of blobs.list("picture", orphaned)) {
    // A render of another process may be about to name it. Asked first: one that ends in between has done so.
    if (options.startedAt === undefined && (await isRendering(store.read, imageOfOutput(name)))) continue;
    if (await findImageByOutput(store.read, name)) continue;
    if (await blobs.remove("picture", name)) removed += 1;
  }
  for await (const sha256 of blobs.list("source", unused)) {
    if (await sourceInUse(store.read, sha256)) continue;
    // A create that reuses a photo refreshes its age first.
    if (await keeper.dropUnused(sha256, unused)) removed += 1;
  }
  for await (const digest of blobs.list("template", unused)) {
    if ((await templateInUse(store.read, digest)) || (await isPublished(store.read, digest))) continue;
    // A create being accepted with it refreshes its age first.
    if (await blobs.remove("template", digest, { unlessYoungerThan: unused })) removed += 1;
  }
  return removed;
}
