import { readdirSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { ENVIRONMENTS } from "../../core/account.ts";
import type { Sample } from "../../core/metrics.ts";
import { DAY_MS } from "../../core/time.ts";
import type { RenderPool } from "../../render/pool.ts";
import { queueDepth } from "../../store/images/queue-depth.ts";
import { accountNumbers, earliestDue } from "../../store/overviews/gauges.ts";
import { overviewCounts } from "../../store/overviews/overview.ts";
import { countMails } from "../../store/people/mails.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { COMMIT, VERSION } from "../../version.ts";
import type { AppContext } from "../context.ts";
import { readLastBackup } from "./backup/backup-notes.ts";
import type { DiskGauge } from "./doctor/disk-use.ts";

export interface GaugesDeps extends AppContext {
  pool: RenderPool;
  folder: DataFolder;
  disk: DiskGauge;
}

/**
 * The service's current state, as the gauges of /metrics: queue, workers, deliveries, credits, disk, process.
 */
export async function gauges(deps: GaugesDeps): Promise<Sample[]> {
  const groups = await Promise.all([
    queues(deps),
    webhooks(deps),
    accounts(deps),
    storage(deps),
    mails(deps),
  ]);
  return [...groups.flat(), ...workers(deps), ...ownProcess()];
}

async function queues({ store, clock }: GaugesDeps): Promise<Sample[]> {
  const now = clock.now();
  const found = await Promise.all(
    ENVIRONMENTS.map(async (environment) => ({
      environment,
      ...(await queueDepth(store.read, environment)),
    })),
  );
  return found.flatMap(({ environment, queued, rendering, oldestQueuedAt }): Sample[] => [
    { name: "cardpress_images_unfinished", labels: { environment, state: "queued" }, value: queued },
    { name: "cardpress_images_unfinished", labels: { environment, state: "rendering" }, value: rendering },
    {
      name: "cardpress_queue_oldest_seconds",
      labels: { environment },
      value: oldestQueuedAt === null ? 0 : Math.max(0, now - oldestQueuedAt) / 1000,
    },
  ]);
}

async function webhooks({ store, clock }: GaugesDeps): Promise<Sample[]> {
  const now = clock.now();
  const [numbers, due] = await Promise.all([
    overviewCounts(store.read, { since: now - DAY_MS }),
    earliestDue(store.read),
  ]);
  const late = due === null ? 0 : Math.max(0, now - due) / 1000;
  return [
    { name: "cardpress_webhook_deliveries_open", value: numbers.deliveriesOpen },
    { name: "cardpress_webhook_oldest_due_seconds", value: late },
    { name: "cardpress_webhook_endpoints_failing", value: numbers.endpointsFailing },
  ];
}

async function accounts({ store }: GaugesDeps): Promise<Sample[]> {
  const { active, suspended, available, held } = await accountNumbers(store.read);
  return [
    { name: "cardpress_accounts", labels: { status: "active" }, value: active },
    { name: "cardpress_accounts", labels: { status: "suspended" }, value: suspended },
    { name: "cardpress_credits", labels: { state: "available" }, value: available },
    { name: "cardpress_credits", labels: { state: "held" }, value: held },
  ];
}

async function mails({ store }: GaugesDeps): Promise<Sample[]> {
  const counts = await countMails(store.read);
  return (["pending", "failed"] as const).map((state) => ({
    name: "cardpress_mails",
    labels: { state },
    value: counts[state],
  }));
}

async function storage({ folder, disk }: GaugesDeps): Promise<Sample[]> {
  const system = await statfs(folder.root).catch(() => undefined);
  const backup = await readLastBackup(folder).catch(() => undefined);
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return [
    { name: "cardpress_disk_free_bytes", value: system ? system.bavail * system.bsize : 0 },
    { name: "cardpress_disk_size_bytes", value: system ? system.blocks * system.bsize : 0 },
    { name: "cardpress_database_bytes", value: size(folder.database) },
    { name: "cardpress_wal_bytes", value: size(`${folder.database}-wal`) },
    ...Object.entries(disk.last()?.kinds ?? {}).map(
      ([kind, { bytes }]) => ({ name: "cardpress_folder_bytes", labels: { kind }, value: bytes }) as const,
    ),
    ...(backup
      ? [{ name: "cardpress_backup_time_seconds", value: Date.parse(backup.at) / 1000 } as const]
      : []),
  ];
}

function workers({ pool }: GaugesDeps): Sample[] {
  const { ready, wanted } = pool.health();
  return [
    { name: "cardpress_render_workers", labels: { state: "ready" }, value: ready },
    { name: "cardpress_render_workers", labels: { state: "wanted" }, value: wanted },
    { name: "cardpress_render_worker_memory_bytes", value: pool.memoryBytes() },
  ];
}

function ownProcess(): Sample[] {
  const { user, system } = process.cpuUsage();
  return [
    { name: "cardpress_info", labels: { version: VERSION, commit: COMMIT ?? "" }, value: 1 },
    { name: "process_start_time_seconds", value: Math.round((Date.now() - process.uptime() * 1000) / 1000) },
    { name: "process_cpu_seconds_total", value: (user + system) / 1e6 },
    { name: "process_resident_memory_bytes", value: process.memoryUsage.rss() },
    { name: "process_open_fds", value: openFiles() },
  ];
}

/** 0 where the system does not report it. */
function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
