import { Database } from "bun:sqlite";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sideOfPdf } from "../../src/app/print/card-pdf.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import { get } from "../harness.ts";
import { checkBatch, sendBatch } from "./batches.ts";
import { type Bench, type Promised, send, startCrashing } from "./bench.ts";

export const CREDITS = 1_000_000;
/** Work that stands still for longer is lost: all tries of one card take less, however busy the machine. */
const STUCK_MS = 20 * 60_000;
const IDLE_LOOK_MS = 100;
/** How often processes that should have ended are looked for, every 100 ms. */
const LEFTOVER_LOOKS = 1_200;

/** A last start without a crash: everything promised ends, and the books and the disk are looked through. */
export async function settle(bench: Bench): Promise<void> {
  const { figures } = bench;
  const server = await startCrashing(bench, {});
  const address = server.address ?? "";
  for (const name of bench.orphans) {
    if ((await fetch(`${address}/cdn/${name}`)).status !== 404) figures.orphansServed += 1;
  }
  const deadline = performance.now() + STUCK_MS;
  for (const promise of bench.promised) {
    await send(bench, address, promise);
    // What a full queue refused was never accepted; as a partner would, ask again until there is room.
    while (promise.answer === undefined && performance.now() < deadline) {
      await Bun.sleep(250);
      await send(bench, address, promise);
    }
    // Every one is replayed, also if it was accepted only now.
    await send(bench, address, promise);
  }
  for (const batch of bench.batches) {
    do await sendBatch(bench, address, batch);
    while (batch.batchId === undefined && performance.now() < deadline);
    await sendBatch(bench, address, batch);
  }
  await untilIdle(bench, server.exited);
  for (const batch of bench.batches) await checkBatch(bench, address, batch);
  for (const promise of bench.promised) await checkEnded(bench, address, promise);
  await checkSwept(bench);
  server.terminate();
  const code = await server.exited;
  if (code !== 0) figures.problems.push(`the drain ended with ${code}`);
  await auditFile(bench, "at the end");
  checkBooks(bench);
  const stayed = await leftovers(bench.dir);
  figures.leftoverProcesses = stayed.length;
  figures.problems.push(...stayed);
}

/** Waits until every image has ended, or the server, or nothing moves any more. */
export async function untilIdle({ dir }: Bench, exited: Promise<number>): Promise<void> {
  let isOver = false;
  void exited.then(() => (isOver = true));
  const db = new Database(join(dir, "cardpress.db"), { readonly: true });
  const look = db.query("SELECT count(*) FROM images WHERE completed_at IS NULL");
  let open = -1;
  let movedAt = performance.now();
  // Two looks without any: after the last commit the server has a step or two to go.
  for (let idle = 0; idle < 2 && !isOver; await Bun.sleep(IDLE_LOOK_MS)) {
    const count = Number(look.values()[0]?.[0]);
    if (count !== open) movedAt = performance.now();
    open = count;
    idle = count === 0 ? idle + 1 : 0;
    if (performance.now() - movedAt > STUCK_MS) break;
  }
  db.close();
}

async function checkEnded(bench: Bench, address: string, promise: Promised): Promise<void> {
  const { figures } = bench;
  const response = await get(address, promise.apiKey, `/v1/images/${promise.imageId}`);
  const { data } = (await response.json()) as { data: { status: string; result?: Result } | null };
  if (data?.status === "failed") figures.failed += 1;
  else if (data?.status === "completed" && data.result) {
    figures.completed += 1;
    const { back = false } = JSON.parse(promise.body).style ?? {};
    if (!(await isWhole(data.result, back)))
      figures.problems.push(`${promise.imageId} is completed, its picture is not`);
  } else {
    figures.lost += 1;
    figures.problems.push(`${promise.key} ${promise.imageId} was promised and is ${data?.status ?? "gone"}`);
  }
}

interface Result {
  image_url: string;
  back_url: string | null;
  width: number;
  content_type: string;
}

