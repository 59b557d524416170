/**
 * Several servers on one PostgreSQL and one bucket under load and faults, and what became of every card:
 *
 *     bun run clustertest [--seconds 600] [--nodes 3] [--seed N] [--rate 2] [--live 0.2] [--s3 ceph]
 *
 * Kills a node every 10 s, freezes, restarts and cuts off PostgreSQL, lets storage fail, stall and be down,
 * freezes a node until its work is taken over, kills browsers, restarts node after node. PostgreSQL comes
 * from npm, the bucket is an emulator's; `--s3 ceph` starts Ceph's gateway instead, where its programs are
 * installed (Debian: apt-get install
 * --no-install-recommends radosgw ceph-mon ceph-osd ceph-common). Exits with 1 when a rule is broken.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { emptyBucket, stopEmulator } from "../test/buckets.ts";
import { startCeph } from "./clustertest/ceph.ts";
import { summary } from "./clustertest/figures.ts";
import { clusterTest } from "./clustertest/run.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    nodes: { type: "string", default: "3" },
    seed: { type: "string" },
    rate: { type: "string", default: "2" },
    live: { type: "string", default: "0.2" },
    s3: { type: "string", default: "emulator" },
  },
});
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const dir = mkdtempSync(join(tmpdir(), "cardpress-cluster-"));
const startedAt = performance.now();
const note = (line: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);
const ceph = values.s3 === "ceph" ? await startCeph(join(dir, "ceph")) : undefined;
if (ceph) process.env.CARDPRESS_TEST_S3 = ceph.endpoint;
console.log(
  `seed ${seed}, ${values.nodes} nodes, ${values.seconds} s, ${ceph ? "Ceph's gateway" : "an emulator"} as storage, files in ${dir}`,
);
const figures = await clusterTest({
  dir,
  seed,
  nodes: Number(values.nodes),
  seconds: Number(values.seconds),
  bucket: await emptyBucket(),
  rate: Number(values.rate),
  liveShare: Number(values.live),
  note,
}).finally(async () => {
  await stopEmulator();
  await ceph?.stop();
});
console.log(summary(figures));
const isSound = figures.problems.length === 0;
if (isSound) rmSync(dir, { recursive: true, force: true });
process.exit(isSound ? 0 : 1);
