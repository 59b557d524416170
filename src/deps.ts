import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { customAlphabet } from "nanoid";
import { type AcceptImage, acceptImage } from "./app/accept-image.ts";
import type { AppContext } from "./app/context.ts";
import { type DailyBytes, dailyBytes } from "./app/daily-bytes.ts";
import { createDeliverer } from "./app/deliver-webhook.ts";
import { type FetchGate, fetchGate } from "./app/fetch-gate.ts";
import { type Loop, startLoop } from "./app/loop.ts";
import { unreadableEndpoints, type WebhookContext } from "./app/manage-webhooks.ts";
import { mockNextImage } from "./app/mock-image.ts";
import { type ProgressBoard, progressBoard } from "./app/progress.ts";
import { type QueueEstimate, queueEstimate } from "./app/queue-estimate.ts";
import { renderNextImage } from "./app/render-image.ts";
import { backUpWhenDue } from "./app/scheduled-backup.ts";
import { type SourceKeeper, sourceKeeper } from "./app/source-keeper.ts";
import { requeueAbandoned, sweep, sweepFiles } from "./app/sweep.ts";
import { keepClockMark, readClockMark, systemClock } from "./clock-file.ts";
import type { Config } from "./config.ts";
import { OperatorError } from "./core/errors.ts";
import {
  BACKUP_POLL_MS,
  CLOCK_TOLERANCE_MS,
  LONG_ABSENCE_MS,
  QUEUE_POLL_MS,
  SWEEP_INTERVAL_MS,
  WEBHOOK_POLL_MS,
} from "./core/limits.ts";
import type { Clock, Log, Random } from "./core/ports.ts";
import { isSamplePhoto } from "./core/sample-photo.ts";
import { secretBox } from "./core/secret-box.ts";
import { type SteadyClock, steadyClock } from "./core/steady-clock.ts";
import { type DataFolder, openDataFolder, refuseLostDatabase } from "./data-folder.ts";
import { type FileLock, lockFile } from "./file-lock.ts";
import { findChromium } from "./render/chromium.ts";
import { type SharedPlaceholders, sharedPlaceholders } from "./render/placeholder-files.ts";
import { createRenderPool, type RenderPool } from "./render/pool.ts";
import { browsersIn, endGroup } from "./render/process-group.ts";
import type { PressOptions } from "./render/protocol.ts";
import { loadSecretKey } from "./secret-key.ts";
import { createSourceFetcher } from "./sources/fetch-source.ts";
import { SAMPLE_PHOTO } from "./sources/sample-photo.ts";
import { latestChange } from "./store/accounts.ts";
import { releaseClaims } from "./store/deliveries.ts";
import { openSqliteStore } from "./store/sqlite.ts";
import { type TemplateRegistry, templateRegistry } from "./templates/registry.ts";

// Builds the real parts, once, in the order they depend on each other. A plain object, no container.

const letters = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 24);
export const systemRandom: Random = {
  id: (prefix) => `${prefix}_${letters()}`,
  bytes: (length) => new Uint8Array(randomBytes(length)),
};

/** What commands on the data folder need; works beside a running server. */
export interface Workspace extends AppContext {
  folder: DataFolder;
  keeper: SourceKeeper;
  placeholders: SharedPlaceholders;
  templates: TemplateRegistry;
  /** Bytes each account has spent today: fetched, left behind by failures, drawn for test images. */
  sourceBytes: DailyBytes;
  failedBytes: DailyBytes;
  placeholderBytes: DailyBytes;
}

export interface WorkspaceOptions {
  /** Read the whole database first and refuse a damaged one. */
  verify?: boolean;
  /** Read the database through memory, for a command that reads all of it. */
  mapped?: boolean;
  clock?: Clock;
  random?: Random;
  /** How the addresses of photos and webhooks are looked up and which authorities are trusted besides the public ones. */
  outbound?: NonNullable<WebhookContext["outbound"]>;
  /** Another way to open the store: the crash tests put themselves between it and its users. */
  openStore?: typeof openSqliteStore;
  /** Called once the data folder is ours and before anything starts; what it throws ends the start. */
  beforeStart?: () => Promise<void>;
}

export function openWorkspace(config: Config, log: Log, options: WorkspaceOptions = {}): Workspace {
  const { verify = false, mapped = false, clock = systemClock, random = systemRandom } = options;
  const { openStore = openSqliteStore } = options;
  const folder = openDataFolder(config.dataDir);
  refuseLostDatabase(folder);
  const store = openStore(folder.database, { verify, mapped });
  const secrets = secretBox(loadSecretKey(folder.secretKey), random.bytes);
  return {
    config,
    folder,
    store,
    log,
    clock,
    random,
    secrets,
    keeper: sourceKeeper({ store, folder, log }),
    placeholders: sharedPlaceholders(folder.placeholders),
    templates: templateRegistry(config),
    sourceBytes: dailyBytes(clock),
    failedBytes: dailyBytes(clock),
    placeholderBytes: dailyBytes(clock),
  };
}

