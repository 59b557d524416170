import { afterAll, expect, test } from "bun:test";
import { bind } from "../../src/http/bind.ts";
import { testFolder } from "../harness.ts";
import { startCommand } from "./run.ts";

const folder = testFolder();
const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
afterAll(async () => {
  await taken.stop(true);
  await folder.remove();
});

function start(address: Record<string, string>) {
  const settings = { CARDPRESS_RENDER_WORKERS: "1", CARDPRESS_ALLOW_ROOT: "1", CARDPRESS_PORT: "0" };
  return startCommand({ ...settings, ...address }, folder.dir, "serve");
}

// 192.0.2.0/24 is for documentation (RFC 5737): no machine has an address of it.
test.each([
  ["a port that is taken", { CARDPRESS_PORT: String(taken.port) }, "set CARDPRESS_PORT to a free port"],
  [
    "an address of another machine",
    { CARDPRESS_HOST: "192.0.2.1", CARDPRESS_PORT: "3000" },
    "Set CARDPRESS_HOST",
  ],
  ["the same, on any port", { CARDPRESS_HOST: "192.0.2.1", CARDPRESS_PORT: "0" }, "Set CARDPRESS_HOST"],
  ["a template that is not there", { CARDPRESS_PRESETS: "club_card,poster" }, "CARDPRESS_PRESETS lists what"],
  ["a print profile that is none", { CARDPRESS_PRINT_PROFILE: import.meta.path }, "Name the ICC profile"],
  ["an encoder that is none", { CARDPRESS_MP4_ENCODER: "/bin/false" }, "Set it to an ffmpeg"],
  ["templates nowhere", { CARDPRESS_TEMPLATES_DIR: "/nowhere/at/all" }, "Correct it, or unset it"],
])("with %s serve ends, says what to set, and leaves nothing running", async (_, address, remedy) => {
  const child = start(address);
  const err = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  expect(err).toStartWith("cardpress: ");
  expect(err).toContain(remedy);
  expect(err.trim().split("\n")).toHaveLength(1);
  // No browser was started for nothing, which would then be logged as a worker's death.
  expect(await new Response(child.stdout).text()).toBe("");
});

test("the end of the terminal stops it as SIGTERM does, after a drain", async () => {
  const child = start({ CARDPRESS_PORT: "0" });
  let log = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (!log.includes('"listening"') && (log + chunk).includes('"listening"')) child.kill("SIGHUP");
    log += chunk;
  }
  expect(await child.exited).toBe(0);
  expect(log).toContain('"draining"');
  expect(log).toContain('"stopped"');
});

test("a port that only root may have is refused with the remedy, and other faults stay what they are", () => {
  const refused = (error: unknown) => () =>
    bind({ host: "127.0.0.1", port: 80 }, () => {
      throw error;
    });
  expect(refused(Object.assign(new Error("permission denied"), { code: "EACCES" }))).toThrow(
    "Set CARDPRESS_PORT to a port from 1024 up",
  );
  const other = new Error("something else");
  expect(refused(other)).toThrow(other);
});
