import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createRenderPool } from "../../src/render/pool.ts";
import type { RenderPoolOptions } from "../../src/render/pool-options.ts";
import type { RendererOptions } from "../../src/render/protocol.ts";
import { rendererOptions } from "../../src/service/renderer-options.ts";
import { workerCommand } from "../../src/service/system.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { seededRandom, silentLog, type TestFolder, testConfig, testFolder } from "../harness.ts";

let folder: TestFolder;
let settings: RendererOptions;
beforeAll(async () => {
  folder = testFolder();
  settings = await rendererOptions(testConfig(folder.dir), openDataFolder(folder.dir));
});
afterAll(() => folder.remove());

/** A pool of one worker, and the failures of its starts. */
function poolOf(renderer: RendererOptions, options: Partial<RenderPoolOptions> = {}) {
  const failures: string[] = [];
  const pool = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer,
    random: seededRandom(),
    log: { ...silentLog, error: (_, fields) => void failures.push(String(fields?.error)) },
    ...options,
  });
  return { pool, failures };
}

/** Whether the pool ever takes work until `failures` has this many. */
async function everTakesWork({ pool, failures }: ReturnType<typeof poolOf>, count: number): Promise<boolean> {
  for (let took = false; ; await Bun.sleep(1)) {
    if (failures.length >= count) return took;
    took ||= pool.health().takesWork;
  }
}

test("work is taken once the first browser answers, before its pages are open", async () => {
  const { pool } = poolOf(settings);
  expect(pool.health()).toEqual({ ready: 0, wanted: 1, takesWork: false });
  while (!pool.health().takesWork) await Bun.sleep(1);
  expect(pool.health().ready).toBe(0);
  (await pool.acquire()).release();
  expect(pool.health()).toEqual({ ready: 1, wanted: 1, takesWork: true });
  await pool.close();
});

test("a pool that nobody needs keeps no worker, takes work all the same, and starts them again for the next card", async () => {
  const { pool } = poolOf(settings, { restAfterMs: 1, memoryLookMs: 10 });
  (await pool.acquire()).release();
  while (pool.pids().length > 0) await Bun.sleep(5);
  expect(pool.health()).toEqual({ ready: 0, wanted: 0, takesWork: true });
  const acquired = pool.acquire();
  expect(pool.health()).toEqual({ ready: 0, wanted: 1, takesWork: true });
  const renderer = await acquired;
  expect(pool.health()).toEqual({ ready: 1, wanted: 1, takesWork: true });
  // Who works does not rest, however long it takes.
  const working = pool.pids();
  await Bun.sleep(50);
  expect(pool.pids()).toEqual(working);
  renderer.release();
  await pool.close();
});

test("at rest nobody reads the memory of the machine's processes", async () => {
  let looks = 0;
  const groupMemory = () => {
    looks += 1;
    return new Map<number, number>();
  };
  const { pool } = poolOf(settings, { restAfterMs: 1, memoryLookMs: 1, groupMemory });
  (await pool.acquire()).release();
  while (pool.pids().length > 0) await Bun.sleep(1);
  const atWork = looks;
  expect(atWork).toBeGreaterThan(0);
  await Bun.sleep(50);
  expect(looks).toBe(atWork);
  await pool.close();
});

test("after a rest the first card has the processor to itself: other workers start once it is done", async () => {
  const { pool } = poolOf(settings, { workers: 2, restAfterMs: 1, memoryLookMs: 10 });
  (await pool.acquire()).release();
  while (pool.pids().length > 0) await Bun.sleep(5);
  const renderer = await pool.acquire();
  expect(pool.pids().length).toBe(1);
  renderer.release();
  while (pool.pids().length < 2) await Bun.sleep(1);
  await pool.close();
});

test("the worker that a card waits for after a rest opens what that card needs, those after it everything", async () => {
  const starts = join(folder.dir, "starts");
  await Bun.write(starts, "");
  const script = `
    import { appendFileSync } from "node:fs";
    process.on("message", ({ options }) => {
      appendFileSync("${starts}", (options.warms ?? "everything") + " ");
      process.send({ type: "ready" });
    });`;
  const command = [process.execPath, "-e", script];
  const { pool } = poolOf(settings, { command, workers: 2, restAfterMs: 1, memoryLookMs: 10 });
  (await pool.acquire()).release();
  while (pool.pids().length > 0) await Bun.sleep(5);
  const before = await Bun.file(starts).text();
  expect(before.split(" ")).not.toContain("one_page");
  // Two cards at once, so that the second worker starts too.
  const renderers = await Promise.all([pool.acquire(), pool.acquire()]);
  expect((await Bun.file(starts).text()).slice(before.length)).toBe("one_page everything ");
  for (const renderer of renderers) renderer.release();
  await pool.close();
});

test("a browser that cannot start takes no work at any moment", async () => {
  const broken = poolOf({ ...settings, chromium: { path: "/bin/false", origin: "configured", env: {} } });
  expect(await everTakesWork(broken, 2)).toBe(false);
  await broken.pool.close();
});

test("a browser that answers and then shows no card stops taking work at its first failure", async () => {
  const templatesDir = join(folder.dir, "templates");
  mkdirSync(join(templatesDir, "club_card"), { recursive: true });
  await Bun.write(join(templatesDir, "club_card/template.json"), "{");
  const broken = poolOf({ ...settings, templatesDir });
  await everTakesWork(broken, 1);
  expect(await everTakesWork(broken, 3)).toBe(false);
  expect(broken.failures[0]).toContain("club_card");
  await broken.pool.close();
});

test("workers that could not be started for want of descriptors are there as soon as some are free", async () => {
  // In a process of its own: this one's limit is far too high. Its workers say that they are warm, and draw
  // nothing.
  const script = `
    import { closeSync, mkdtempSync, openSync, readdirSync } from "node:fs";
    import { createRenderPool } from "${import.meta.dir}/../../src/render/pool.ts";
    const profilesDir = mkdtempSync("${folder.dir}/short-");
    const failures = [];
    let starts = 0;
    const { spawn } = Bun;
    Bun.spawn = (...all) => {
      starts += 1;
      return spawn(...all);
    };
    const pool = createRenderPool({
      workers: 2,
      command: [process.execPath, "-e", 'process.on("message", () => process.send({ type: "ready" }))'],
      renderer: { profilesDir },
      random: { bytes: (count) => new Uint8Array(count) },
      log: { info() {}, warn() {}, error: (_, { retryInMs }) => failures.push(retryInMs) },
    });
    const untilWarm = async () => {
      while (pool.health().ready < 2) await Bun.sleep(1);
    };
    await untilWarm();
    const opened = [];
    const exhaust = () => {
      try { for (;;) opened.push(openSync("/dev/null", "r")); } catch {}
    };
    exhaust();
    for (const pid of pool.pids()) process.kill(pid, "SIGKILL");
    const before = starts;
    // Each worker that ended gave some back.
    for (; starts < before + 10; exhaust()) await Bun.sleep(1);
    for (const one of opened) closeSync(one);
    await untilWarm();
    await pool.close();
    console.log(JSON.stringify({ failures, left: readdirSync(profilesDir) }));`;
  const shell = ["sh", "-c", 'ulimit -n 128 && exec "$0" -e "$1"', process.execPath, script];
  const child = Bun.spawn(shell, { stdout: "pipe", stderr: "inherit" });
  const { failures, left } = await new Response(child.stdout).json();
  // Each said it once, unless the other had given its descriptors back by then; and no pause grew.
  expect([[200], [200, 200]]).toContainEqual(failures);
  expect(left).toEqual([]);
});
