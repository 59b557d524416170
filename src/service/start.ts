import { takeOver } from "../app/operations/take-over.ts";
import { readPrintProfile } from "../app/print/print-profile.ts";
import type { Config } from "../config.ts";
import { BATCH_FETCH_LEASE_MS } from "../core/batch-fetch-limits.ts";
import { OperatorError } from "../core/errors.ts";
import { CLOCK_TOLERANCE_MS, DATABASE_CLOCK_TOLERANCE_MS, LONG_ABSENCE_MS } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { type SteadyClock, steadyClock } from "../core/steady-clock.ts";
import { isoTime } from "../core/time.ts";
import type { Release } from "../release.ts";
import { browsersIn, endGroup } from "../render/browser/process-group.ts";
import { createRenderPool, type RenderPool } from "../render/pool.ts";
import type { RenderPoolOptions } from "../render/pool-options.ts";
import { aheadOfDatabase, isOtherTime } from "../state/database-clock.ts";
import { freeWaiting } from "../store/images/batches.ts";
import { latestChange } from "../store/people/accounts.ts";
import { readClockMark, systemClock } from "../system/clock-file.ts";
import { type DataFolder, openDataFolder } from "../system/data-folder.ts";
import { explainingNoRoom } from "../system/no-room.ts";
import { replaceNodeId } from "../system/node-file.ts";
import { templateRegistry } from "../templates/registry.ts";
import { buildDeps, type Deps } from "./deps.ts";
import { drain } from "./drain.ts";
import { lockFolder } from "./lock.ts";
import { startLoops } from "./loops.ts";
import { rendererOptions } from "./renderer-options.ts";
import { emptyFolder } from "./scratch.ts";
import { refuseWrongSecretKey, warnUnreadableSecrets } from "./sealed-secrets.ts";
import { workerCommand } from "./system.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Everything a server needs, running: when this resolves, the loops are picking up work. */
export interface Service extends Deps {
  /** Call when a delivery has become due: a hint to look at once. */
  wakeDeliveries: () => void;
  /** Stops the loops; work that cannot finish by `deadlineMs` returns to the queue. */
  drain(deadlineMs: number): Promise<void>;
  /** Ends the rest, after the last request and the drain. */
  close(): Promise<void>;
}

export interface ServiceOptions extends Omit<WorkspaceOptions, "folder" | "verify" | "mapped"> {
  /** Called once the data folder is locked and before anything starts; if it throws, the start fails. */
  beforeStart?: () => Promise<void>;
  /** Starts the renderers; processes with a browser each when absent. */
  createPool?: (options: RenderPoolOptions) => RenderPool;
  /** The release that this is, and its changelog; this program's when absent. */
  release?: Release;
}

/**
 * Starts the service on its data folder. Throws an OperatorError when the folder, its database or the browser
 * is unusable.
 */
export async function startService(config: Config, log: Log, options: ServiceOptions = {}): Promise<Service> {
  // Before anything is touched.
  await templateRegistry(config).check();
  if (config.printProfile !== undefined) readPrintProfile(config.printProfile);
  return explainingNoRoom(config.dataDir, () => startOnFolder(config, log, options));
}

