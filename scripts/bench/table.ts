/**
 * Whether what partners, operators and workers ask stays as quick in a large database as in a small one:
 *
 *     bun scripts/bench/table.ts [--engine sqlite|postgres] [--images 10000000] [--queued 100000] [--audit]
 *
 * Asks the store the same in a database of 10,000 images and in a large one, of which half are one account's,
 * and prints the time of each, with the steps of its plan that read a whole table or sort. --audit also
 * audits both: everything, which seals it, what has come since, and everything once more, and says what
 * processor time and memory of this process each took. Ten million images need about 30 GB of disk, and an
 * hour or more.
 */

import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { type AuditOptions, audit } from "../../src/app/operations/audit/audit.ts";
import { openJobs } from "../../src/jobs/open-jobs.ts";
import { openPostgresStore } from "../../src/store/engine/postgres.ts";
import { transactionOn } from "../../src/store/engine/postgres-connections.ts";
import { hideParamsFromPlanner } from "../../src/store/engine/prepared.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import type { Store, Tx } from "../../src/store/store.ts";
import { silentLog } from "../../test/harness.ts";
import { offerHelp } from "../help.ts";
import { startPostgres } from "../postgres-server.ts";
import { FILLED_AT, type Filling, fillDatabase, fillPostgres } from "./fill.ts";
import { QUESTIONS } from "./questions.ts";

