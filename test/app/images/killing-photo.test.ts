import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { MAX_RENDERS } from "../../../src/core/limits.ts";
import { WORKER_NICENESS } from "../../../src/render/worker.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import { systemClock } from "../../../src/system/clock-file.ts";
import { hasProcessorShare, readIfThere } from "../../../src/system/machine-size.ts";
import { childrenOf, niceness, sessionNiceness } from "../../crash/processes.ts";
import {
  get,
  imageRequest,
  post,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../../harness.ts";

let server: TestServer;
/** Time that passed without anybody waiting for it. */
let skippedMs = 0;
const clock = {
  now: () => systemClock.now() + skippedMs,
  elapsed: () => systemClock.elapsed() + skippedMs,
};
beforeAll(async () => {
  server = await testServer({ clock });
  while (server.service.pool.health().ready === 0) await Bun.sleep(25);
});
afterAll(() => server.close());

const HAS_AUTOGROUPS = existsSync("/proc/self/autogroup");
/** Where these tests have the lowest priority themselves, nothing can be lower. */
const LOWEST = 19;

test.if(HAS_AUTOGROUPS)(
  "the sessions of the workers and their browsers get a little less of a processor than the server's, also where it was started with `nice`",
  async () => {
    const family = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(family)];
    const processes = server.service.pool.pids().flatMap(family);
    expect(processes.length).toBeGreaterThan(3);
    const points = hasProcessorShare(readIfThere) ? WORKER_NICENESS.own : WORKER_NICENESS.shared;
    // The niceness of the server's process does not count beside other sessions, and must not count twice.
    const lower = Math.min(LOWEST, sessionNiceness(process.pid) + points);
    for (const pid of processes) while (sessionNiceness(pid) !== lower) await Bun.sleep(25);
  },
);

test("every thread of the workers and their browsers runs at a lower priority than the server", () => {
  const family = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(family)];
  const processes = server.service.pool.pids().flatMap(family);
  // The worker, Chromium, and Chromium's own.
  expect(processes.length).toBeGreaterThan(3);
  const mine = Math.max(...niceness(process.pid));
  for (const pid of processes)
    expect(Math.min(...niceness(pid))).toBeGreaterThanOrEqual(Math.min(LOWEST, mine + 1));
});

test("a photo that kills Chromium at every render fails with its credit back, and the queue goes on", async () => {
  const { account, liveKey } = await testAccount(server.service, { credits: 3 });
  const create = async (photo: string): Promise<string> => {
    const body = imageRequest({
      player: { source_image_url: server.photos.url(photo) },
      style: { width: 512, height: 512 },
    });
    return ((await (await post(server.baseUrl, liveKey, body)).json()) as { data: { image_id: string } }).data
      .image_id;
  };
  // What a decoder's bug would do: whenever this image is being rendered, its browser dies.
  const poisoned = new Set<string>();
  let killed = 0;
  const { progress, pool } = server.service;
  const reach = progress.reach;
  progress.reach = (imageId, stage) => {
    reach(imageId, stage);
    if (!poisoned.has(imageId)) return;
    for (const pid of pool.pids().flatMap(childrenOf)) process.kill(pid, "SIGKILL");
    killed += 1;
    poisoned.delete(imageId);
    // Once a render; the next one starts on a new browser.
    const next = setInterval(() => {
      if (progress.of(imageId) !== null) return;
      poisoned.add(imageId);
      clearInterval(next);
    }, 5);
  };
  const poison = await create("astronaut_dark.png");
  poisoned.add(poison);
  // The growing pauses before it is rendered again are over at once.
  const skipPause = setInterval(async () => {
    if (progress.of(poison) !== null) return;
    const image = await findImage(server.service.store.read, {
      accountId: account.id,
      environment: "live",
      id: poison,
    });
    if (image?.state === "queued") skippedMs += Math.max(0, image.availableAt - clock.now());
  }, 25);
  const innocent = await create("astronaut.png");

  expect(await untilEnded(server.baseUrl, liveKey, poison)).toMatchObject({ status: "failed" });
  clearInterval(skipPause);
  expect(await untilEnded(server.baseUrl, liveKey, innocent)).toMatchObject({ status: "completed" });
  expect(killed).toBe(MAX_RENDERS);
  const usage = (await (await get(server.baseUrl, liveKey, "/v1/usage?period=current_month")).json()) as {
    data: Record<string, unknown>;
  };
  expect(usage.data).toMatchObject({
    images_completed: 1,
    images_failed: 1,
    credits_used: 1,
    credits_remaining: 2,
  });
});
