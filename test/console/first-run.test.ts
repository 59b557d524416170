import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { freePort } from "../../src/service/free-port.ts";
import { testFolder } from "../harness.ts";
import { PASSWORD } from "./sessions.ts";

const folder = testFolder();
const running = new Set<Bun.Subprocess>();
afterAll(async () => {
  for (const process of running) process.kill();
  await Promise.all([...running].map((process) => process.exited));
  await folder.remove();
});

/** `cardpress serve` on the folder until it listens; what it said on stderr and on stdout until then. */
async function serve(): Promise<{ baseUrl: string; stderr: () => string; stop: () => Promise<string> }> {
  const port = await freePort("127.0.0.1");
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
    env: {
      ...process.env,
      CARDPRESS_DATA_DIR: folder.dir,
      CARDPRESS_PORT: String(port),
      CARDPRESS_RENDER_WORKERS: "1",
      CARDPRESS_ALLOW_ROOT: "1",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  const baseUrl = `http://127.0.0.1:${port}`;
  let stderr = "";
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) stderr += chunk;
  })();
  const logged = new Response(child.stdout).text();
  while (!(await fetch(`${baseUrl}/live`).catch(() => null))?.ok) await Bun.sleep(25);
  // The notice follows the first answer by a moment at most; a page that is served proves that start is over.
  await fetch(`${baseUrl}/console/sign-in`);
  return {
    baseUrl,
    stderr: () => stderr,
    stop: async () => {
      child.kill("SIGTERM");
      await Promise.all([child.exited, reading]);
      running.delete(child);
      return logged;
    },
  };
}

const linkIn = (text: string) => /http:\S+\/console\/setup\/[\w-]{43}/.exec(text)?.[0] ?? "";

async function untilLink(stderr: () => string): Promise<string> {
  while (linkIn(stderr()) === "") await Bun.sleep(10);
  return linkIn(stderr());
}

test("serve prints a one-time setup link until somebody used it, to people and never to the log", async () => {
  const first = await serve();
  const unused = await untilLink(first.stderr);
  const log = await first.stop();
  expect(log).toContain("listening");
  expect(log).not.toContain("/console/setup/");

  const second = await serve();
  const link = await untilLink(second.stderr);
  const token = link.split("/").at(-1) ?? "";
  const at = (text: string) => `${second.baseUrl}/console/setup/${text}`;
  // Servers that start together each show one: all work until one is used.
  const older = at(unused.split("/").at(-1) ?? "");
  expect((await fetch(older)).status).toBe(200);
  const setUp = (email: string) =>
    fetch(at(token), {
      method: "POST",
      redirect: "manual",
      headers: { origin: second.baseUrl },
      body: new URLSearchParams({ email, password: PASSWORD, again: PASSWORD }),
    });
  expect((await setUp("boss@service.example")).status).toBe(303);
  expect((await setUp("thief@service.example")).status).toBe(404);
  expect((await fetch(older)).status).toBe(404);
  await second.stop();

  const third = await serve();
  expect(await third.stop()).toContain("stopped");
  expect(third.stderr()).not.toContain("/console/setup/");
});
