import { afterAll, expect, test } from "bun:test";
import { type Figures, RULES, summary } from "../../scripts/clustertest/figures.ts";
import { clusterTest } from "../../scripts/clustertest/run.ts";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import { testFolder } from "../harness.ts";
import { ENGINE } from "../postgres.ts";

/** Long enough for each fault; run by `bun run test --engines` every third day. */
const SECONDS = 90;
const MINUTE_MS = 60_000;

afterAll(stopEmulator);

test.skipIf(ENGINE !== "postgres")(
  "three servers on one PostgreSQL and one bucket keep every promise while nodes, database and storage fail",
  async () => {
    const folder = testFolder();
    const log: string[] = [];
    const figures: Figures = await clusterTest({
      dir: folder.dir,
      seed: 11,
      nodes: 3,
      seconds: SECONDS,
      bucket: await emptyBucket(),
      rate: 1,
      liveShare: 0.2,
      note: (line) => log.push(line),
    });
    if (figures.problems.length > 0) console.log([...log, summary(figures)].join("\n"));
    expect(figures.problems).toEqual([]);
    // The run proves something only when every rule was looked at, and there were faults.
    for (const rule of Object.keys(RULES) as (keyof typeof RULES)[])
      expect(figures.checked[rule]).toBeGreaterThan(0);
    expect(figures.faults["kill -9"]).toBeGreaterThan(0);
    expect(figures.storage.truncated).toBeGreaterThan(0);
    await folder.remove();
  },
  10 * MINUTE_MS,
);