/** Everything a server needs, running: the loops are picking up work when this resolves. */
export interface Service extends Workspace {
  pool: RenderPool;
  accept: AcceptImage;
  queue: QueueEstimate;
  progress: ProgressBoard;
  /** For whatever makes a delivery due: a hint to look at once. */
  wakeDeliveries: () => void;
  /** Stops the loops; what they had begun and cannot finish by `deadlineMs` goes back to the queue. */
  drain(deadlineMs: number): Promise<void>;
  /** Ends the rest, after the last request and the drain. */
  close(): Promise<void>;
}

/** How many test images may be in the making; most of the time they only wait. */
const MOCK_CONCURRENCY = 64;
/** At the end of the service receivers get this long to answer; what is then unanswered is sent again later. */
const DELIVERY_GRACE_MS = 5_000;
/** Attempts that end within this time are recorded, and followed by others, in one transaction. */
const DELIVERY_GATHER_MS = 10;
const FILE_SWEEP_INTERVAL_MS = 3_600_000;

/** How a worker process of this very program is started: from source, or from the compiled file. */
export function workerCommand(): string[] {
  return [...programCommand(), "render-worker"];
}

function programCommand(): string[] {
  const compiled = import.meta.path.startsWith("/$bunfs/");
  return compiled ? [process.execPath] : [process.execPath, `${import.meta.dir}/main.ts`];
}

/** The browser and folders a press works with. Throws an OperatorError as root without CARDPRESS_ALLOW_ROOT=1. */
export async function pressOptions(
  config: Config,
  folder: Pick<DataFolder, "cache" | "profiles" | "cutouts">,
): Promise<PressOptions> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && !config.allowRoot) {
    throw new OperatorError(
      "Chromium refuses to run as root with its sandbox. Run cardpress as another user, or set CARDPRESS_ALLOW_ROOT=1 to run Chromium without its sandbox.",
    );
  }
  return {
    chromium: await findChromium({ configuredPath: config.chromiumPath, cacheDir: folder.cache }),
    profilesDir: folder.profiles,
    cutoutsDir: folder.cutouts,
    templatesDir: config.templatesDir ?? null,
    presets: [...config.presets],
    noSandbox: isRoot,
  };
}

export async function startService(
  config: Config,
  log: Log,
  options: WorkspaceOptions = {},
): Promise<Service> {
  // Before anything is touched. Whoever edits a template later gets its last good look instead of a refusal.
  const templates = templateRegistry(config);
  await templates.check();
  // The lock comes next: a second server must not touch, not even migrate, the database of a running one.
  const locked = openDataFolder(config.dataDir);
  const lock = lockFolder(locked);
  await options.beforeStart?.().catch((error) => {
    lock.release();
    throw error;
  });
  const { clock: source = systemClock } = options;
  const known = readClockMark(locked.clockMark, source.elapsed());
  const clock = steadyClock(source, log, known);
  const workspace = {
    ...openWorkspace(config, log, { verify: true, ...options, clock }),
    clock,
    templates,
  };
  const { folder } = workspace;
  if (!known) await doubtStrangeTime(workspace);
  const startedAt = workspace.clock.now();
  // Only this process uses the folder now: what killed ones left behind can go.
  await Promise.all(browsersIn(folder.profiles).map(endGroup));
  await rm(folder.profiles, { recursive: true, force: true });
  const press = await pressOptions(config, openDataFolder(config.dataDir));
  if (press.noSandbox)
    log.warn("chromium_without_sandbox", { because: "running as root with CARDPRESS_ALLOW_ROOT=1" });

  const unreadable = await unreadableEndpoints(workspace);
  if (unreadable.length > 0) {
    log.error("webhook_secrets_unreadable", {
      endpoints: unreadable,
      remedy: `Put the secret.key back that belongs to this data folder, or give each endpoint a new secret with "cardpress webhook rotate".`,
    });
  }
  const cutShort = await workspace.store.write((tx) =>
    releaseClaims(tx, { now: workspace.clock.now(), all: true }),
  );
  if (cutShort > 0) log.info("deliveries_resumed", { count: cutShort });
  const requeued = await requeueAbandoned(workspace, { all: true });
  if (requeued > 0) log.info("renders_resumed", { count: requeued });

  // Nothing before this keeps the process alive: where the database takes no writes, the start fails and ends.
  const { random } = workspace;
  const pool = createRenderPool({
    workers: config.renderWorkers,
    command: workerCommand(),
    press,
    log,
    random,
    // The packaged browser is unpacked anew when something happened to it.
    mend: () => pressOptions(config, folder),
  });
  const progress = progressBoard();
  const queue = queueEstimate({ workers: config.renderWorkers });
  const parts = { ...workspace, pool, progress, queue };

  const deliveries = startDeliveries({ ...workspace, outbound: options.outbound ?? {} });
  const live = startLoop({
    name: "render",
    concurrency: config.renderWorkers,
    pollMs: QUEUE_POLL_MS,
    runOne: (signal, more) => renderNextImage(parts, signal, more).finally(deliveries.wake),
    log,
  });
  const mock = startLoop({
    name: "mock",
    concurrency: MOCK_CONCURRENCY,
    pollMs: QUEUE_POLL_MS,
    runOne: (signal, more) => mockNextImage(parts, signal, more).finally(deliveries.wake),
    log,
  });
  const sweeps = [
    startLoop({
      name: "sweep",
      concurrency: 1,
      pollMs: SWEEP_INTERVAL_MS,
      runOne: async () => {
        await sweep(parts);
        await keepClockMark(folder.clockMark, clock.mark());
      },
      log,
    }),
    startLoop({
      name: "sweep_files",
      concurrency: 1,
      pollMs: FILE_SWEEP_INTERVAL_MS,
      runOne: async () => void (await sweepFiles(parts, startedAt)),
      log,
    }),
    startLoop({
      name: "backup",
      concurrency: 1,
      pollMs: BACKUP_POLL_MS,
      runOne: (signal) => backUpWhenDue({ ...parts, command: programCommand() }, signal),
      log,
    }),
  ];

  const { resolve, ca } = options.outbound ?? {};
  const sources = createSourceFetcher({
    ...(resolve && { resolve }),
    ...(ca !== undefined && { ca }),
    sourcesDir: folder.sources,
    allowedOrigins: config.sourceAllowedOrigins,
    docsUrl: `${config.baseUrl}/docs`,
    ownPhotoAt: (url) => (isSamplePhoto(url, config) ? SAMPLE_PHOTO.path : undefined),
  });
  const gate = fetchGate();
  const accept = acceptImage({
    ...parts,
    sources,
    gate,
    wake: (environment) => (environment === "live" ? live : mock).wake(),
  });
  return {
    ...parts,
    accept,
    drain: (deadlineMs) => drain([live, mock, deliveries, ...sweeps], gate, pool, deadlineMs),
    close: async () => {
      await pool.close();
      await workspace.store.close();
      lock.release();
    },
    wakeDeliveries: deliveries.wake,
  };
}

