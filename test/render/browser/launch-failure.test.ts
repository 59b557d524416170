import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../../src/core/errors.ts";
import { launchBrowser } from "../../../src/render/browser/browser.ts";
import { packagedChromium } from "../../../src/render/browser/chromium.ts";
import { explain } from "../../../src/render/browser/launch-failure.ts";
import { browsersIn } from "../../../src/render/browser/process-group.ts";
import { runCommandWith } from "../../cli/run.ts";
import { TEST_CACHE_DIR, type TestFolder, testFolder } from "../../harness.ts";

/** What the packaged Chromium says where user namespaces are refused. */
const NO_SANDBOX =
  "[1122/170947.485068:FATAL:../content/browser/zygote_host/zygote_host_impl_linux.cc:129] No usable sandbox! If you are running on Ubuntu 23.10+ or another Linux distro";

let folder: TestFolder;
let silenced: string;
beforeAll(async () => {
  folder = testFolder();
  silenced = join(folder.dir, "chromium");
  await writeFile(silenced, `#!/bin/sh\necho "${NO_SANDBOX}" >&2\nexit 133\n`, { mode: 0o755 });
});
afterAll(() => folder.remove());

const launch = (path: string) =>
  launchBrowser({
    chromium: { path, origin: "configured", env: {} },
    profilesDir: folder.dir,
    noSandbox: true,
  }).catch((error) => error);

test("a browser that finds no sandbox is explained with what allows it one, and leaves no profile", async () => {
  const error = await launch(silenced);
  expect(error).toBeInstanceOf(OperatorError);
  expect(error.message).toContain("user namespaces");
  expect(error.message).toContain("sysctl");
  expect(error.message).toContain("chroot");
  expect((await readdir(folder.dir)).filter((name) => name.startsWith("profile-"))).toEqual([]);
});

test("a file that is no program is named", async () => {
  const path = join(folder.dir, "chromium");
  expect((await launch(`${path}-missing`)).message).toContain(`${path}-missing`);
});

test("a program that is no browser is reported as such, with its words and what to set", async () => {
  const { message } = await launch("/bin/ls");
  expect(message).toContain("/bin/ls ended at once, with exit code 2");
  expect(message).toContain("--headless");
  expect(message).toContain("CARDPRESS_CHROMIUM");
});

test("a missing library is named with what brings it, and other last words are passed on", () => {
  const library =
    "chromium: error while loading shared libraries: libnss3.so: cannot open shared object file";
  expect(explain(library)).toContain("needs the library libnss3.so");
  expect(explain("a warning\n[1:FATAL:gpu.cc(9)] GPU process is gone\n")).toContain("GPU process is gone");
  expect(explain("[1:ERROR:bus.cc] no bus")).toBeUndefined();
});

test("the browser that is started for its last words ends with the process that asked, even one that is killed", async () => {
  const chromium = await packagedChromium(TEST_CACHE_DIR);
  const asker = Bun.spawn(
    [process.execPath, join(import.meta.dir, "ask-why.ts"), chromium.path, folder.dir],
    {
      env: { ...process.env, ...chromium.env },
      stdout: "ignore",
      stderr: "inherit",
    },
  );
  while (browsersIn(folder.dir).length === 0 && asker.exitCode === null) await Bun.sleep(5);
  // A browser starts others soon.
  expect(browsersIn(folder.dir).length).toBeGreaterThan(0);
  asker.kill("SIGKILL");
  await asker.exited;
  while (browsersIn(folder.dir).length > 0) await Bun.sleep(5);
});

test("a demo whose browser cannot start ends soon, and says why and what helps", async () => {
  const answer = await runCommandWith(
    { CARDPRESS_CHROMIUM: silenced, CARDPRESS_PORT: "0" },
    join(folder.dir, "demo"),
    "demo",
    "--once",
    "--json",
  );
  expect(answer.code).toBe(1);
  expect(answer.err).toContain("The renderer does not start. Error: the browser could not be started:");
  expect(answer.err).toContain("sysctl kernel.apparmor_restrict_unprivileged_userns=0");
});
