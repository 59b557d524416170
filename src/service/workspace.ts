import type { AppContext } from "../app/context.ts";
import { type DailyBytes, dailyBytes } from "../app/images/daily-bytes.ts";
import { type DiskRoom, diskRoom } from "../app/images/disk-room.ts";
import { endings } from "../app/images/endings.ts";
import { type SmallerPictures, smallerPictures } from "../app/images/smaller-pictures.ts";
import { type SourceKeeper, sourceKeeper } from "../app/images/source-keeper.ts";
import { type DiskGauge, diskGauge } from "../app/operations/doctor/disk-use.ts";
import { type OpenStore, openPlaces } from "../app/places.ts";
import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import type { Blobs } from "../blobs/blobs.ts";
import type { Config } from "../config.ts";
import { type Count, type Meter, meter } from "../core/metrics.ts";
import type { Clock, Log, LogFields, Random } from "../core/ports.ts";
import { secretBox } from "../core/secret-box.ts";
import { type SharedPlaceholders, sharedPlaceholders } from "../render/placeholders/placeholder-files.ts";
import type { SharedHolds } from "../state/holds.ts";
import { memoryState } from "../state/memory-state.ts";
import { type Nodes, onlyNode } from "../state/nodes.ts";
import type { SharedNodesOptions } from "../state/shared-nodes.ts";
import type { SharedStateOptions } from "../state/shared-state.ts";
import type { ShortLivedState } from "../state/state.ts";
import { publishedTemplates } from "../store/images/templates.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../system/clock-file.ts";
import { type DataFolder, openDataFolder } from "../system/data-folder.ts";
import { freeBytes } from "../system/disk-space.ts";
import { type PublishedTemplates, type TemplateRegistry, templateRegistry } from "../templates/registry.ts";
import { BUILD } from "../version.ts";
import { rewriteCommand, systemRandom } from "./system.ts";

/**
 * How hosts of photos and webhooks are resolved, and which authorities are trusted besides the public ones.
 */
export type Outbound = NonNullable<WebhookContext["outbound"]>;

/** What commands on a data folder need; can be used beside a running server. */
export interface Workspace extends AppContext {
  folder: DataFolder;
  blobs: Blobs;
  state: ShortLivedState;
  /** The processes that serve from this database. */
  nodes: Nodes;
  outbound: Outbound;
  /** Finished pictures in other sizes. */
  smaller: SmallerPictures;
  keeper: SourceKeeper;
  /** What the creates of all processes hold; absent where one process serves. */
  holds?: SharedHolds;
  placeholders: SharedPlaceholders;
  templates: TemplateRegistry;
  /** Refuses creates when the disk is full. */
  room: DiskRoom;
  /** Reports what uses the disk. */
  disk: DiskGauge;
  /** Bytes each account has used today: fetched, kept of failures, drawn for test images. */
  sourceBytes: DailyBytes;
  failedBytes: DailyBytes;
  placeholderBytes: DailyBytes;
}

export interface WorkspaceOptions {
  /** The data folder, if it is already open. */
  folder?: DataFolder;
  /** Read the whole database first, and refuse a damaged one. */
  verify?: boolean;
  /** Memory-map the database, for a command that reads all of it. */
  mapped?: boolean;
  clock?: Clock;
  random?: Random;
  outbound?: Outbound;
  /** Opens the store another way: the crash tests insert themselves between it and its users. */
  openStore?: OpenStore;
}

/** Opens the data folder and its database. Throws an OperatorError when either cannot be used as it is. */
export async function openWorkspace(
  config: Config,
  log: Log,
  options: WorkspaceOptions = {},
): Promise<Workspace> {
  const { verify = false, mapped = false, clock = systemClock, random = systemRandom } = options;
  const { openStore, folder = openDataFolder(config.dataDir), outbound = {} } = options;
  const places = await openPlaces(config, folder, {
    openStore,
    verify,
    mapped,
    log,
    rewriteCommand: rewriteCommand(),
  });
  const { store, jobs, blobs, secretKey } = places;
  const secrets = secretBox(secretKey, random.bytes);
  const now = () => clock.now();
  const node = random.id("node");
  const { state, nodes, holds } = store.rawQuery
    ? await sharedAmongNodes({ rawQuery: store.rawQuery, now, secrets, clock, name: node, version: BUILD })
    : { state: memoryState(now), nodes: onlyNode(node), holds: undefined };
  const counts = meter();
  const templates = templateRegistry({ ...config, published: publishedIn(store, blobs) });
  return {
    node,
    nodes,
    config,
    folder,
    blobs,
    outbound,
    store,
    jobs,
    log: counted(log, counts),
    meter: counts,
    endings: endings({ others: store.rawQuery !== undefined }),
    clock,
    random,
    secrets,
    ...(holds && { holds }),
    keeper: sourceKeeper({ store, blobs, log, holds }),
    placeholders: sharedPlaceholders(blobs),
    smaller: smallerPictures(blobs),
    templates,
    room: diskRoom({
      clock,
      log,
      minFreeBytes: config.minFreeDiskBytes,
      free: () => freeBytes(folder.root),
    }),
    disk: diskGauge(folder, () => clock.now()),
    state,
    sourceBytes: dailyBytes("fetched", { state, clock }),
    failedBytes: dailyBytes("failed", { state, clock }),
    placeholderBytes: dailyBytes("drawn", { state, clock }),
  };
}

/** Templates that designers published to this service: rows in its database, files among its blobs. */
function publishedIn(store: Store, blobs: Blobs): PublishedTemplates {
  return {
    all: async () =>
      (await publishedTemplates(store.read)).map(({ isListed, ...row }) => ({
        ...row,
        isListed: isListed === 1,
      })),
    archive: async (digest) => (await (await blobs.open("template", digest))?.bytes()) ?? null,
  };
}

/** Loaded only where several processes serve from one database. */
async function sharedAmongNodes(options: SharedStateOptions & SharedNodesOptions) {
  const [{ sharedState }, { sharedNodes }, { sharedHolds }] = await Promise.all([
    import("../state/shared-state.ts"),
    import("../state/shared-nodes.ts"),
    import("../state/shared-holds.ts"),
  ]);
  return { state: sharedState(options), nodes: sharedNodes(options), holds: sharedHolds(options) };
}

/** The same log, with counted lines, so that an alert rule can react to errors. */
function counted(log: Log, counts: Meter): Log {
  const at = (level: keyof Log) => {
    // Named once, with the first line: there is one for each request.
    let count: Count | undefined;
    return (event: string, fields?: LogFields) => {
      count ??= counts.count("cardpress_log_lines_total", { level });
      count();
      log[level](event, fields);
    };
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}
