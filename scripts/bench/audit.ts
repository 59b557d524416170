/**
 * How long `cardpress audit` and a start with its integrity check take: bun scripts/bench/audit.ts [images]
 */

import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import { offerHelp } from "../help.ts";
import { FILLED_AT, fillDatabase } from "./fill.ts";

offerHelp(import.meta);

const images = Number(process.argv[2] ?? 1_000_000);
const file = join(tmpdir(), `cardpress-audit-bench-${process.pid}.db`);
try {
  await fillDatabase(file, { images, perAccount: 10_000 });
  const mb = Math.round((await stat(file)).size / 1024 ** 2);
  let startedAt = performance.now();
  const store = openSqliteStore(file, { verify: true, mapped: true });
  console.log(
    `${images} images, ${mb} MB; opened and verified in ${Math.round(performance.now() - startedAt)} ms`,
  );
  startedAt = performance.now();
  const before = process.cpuUsage();
  const report = await audit(store, FILLED_AT);
  for (const { check, ok, ms, broken } of report.findings) {
    console.log(`${check.padEnd(10)} ${ok ? "ok" : JSON.stringify(broken.slice(0, 3))} ${ms} ms`);
  }
  const { user, system } = process.cpuUsage(before);
  console.log(`audit: ${report.ms} ms, of the processor ${Math.round((user + system) / 1000)} ms`);
  await store.close();
} finally {
  for (const suffix of ["", "-wal", "-shm"]) await rm(file + suffix, { force: true });
}
