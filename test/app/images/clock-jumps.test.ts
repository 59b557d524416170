import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../../../src/core/time.ts";
import { imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../../harness.ts";

/** By how much the machine's clock was set; time itself passes as ever. */
let setByMs = 0;
/** A host that sends its photo once it may. */
let asked = Promise.withResolvers<void>();
let sent = Promise.withResolvers<void>();
const host = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async () => {
    asked.resolve();
    await sent.promise;
    return new Response(Bun.file(join(import.meta.dir, "../../photos/yoga.jpg")));
  },
});
let server: TestServer;
beforeAll(async () => {
  const clock = { now: () => Date.now() + setByMs, elapsed: () => performance.now() };
  const env = { CARDPRESS_SOURCE_ALLOWED_ORIGINS: `http://127.0.0.1:${host.port}` };
  server = await testServer({ clock, env, knowsPhotos: true });
});
afterAll(async () => {
  await server.close();
  await host.stop(true);
});

test("a create under way when the clock is set is answered, and so is its card and the next create", async () => {
  const { liveKey } = await testAccount(server.service, { tier: "scale", credits: 20 });
  const create = () =>
    post(
      server.baseUrl,
      liveKey,
      imageRequest({ player: { source_image_url: `http://127.0.0.1:${host.port}/yoga.jpg` } }),
    );
  for (const ms of [HOUR_MS, 40 * DAY_MS, -HOUR_MS, -40 * DAY_MS]) {
    asked = Promise.withResolvers();
    sent = Promise.withResolvers();
    const inFlight = create();
    await asked.promise;
    setByMs = ms;
    sent.resolve();
    const [during, after] = [await inFlight, await create()];
    expect([ms, during.status, after.status]).toEqual([ms, 202, 202]);
    for (const { data } of [await during.json(), await after.json()])
      expect((await untilEnded(server.baseUrl, liveKey, data.image_id)).status).toBe("completed");
  }
});