/** Whether all sides that were asked for are served, each to its last byte. */
async function isWhole(result: Result, hasBack: boolean): Promise<boolean> {
  const served = await fetch(result.image_url);
  const file = await served.bytes();
  const other = result.back_url === null ? undefined : await (await fetch(result.back_url)).bytes();
  const isPdf = result.content_type === "application/pdf";
  const sides = isPdf ? [sideOfPdf(file, "front"), sideOfPdf(file, "back")] : [file, other];
  const widths = sides.map(async (side) => side && (await new Bun.Image(side).metadata()).width);
  const [front, back] = await Promise.all(widths);
  return served.status === 200 && front === result.width && back === (hasBack ? result.width : undefined);
}

/** Remembers the pictures on the disk that the database does not know, while no server runs. */
export async function noteOrphans({ dir, orphans }: Bench): Promise<void> {
  const db = new Database(join(dir, "cardpress.db"));
  const known = new Set(
    db
      .query("SELECT output_name, back_output_name FROM images WHERE output_name IS NOT NULL")
      .values()
      .flat(),
  );
  db.close();
  for (const name of await pictures(dir)) if (!known.has(name)) orphans.add(name);
}

async function pictures(dir: string): Promise<string[]> {
  const entries = await readdir(join(dir, "images"), { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map(({ name }) => name);
}

/** The sweep at a start removes what an earlier process left, however young it is. */
async function checkSwept(bench: Bench): Promise<void> {
  const there = new Set(await pictures(bench.dir));
  const stayed = [...bench.orphans].filter((name) => there.has(name));
  bench.figures.orphansSwept = bench.orphans.size - stayed.length;
  for (const name of stayed) bench.figures.problems.push(`the orphan ${name} was not swept`);
}

/** Audits the database while no server runs: no step may leave half of anything. */
export async function auditFile(bench: Bench, when: string): Promise<void> {
  const store = openSqliteStore(join(bench.dir, "cardpress.db"), { verify: true });
  const report = await audit(store, Date.now());
  await store.close();
  for (const { check, broken } of report.findings.filter(({ ok }) => !ok)) {
    bench.figures.problems.push(`audit ${when}: ${check} ${JSON.stringify(broken.slice(0, 3))}`);
  }
}

/**
 * Straight from the tables: as many images as promises, each paid for at most once, and not one credit
 * astray.
 */
function checkBooks({ dir, promised, batches, figures }: Bench): void {
  const db = new Database(join(dir, "cardpress.db"));
  const one = (query: string) => Number(db.query(query).values()[0]?.[0]);
  const images = one("SELECT count(*) FROM images");
  const wanted = batches.reduce((sum, { total }) => sum + total, promised.length);
  const settled = one("SELECT count(*) FROM ledger_entries WHERE kind = 'settle'");
  const completedLive = one("SELECT count(*) FROM images WHERE state = 'completed' AND environment = 'live'");
  figures.double += Math.max(0, images - wanted) + Math.max(0, settled - completedLive);
  figures.creditsAddUp =
    one("SELECT credits_held FROM accounts") === 0 &&
    one("SELECT credits_plan + credits_topup FROM accounts") === CREDITS - completedLive &&
    settled === completedLive;
  // Every number that was given belongs to one finished card, and none of the failed ones has kept its own.
  const numbers = db
    .query("SELECT c.serial, c.state, i.state FROM set_cards c LEFT JOIN images i ON i.id = c.image_id")
    .values() as [number | null, string, string][];
  const given = numbers.filter(([, state]) => state === "final");
  const isSound =
    new Set(given.map(([serial]) => serial)).size === given.length &&
    numbers.every(([serial, state, image]) =>
      state === "final"
        ? image === "completed"
        : state === "released" && image === "failed" && serial === null,
    );
  if (!isSound || given.length === 0)
    figures.problems.push(`the numbers of the set: ${JSON.stringify(numbers.slice(0, 20))}`);
  db.close();
}

/**
 * Processes of this service that stay: workers and browsers carry its data folder in their environment. They
 * end with their parent, which takes a moment.
 */
async function leftovers(dir: string): Promise<string[]> {
  for (let look = 0; ; look++) {
    const found: string[] = [];
    for (const pid of (await readdir("/proc")).filter(
      (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
    )) {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!environment.includes(`CARDPRESS_DATA_DIR=${dir}`)) continue;
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      found.push(`process ${pid} is still there: ${command.replaceAll("\0", " ").slice(0, 200)}`);
    }
    if (found.length === 0 || look === LEFTOVER_LOOKS) return found;
    await Bun.sleep(100);
  }
}
