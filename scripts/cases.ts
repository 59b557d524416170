/**
 * Counts how many tests meet each status on each route: `bun run cases:api`. The tests run as usual; before
 * each one a separator is written, and below it every answer of the API under test.
 */

import { beforeEach } from "bun:test";
import { appendFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labelOf } from "../src/http/route-table.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const FILE = process.env.CARDPRESS_API_CASES;
const LINE = "-";

/** Records an answer when cases are being counted. */
export function countAnswer(answer: { method: string; path: string; status: number }): void {
  if (FILE) appendFileSync(FILE, `${answer.method} ${labelOf(answer.path)} ${answer.status}\n`);
}

if (FILE) beforeEach(() => appendFileSync(FILE, `${LINE}\n`));

async function main(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), "cardpress-cases-"));
  try {
    const file = join(dir, "answers");
    const tests = Bun.spawn(
      [process.execPath, "test", "--timeout", "600000", "--preload", import.meta.path, "test/http"],
      { env: { ...process.env, CARDPRESS_API_CASES: file }, stdout: "ignore", stderr: "pipe" },
    );
    const said = await new Response(tests.stderr).text();
    console.log(/\d+ pass.*$/s.exec(said)?.[0].trim() ?? said);
    show(await Bun.file(file).text());
    return await tests.exited;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function show(notes: string): void {
  const cases = new Map<string, number>();
  let answers = 0;
  for (const test of notes.split(`${LINE}\n`)) {
    const seen = test.split("\n").filter(Boolean);
    answers += seen.length;
    for (const kind of new Set(seen)) cases.set(kind, (cases.get(kind) ?? 0) + 1);
  }
  const rows = [...cases].map(([kind, count]) => ({ parts: kind.split(" "), count }));
  const routes = [...new Set(rows.map(({ parts }) => `${parts[0]} ${parts[1]}`))].sort();
  const statuses = [...new Set(rows.map(({ parts }) => parts[2] ?? ""))].sort();
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  console.log(`\n${total} cases (a test that met this status on this route), ${answers} answers\n`);
  console.log(["route".padEnd(34), ...statuses.map((status) => status.padStart(5))].join(""));
  for (const route of routes) {
    const cells = statuses.map((status) => String(cases.get(`${route} ${status}`) ?? "").padStart(5));
    console.log([route.padEnd(34), ...cells].join(""));
  }
}

if (import.meta.main) process.exit(await main());
