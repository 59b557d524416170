/** @jsxImportSource preact */
import { statfs } from "node:fs/promises";
import type { DiskKind, DiskUse } from "../../app/operations/doctor/disk-use.ts";
import { IDEMPOTENCY_RETENTION_MS, MAX_SHARED_PLACEHOLDERS, SOURCE_RETENTION_MS } from "../../core/limits.ts";
import { WEBHOOK_RETENTION_MS } from "../../core/outbound-limits.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { inUnits } from "../../system/disk-space.ts";
import { Card, count, counted, Notice, PageHead, Stat, Time } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { operator, type UserVisit } from "../visit.ts";

/** Measuring most folders takes a moment, a million files a minute, which nobody waits for. */
const PATIENCE_MS = 2_000;

const days = (ms: number) => `${ms / DAY_MS} days`;

interface Row {
  name: string;
  /** What keeps it from growing forever. */
  bound: (retentionDays: number) => string;
}

const ROWS: Record<DiskKind, Row> = {
  pictures: {
    name: "Finished pictures",
    bound: (retention) => `Each for ${counted(retention, "day")} (CARDPRESS_RETENTION_DAYS)`,
  },
  photos: {
    name: "Photos and badges",
    bound: () => `${days(SOURCE_RETENTION_MS)} after they were last asked for`,
  },
  cutouts: {
    name: "Players cut out",
    bound: () => `${days(SOURCE_RETENTION_MS)}, then made again when needed`,
  },
  placeholders: {
    name: "Pictures of test images",
    bound: () => `One of each size: the newest ${MAX_SHARED_PLACEHOLDERS} sizes of a day`,
  },
  templates: {
    name: "Templates of cards",
    bound: () => `Each as long as an unfinished image or a served picture was asked for with it`,
  },
  database: {
    name: "Database",
    bound: () =>
      `Images and credits stay. Events go after ${days(WEBHOOK_RETENTION_MS)}, stored answers after ${IDEMPOTENCY_RETENTION_MS / HOUR_MS} hours`,
  },
  log: { name: "Write-ahead log", bound: () => "Goes into the database every half minute; 64 MB at rest" },
  copies: { name: "Copies from before upgrades", bound: () => "The last three" },
  browser: {
    name: "Unpacked browser and runtime",
    bound: () => "The version in use; earlier ones go a week after their last use",
  },
  profiles: { name: "Browser profiles", bound: () => "Go with each browser" },
  scratch: { name: "Pictures in the making", bound: () => "Go with each render" },
};

function UseTable({ use, retentionDays }: { use: DiskUse; retentionDays: number }) {
  const rows = (Object.keys(ROWS) as DiskKind[]).map((kind) => ({ ...ROWS[kind], ...use.kinds[kind] }));
  const all = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <table class="table">
      <caption class="visually-hidden">What takes the disk</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col" class="number">
            Room
          </th>
          <th scope="col" class="number">
            Files
          </th>
          <th scope="col">Bound by</th>
        </tr>
      </thead>
      <tbody>
        {rows
          .sort((a, b) => b.bytes - a.bytes)
          .map(({ name, bytes, files, bound }) => (
            <tr key={name}>
              <th scope="row">
                {name}
                <svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * bytes) / Math.max(all, 1)} height="8" />
                </svg>
              </th>
              <td class="number" data-label="Room">
                {inUnits(bytes)}
              </td>
              <td class="number" data-label="Files">
                {count(files)}
              </td>
              <td data-label="Bound by" class="long">
                {bound(retentionDays)}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

async function measured({ deps }: UserVisit): Promise<DiskUse | undefined> {
  const fresh = deps.disk.measure();
  return Promise.race([fresh, Bun.sleep(PATIENCE_MS).then(() => deps.disk.last())]);
}

async function diskPage(visit: UserVisit): Promise<Response> {
  const { config } = visit.deps;
  const [use, system] = await Promise.all([measured(visit), statfs(config.dataDir)]);
  const free = system.bavail * system.bsize;
  const isLow = free < config.minFreeDiskBytes;
  const total = use && Object.values(use.kinds).reduce((sum, { bytes }) => sum + bytes, 0);
  return shell(
    visit,
    "Disk",
    <>
      <PageHead
        title="Disk"
        lead={
          <>
            What takes the room of <code>{config.dataDir}</code>, and what bounds it.
            {config.bucket && (
              <>
                {" "}
                Photos, pictures and templates are in the bucket <code>{config.bucket.bucket}</code>; local
                copies of them count with the browser.
              </>
            )}
          </>
        }
      />
      {isLow && (
        <Notice tone="bad" title="Creates are refused.">
          Less than {inUnits(config.minFreeDiskBytes)} is free. Everything else goes on. Make room, or keep
          pictures for fewer days with CARDPRESS_RETENTION_DAYS.
        </Notice>
      )}
      <dl class="stats">
        <Stat label="Free" value={inUnits(free)} note={`of ${inUnits(system.blocks * system.bsize)}`} />
        <Stat label="Taken by cardpress" value={total === undefined ? "–" : inUnits(total)} />
        <Stat
          label="Creates are refused below"
          value={config.minFreeDiskBytes === 0 ? "Never" : inUnits(config.minFreeDiskBytes)}
          note="CARDPRESS_MIN_FREE_DISK_MB"
        />
      </dl>
      <Card
        flush
        title="What takes the room"
        note={
          use ? (
            <>
              Measured <Time at={use.measuredAt} style="relative" />
            </>
          ) : undefined
        }
      >
        {use ? (
          <UseTable use={use} retentionDays={config.retentionDays} />
        ) : (
          <p class="empty">The files are being counted. Load this page again in a minute.</p>
        )}
      </Card>
    </>,
  );
}

export const diskRoutes = [operator.get("/console/operator/disk", diskPage)];
