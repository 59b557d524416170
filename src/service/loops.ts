import { photoFetcher } from "../app/batches/fetch-photos.ts";
import { createExporter } from "../app/exports/send-exports.ts";
import { renderNextImage } from "../app/images/render-image.ts";
import { renderNextTestImage } from "../app/images/render-test-image.ts";
import { type Loop, startLoop } from "../app/loop.ts";
import { writeNotices } from "../app/mail/notices.ts";
import { sendDueMails } from "../app/mail/outbox.ts";
import { smtpTransport } from "../app/mail/smtp.ts";
import { backUpWhenDue } from "../app/operations/backup/scheduled-backup.ts";
import { STATUS_BEAT_MS, statusBeat } from "../app/operations/status.ts";
import { sweep, sweepFiles } from "../app/operations/sweep.ts";
import { takeOver } from "../app/operations/take-over.ts";
import { otlpTraces } from "../app/operations/traces.ts";
import { MAX_BATCH_FETCHES } from "../core/batch-fetch-limits.ts";
import {
  BACKUP_POLL_MS,
  JOB_SUPERVISION_MS,
  MAIL_POLL_MS,
  NODE_BEAT_MS,
  QUEUE_POLL_MS,
  SWEEP_INTERVAL_MS,
} from "../core/limits.ts";
import { EXPORT_POLL_MS, MAX_EXPORTS } from "../core/outbound-limits.ts";
import type { SteadyClock } from "../core/steady-clock.ts";
import { readiness } from "../http/health.ts";
import { isOtherTime } from "../state/database-clock.ts";
import { keepClockMark } from "../system/clock-file.ts";
import { tidyUnpacked } from "../system/unpack-once.ts";
import { startDeliveries } from "./deliveries.ts";
import type { Deps } from "./deps.ts";
import { removeOldFiles } from "./scratch.ts";
import { programCommand } from "./system.ts";

/** Concurrent test images; they spend most of their time waiting. */
const TEST_CONCURRENCY = 64;
/**
 * The longest delay until a request appears in the console, and the most a killed process loses of the log.
 */
const REQUEST_LOG_FLUSH_MS = 1_000;
const FILE_SWEEP_INTERVAL_MS = 3_600_000;
/** A turn is over a little before the next one begins. */
const TURN_SHARE = 0.9;

/** The background loops of a running service. */
export interface Loops {
  live: Loop;
  test: Loop;
  deliveries: Loop;
  /** Fetches the photos of batches. */
  photos: Loop;
  /** Periodic work. */
  chores: Loop[];
  /** Tells the other nodes that this one lives; absent where there are none. */
  beat?: Loop;
}

/** Starts all loops. `startedAt`: older files were left behind by an earlier process. */
export function startLoops(deps: Deps & { clock: SteadyClock }, startedAt: number): Loops {
  const { log, config } = deps;
  const deliveries = startDeliveries(deps);
  const exporter = createExporter(deps);
  const exports = startLoop({
    name: "export",
    concurrency: MAX_EXPORTS,
    pollMs: EXPORT_POLL_MS,
    runOne: (signal, more) => exporter.sendNext(signal, more),
    log,
  });
  const onEnd = () => {
    deliveries.wake();
    exports.wake();
  };
  const traces = config.tracing ? otlpTraces(log) : undefined;
  const live = startLoop({
    name: "render",
    concurrency: config.renderWorkers,
    pollMs: QUEUE_POLL_MS,
    runOne: (signal, more) => renderNextImage({ ...deps, traces }, signal, more).finally(onEnd),
    log,
  });
  const fetcher = photoFetcher(deps, { onQueued: live.wake, onEnd: deliveries.wake });
  return {
    deliveries,
    live: traces ? { wake: live.wake, stop: () => live.stop().finally(traces.close) } : live,
    photos: startLoop({
      name: "batch_photos",
      concurrency: MAX_BATCH_FETCHES,
      pollMs: QUEUE_POLL_MS,
      runOne: fetcher.fetchNext,
      log,
    }),
    test: startLoop({
      // Its name in logs, which operators may filter by.
      name: "mock",
      concurrency: TEST_CONCURRENCY,
      pollMs: QUEUE_POLL_MS,
      runOne: (signal, more) => renderNextTestImage(deps, signal, more).finally(deliveries.wake),
      log,
    }),
    chores: [...startChores(deps, startedAt), exports],
    ...(deps.store.rawQuery && { beat: startBeat(deps) }),
  };
}