offerHelp(import.meta);
const ROUNDS = 25;
const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "sqlite" },
    images: { type: "string", default: "10000000" },
    queued: { type: "string", default: "100000" },
    audit: { type: "boolean", default: false },
  },
});
const SMALL = 10_000;
const large = Number(values.images);
const filling = { perAccount: 10_000, hasGiant: true } as const;
const fillings: Filling[] = [
  { ...filling, images: SMALL, queued: 50 },
  { ...filling, images: large, queued: Number(values.queued) },
];
const engine = values.engine === "postgres" ? await postgresPlaces() : sqlitePlaces();
try {
  const times: Map<string, Asked>[] = [];
  for (const one of fillings) {
    const startedAt = performance.now();
    await engine.fill(one);
    console.log(`${one.images} images filled in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    times.push(await measureAll(one.images));
  }
  console.log(
    `${values.engine}, ms in the middle of ${ROUNDS} rounds, small and large, and the least of the large:`,
  );
  for (const [name, { ms, steps }] of times[1] ?? []) {
    const small = times[0]?.get(name)?.ms.middle ?? 0;
    const [before, after, least] = [small, ms.middle, ms.least].map((one) => one.toFixed(2).padStart(9));
    console.log(`${name.padEnd(42)}${before}${after}${least}  ${steps}`);
  }
  if (values.audit) for (const { images } of fillings) await auditAll(images);
} finally {
  await engine.remove();
}

interface Asked {
  ms: Times;
  /** Steps of its plan that read a whole table or sort. */
  steps: string;
}

interface Places {
  fill(filling: Filling): Promise<void>;
  open(images: number): Promise<Store>;
  /** The plans of the queries that `work` runs, a line a step. */
  plansOf(images: number, work: (tx: Tx) => Promise<unknown>): Promise<string[]>;
  remove(): Promise<void>;
}

async function measureAll(images: number): Promise<Map<string, Asked>> {
  const store = await engine.open(images);
  const jobs = await openJobs(store, silentLog);
  try {
    const asked = new Map<string, Asked>();
    for (const [name, ask] of Object.entries(QUESTIONS)) {
      const steps = await engine.plansOf(images, (tx) => ask(tx, images));
      asked.set(name, { ms: await timesOf(() => ask(store.read, images)), steps: suspicious(steps) });
    }
    const claim = { environment: "live", token: "bench", now: FILLED_AT, leaseExpiresAt: FILLED_AT } as const;
    const claimed = timesOf(() => rolledBack(store, (tx) => jobs.claim(tx, claim)));
    asked.set("queue, claim and rollback", { ms: await claimed, steps: "" });
    if (jobs.supervise) asked.set("queue, supervise", { ms: await timesOf(jobs.supervise, 1), steps: "" });
    return asked;
  } finally {
    await jobs.close();
    await store.close();
  }
}

interface Times {
  middle: number;
  /** What the question costs where nothing else wants the processor or the disk. */
  least: number;
}

/** The median and the least of the times, ms, after one that warms up. */
async function timesOf(work: () => Promise<unknown>, rounds = ROUNDS): Promise<Times> {
  const times: number[] = [];
  for (let n = 0; n <= rounds; n++) {
    const startedAt = performance.now();
    await work();
    if (n > 0) times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { middle: sorted[rounds >> 1] ?? 0, least: sorted[0] ?? 0 };
}

async function rolledBack(store: Store, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  const enough = new Error("rolled back on purpose");
  await store
    .write("bench", async (tx) => {
      if ((await work(tx)) === undefined) throw new Error("nothing was there to be claimed");
      throw enough;
    })
    .catch((error) => {
      if (error !== enough) throw error;
    });
}

function suspicious(steps: string[]): string {
  return steps.filter((step) => /SCAN|TEMP B-TREE|Seq Scan|Sort/.test(step)).join("; ");
}

async function auditAll(images: number): Promise<void> {
  const store = await engine.open(images);
  try {
    const { write } = store;
    await auditOnce(store, `${images} images, first`, { sinceSealed: true, write });
    await auditOnce(store, `${images} images, since the seals`, { sinceSealed: true, write });
    await auditOnce(store, `${images} images, full`, { write });
  } finally {
    await store.close();
  }
}

async function auditOnce(store: Store, what: string, options: AuditOptions): Promise<void> {
  const before = { rss: process.memoryUsage().rss, cpu: process.cpuUsage() };
  let most = before.rss;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 100);
  const report = await audit(store, FILLED_AT, options);
  clearInterval(watch);
  const { user, system } = process.cpuUsage(before.cpu);
  const mb = Math.round((most - before.rss) / 1024 ** 2);
  console.log(
    `audit of ${what}: ${report.ms} ms, of the processor ${Math.round((user + system) / 1000)}, ${mb} MB more`,
  );
  for (const { check, ok, ms, broken } of report.findings)
    if (!ok || ms > 100)
      console.log(`  ${check.padEnd(10)} ${ok ? "ok" : JSON.stringify(broken.slice(0, 3))} ${ms} ms`);
}

function sqlitePlaces(): Places {
  const dir = mkdtempSync(join(tmpdir(), "cardpress-table-"));
  const file = (images: number) => join(dir, `${images}.db`);
  return {
    fill: (one) => fillDatabase(file(one.images), one),
    open: async (images) => openSqliteStore(file(images), { mapped: true }),
    plansOf: async (images, work) => {
      const client = new Database(file(images), { readonly: true });
      const { read } = openSqliteStore(file(images));
      const plans: string[] = [];
      const logQuery = (text: string, parameters: unknown[]) => {
        const steps = client.query<{ detail: string }, never[]>(
          `EXPLAIN QUERY PLAN ${hideParamsFromPlanner(text)}`,
        );
        plans.push(...steps.all(...(parameters as never[])).map(({ detail }) => detail));
      };
      await work({ ...read, db: drizzle({ client, logger: { logQuery } }) });
      client.close();
      return plans;
    },
    remove: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

async function postgresPlaces(): Promise<Places> {
  const server = await startPostgres([
    ...["shared_buffers=1GB", "max_wal_size=8GB"],
    // So that what is filled is written once, and not into the log too.
    ...["wal_level=minimal", "max_wal_senders=0"],
  ]);
  const url = (images: number) => `${server.url}/cards_${images}`;
  return {
    fill: async (one) => {
      const admin = new SQL(`${server.url}/postgres`, { max: 1 });
      await admin.unsafe(`CREATE DATABASE cards_${one.images}`);
      await admin.close();
      await (await openPostgresStore({ url: url(one.images) })).close();
      await fillPostgres(url(one.images), one);
    },
    open: (images) => openPostgresStore({ url: url(images), patient: true }),
    plansOf: async (images, work) => {
      const client = new SQL(url(images), { max: 1 });
      const plans: string[] = [];
      const query = async (text: string, parameters: unknown[], asRows: boolean) => {
        const steps = await client.unsafe(`EXPLAIN ${text}`, parameters);
        plans.push(...steps.map((step: Record<string, string>) => step["QUERY PLAN"]?.trim() ?? ""));
        const asked = client.unsafe(text, parameters);
        return asRows ? asked.values() : asked;
      };
      await work(transactionOn(query));
      await client.close();
      return plans;
    },
    remove: server.stop,
  };
}
