import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rendererOptions } from "../../../src/service/renderer-options.ts";
import { workerCommand } from "../../../src/service/system.ts";
import { openDataFolder } from "../../../src/system/data-folder.ts";
import { testConfig, testFolder } from "../../harness.ts";

// A library's telemetry shows before its first packet: it keeps a device id and a store of events in the home
// folder, and a log in the temp folder. Both are empty here, and nothing in the environment forbids it.

const MAIN = join(import.meta.dir, "../../../src/main.ts");
const PHOTO = join(import.meta.dir, "../../photos/astronaut.png");

function emptyHome(dir: string) {
  const home = join(dir, "home");
  const temp = join(dir, "temp");
  for (const path of [home, temp]) mkdirSync(path);
  const env = { ...process.env, HOME: home, TMPDIR: temp } as Record<string, string | undefined>;
  for (const name of ["XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY", "DO_NOT_TRACK"]) delete env[name];
  /** What a process left there; Bun's own cache of compiled modules and Chromium's stays on this machine. */
  const traces = () =>
    [home, temp]
      .flatMap((path) => readdirSync(path, { recursive: true }) as string[])
      .filter((path) => /microsoft|deviceid|mat-debug|onnxruntime|\.ses$/i.test(path));
  return { env, traces };
}

test("a render worker that loads its networks leaves no trace of telemetry, however it is started", async () => {
  const folder = testFolder();
  const { env, traces } = emptyHome(folder.dir);
  const options = await rendererOptions(testConfig(folder.dir), openDataFolder(folder.dir));
  const ready = Promise.withResolvers<unknown>();
  const worker = Bun.spawn(workerCommand(), {
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "json",
    env,
    ipc: (message: { type: string }) => message.type === "ready" && ready.resolve(message),
  });
  worker.send({ type: "start", options });
  await ready.promise;
  // The networks come after that; the test's own time-out bounds the wait.
  while (!(await Bun.file(`/proc/${worker.pid}/maps`).text()).includes("onnxruntime")) await Bun.sleep(20);
  expect(traces()).toEqual([]);
  worker.kill("SIGKILL");
  await worker.exited;
  await folder.remove();
});

test("a card made without a server leaves no trace of telemetry", async () => {
  const folder = testFolder();
  const { env, traces } = emptyHome(folder.dir);
  const input = join(folder.dir, "card.json");
  const player = { name: "Ana", position: "GK", number: 1, skill_level: 70 };
  await Bun.write(input, JSON.stringify({ player, style: { width: 512, height: 512 } }));
  const out = join(folder.dir, "card.webp");
  const command = ["render", "--input", input, "--photo", PHOTO, "--out", out];
  const run = Bun.spawn([process.execPath, MAIN, ...command], {
    env: { ...env, CARDPRESS_DATA_DIR: folder.dir },
    stdout: "ignore",
    stderr: "inherit",
  });
  expect(await run.exited).toBe(0);
  expect(await Bun.file(out).exists()).toBe(true);
  expect(traces()).toEqual([]);
  await folder.remove();
});