async function startOnFolder(config: Config, log: Log, options: ServiceOptions): Promise<Service> {
  const folder = openDataFolder(config.dataDir);
  // The lock comes next: a second server must not touch, let alone migrate, the folder of a running one.
  const lock = lockFolder(folder);
  try {
    await options.beforeStart?.();
    const workspace = await openWithSteadyClock(config, log, { ...options, folder });
    // From here on, editing a template keeps the last good version in use instead of refusing cards.
    await workspace.templates.check();
    const startedAt = workspace.clock.now();
    const pool = await startPool(workspace, options.createPool);
    const deps = buildDeps(workspace, {
      pool,
      wake: (environment) => loops[environment].wake(),
      wakeBatches: (environment) => (environment === "live" ? loops.photos : loops.test).wake(),
      ...(options.release && { release: options.release }),
    });
    await workspace.nodes.beat(deps.queue.load());
    // A newer version that came between the opening and the beat saw nobody, and may have changed the tables.
    await workspace.store.confirmSchema?.();
    const loops = startLoops(deps, startedAt);
    return {
      ...deps,
      drain: (deadlineMs) => drain(loops, deps, deadlineMs),
      close: async () => {
        await pool.close();
        await deps.requests.flush();
        await deregister(workspace);
        await workspace.store.close();
        lock.release();
      },
      wakeDeliveries: loops.deliveries.wake,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Servers that do not learn of it by this do so by its silence. */
async function deregister({ nodes, node, log }: Workspace): Promise<void> {
  await nodes.strike(node).catch((error) => log.warn("node_not_struck", { node, error: String(error) }));
}

type SteadyWorkspace = Workspace & { clock: SteadyClock };

/** Opens a workspace with a clock that does not follow every jump of the machine's. */
async function openWithSteadyClock(
  config: Config,
  log: Log,
  options: WorkspaceOptions & { folder: DataFolder },
): Promise<SteadyWorkspace> {
  const { clock: source = systemClock, folder } = options;
  const known = readClockMark(folder.clockMark, source.elapsed());
  const clock = steadyClock(source, log, known);
  const workspace = { ...(await openWorkspace(config, log, { ...options, verify: true, clock })), clock };
  try {
    await refuseWrongSecretKey(workspace);
    await refuseOtherTime(workspace);
  } catch (error) {
    await workspace.store.close();
    throw error;
  }
  if (!known) await distrustImplausibleClock(workspace);
  return workspace;
}

/**
 * Servers on one database go by one time: what one of them believes to be over, by a clock that is ahead,
 * would be over for all.
 */
async function refuseOtherTime({ store, clock }: SteadyWorkspace): Promise<void> {
  if (!store.rawQuery) return;
  const aheadMs = await aheadOfDatabase(store.rawQuery, clock);
  if (!isOtherTime(aheadMs)) return;
  throw new OperatorError(
    `The clock of this machine is ${Math.abs(aheadMs) / 1000} seconds ${aheadMs > 0 ? "ahead of" : "behind"} the database's, which is at ${isoTime(clock.now() - aheadMs)}. Servers on one database must agree within ${DATABASE_CLOCK_TOLERANCE_MS / 1000} seconds. Set the clock that is wrong right, with a time service such as chrony or systemd-timesyncd on both machines, and start again.`,
  );
}

/** On the first start on this machine, only the database can vouch for the time. */
async function distrustImplausibleClock({ store, clock, log }: SteadyWorkspace): Promise<void> {
  const lastChange = await latestChange(store.read);
  const sinceMs = lastChange === null ? 0 : clock.now() - lastChange;
  if (sinceMs >= -CLOCK_TOLERANCE_MS && sinceMs <= LONG_ABSENCE_MS) return;
  clock.doubt();
  log.warn("clock_unproven", {
    now: new Date(clock.now()).toISOString(),
    lastChange: new Date(lastChange ?? 0).toISOString(),
    remedy:
      "Look whether the clock of this machine is right. Until somebody had the time to, for a day, nothing is deleted and no month's credits begin.",
  });
}

/** Clears away what killed processes left behind, requeues their work, and starts the renderers. */
async function startPool(workspace: Workspace, createPool: ServiceOptions["createPool"] = createRenderPool) {
  const { config, folder, log, random } = workspace;
  await clearAway(folder);
  if (config.unknownSettings.length > 0)
    log.warn("unknown_settings", {
      variables: config.unknownSettings,
      remedy: "They have no effect. Correct the spelling, or unset them.",
    });
  const renderer = await rendererOptions(config, folder);
  if (renderer.noSandbox)
    log.warn("chromium_without_sandbox", { because: "running as root with CARDPRESS_ALLOW_ROOT=1" });
  await warnUnreadableSecrets(workspace);
  await resumeWork(workspace);
  // Nothing before this keeps the process alive, so a start fails and exits when the database takes no
  // writes.
  return createPool({
    workers: config.renderWorkers,
    command: workerCommand(),
    renderer,
    log,
    random,
    meter: workspace.meter,
    workerMemoryBytes: config.workerMemoryBytes,
    ...(config.restAfterMs !== undefined && { restAfterMs: config.restAfterMs }),
    // Unpacks the packaged browser again if its files were damaged.
    repair: () => rendererOptions(config, folder),
  });
}

/** Ends the browsers of killed servers, and empties the folders that now belong to this process alone. */
async function clearAway({ profiles, scratch }: DataFolder): Promise<void> {
  await Promise.all(browsersIn(profiles).map(endGroup));
  await Promise.all([emptyFolder(profiles), emptyFolder(scratch)]);
}

/** Takes up what was in progress when an earlier process on this folder ended. */
async function resumeWork(workspace: Workspace): Promise<void> {
  const { store, nodes, folder, node, clock } = workspace;
  if (store.rawQuery) {
    // The folder is locked, so its last node has ended, however lately it said that it lives.
    const before = await replaceNodeId(folder.node, node);
    if (before !== undefined) await nodes.strike(before);
  } else {
    const photos = { now: clock.now(), leaseMs: BATCH_FETCH_LEASE_MS };
    await store.write("free photos", (tx) => freeWaiting(tx, photos));
  }
  await takeOver(workspace);
}