/** The first start on this machine has only the database to compare the time with. */
async function doubtStrangeTime({ store, clock, log }: AppContext & { clock: SteadyClock }): Promise<void> {
  const lastChange = await latestChange(store.read);
  const sinceMs = lastChange === null ? 0 : clock.now() - lastChange;
  if (sinceMs >= -CLOCK_TOLERANCE_MS && sinceMs <= LONG_ABSENCE_MS) return;
  clock.doubt();
  log.warn("clock_unproven", {
    now: new Date(clock.now()).toISOString(),
    lastChange: new Date(lastChange ?? 0).toISOString(),
    remedy:
      "Look whether the clock of this machine is right. Until somebody had the time to, nothing is deleted.",
  });
}

async function drain(loops: Loop[], gate: FetchGate, pool: RenderPool, deadlineMs: number): Promise<void> {
  // Creates that are fetching go on to their 202; those that only wait would keep the stop waiting too long.
  gate.close();
  const deadline = setTimeout(() => void pool.close(), deadlineMs);
  await Promise.all(loops.map((loop) => loop.stop()));
  clearTimeout(deadline);
}

/** Sends webhooks as long as the service runs. */
export function startDeliveries(context: WebhookContext): Loop {
  let isGathering = false;
  const deliverer = createDeliverer(context, () => {
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      loop.wake();
    }, DELIVERY_GATHER_MS);
  });
  const loop = startLoop({
    name: "deliver",
    concurrency: 1,
    pollMs: WEBHOOK_POLL_MS,
    runOne: async () => void (await deliverer.dispatch()),
    log: context.log,
  });
  return {
    wake: loop.wake,
    stop: async () => {
      const deadline = setTimeout(deliverer.abort, DELIVERY_GRACE_MS);
      await loop.stop();
      await deliverer.idle();
      clearTimeout(deadline);
    },
  };
}

/** One server a folder. */
function lockFolder(folder: DataFolder): FileLock {
  let lock: FileLock | null;
  try {
    lock = lockFile(folder.serverLock);
  } catch (cause) {
    throw new OperatorError(
      `The data folder ${folder.root} cannot be written: ${(cause as Error).message}. Check its permissions, free space, and that its disk is not mounted read-only.`,
    );
  }
  if (lock) return lock;
  throw new OperatorError(
    `Another cardpress server uses ${folder.root}. Stop it first, or set CARDPRESS_DATA_DIR to another folder.`,
  );
}