/** Sends what is in the outbox and writes due notices; does nothing when mail is not configured. */
function startMail(deps: Deps): Loop[] {
  const { config, log } = deps;
  if (!config.mail) return [];
  const transport = smtpTransport(config.mail);
  const run = async () => {
    await deps.passwordResets.write();
    await writeNotices(deps);
    await sendDueMails(deps, transport);
  };
  const loop = startLoop({ name: "mail", concurrency: 1, pollMs: MAIL_POLL_MS, runOne: run, log });
  const stop = () =>
    loop
      .stop()
      // The last to ask is not forgotten; the next process sends what is written.
      .then(() => deps.passwordResets.write())
      .finally(transport.close);
  return [{ wake: loop.wake, stop }];
}

/** Where there is a public status page, notes the minutes in which this server takes creates. */
function startStatus(deps: Deps): Loop[] {
  if (!deps.config.statusPage) return [];
  const checks = () => readiness({ ...deps, isDraining: () => false });
  const runOne = statusBeat({ ...deps, checks });
  return [startLoop({ name: "status", concurrency: 1, pollMs: STATUS_BEAT_MS, runOne, log: deps.log })];
}

/** Tells the other nodes that this one lives, and takes over from those that do not. */
function startBeat(deps: Deps & { clock: SteadyClock }): Loop {
  const { nodes, queue, log, clock } = deps;
  let isApart = false;
  const runOne = async () => {
    await nodes.beat(queue.load());
    const wasApart = isApart;
    isApart = isOtherTime(nodes.aheadMs());
    if (isApart) clock.doubt();
    if (isApart && !wasApart)
      log.error("clock_differs", {
        aheadOfDatabaseMs: nodes.aheadMs(),
        remedy:
          "Set the clock right that is wrong. Until then this server says on /ready that it takes no work, deletes nothing and begins no month's credits.",
      });
    await takeOver(deps);
  };
  return startLoop({ name: "beat", concurrency: 1, pollMs: NODE_BEAT_MS, runOne, log });
}

/** Of all nodes one does what is for one, each time; if it is killed at it, another one does it next time. */
function choreClaims({ store, state, node }: Deps) {
  return async (name: string, everyMs: number): Promise<boolean> => {
    if (!store.rawQuery) return true;
    return state.values(`turn ${name}`, { forMs: TURN_SHARE * everyMs, maxKeys: 1 }).putNew("", node);
  };
}

/** Where the queue is shared, looks for workers that died. */
function startSupervision({ jobs: { supervise }, log }: Deps): Loop[] {
  if (!supervise) return [];
  return [
    startLoop({
      name: "supervise_queue",
      concurrency: 1,
      pollMs: JOB_SUPERVISION_MS,
      runOne: () => supervise(),
      log,
    }),
  ];
}

function startChores(deps: Deps & { clock: SteadyClock }, startedAt: number): Loop[] {
  const { folder, clock, log, store } = deps;
  const claimsChore = choreClaims(deps);
  return [
    startLoop({
      name: "sweep",
      concurrency: 1,
      pollMs: SWEEP_INTERVAL_MS,
      runOne: async (signal) => {
        if (await claimsChore("sweep", SWEEP_INTERVAL_MS)) {
          await sweep(deps, signal);
          await deps.state.sweep();
          await deps.holds?.sweep();
        }
        await keepClockMark(folder.clockMark, clock.mark());
      },
      log,
    }),
    ...startSupervision(deps),
    startLoop({
      name: "request_log",
      concurrency: 1,
      pollMs: REQUEST_LOG_FLUSH_MS,
      runOne: () => deps.requests.flush(),
      log,
    }),
    startLoop({
      name: "sweep_files",
      concurrency: 1,
      pollMs: FILE_SWEEP_INTERVAL_MS,
      runOne: async () => {
        const onlyOwn = !(await claimsChore("sweep_files", FILE_SWEEP_INTERVAL_MS));
        // A bucket has a clock of its own, so there the start of this process bounds nothing.
        const ownTime = deps.config.bucket === undefined;
        await sweepFiles(deps, store.rawQuery ? { onlyOwn } : ownTime ? { startedAt } : {});
        await deps.disk.measure();
        // A worker killed while writing leaves half a picture.
        await removeOldFiles(folder.scratch, clock.now() - FILE_SWEEP_INTERVAL_MS);
        for (const name of await tidyUnpacked(folder.cache)) log.info("unpacked_removed", { name });
      },
      log,
    }),
    ...startStatus(deps),
    ...startMail(deps),
    startLoop({
      name: "backup",
      concurrency: 1,
      pollMs: BACKUP_POLL_MS,
      runOne: (signal) => backUpWhenDue({ ...deps, command: programCommand() }, signal),
      log,
    }),
  ];
}
