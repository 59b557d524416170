import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { imageRequest, post, testAccount, testConfig, testFolder, untilEnded } from "../harness.ts";

test("SIGTERM cuts no request, gives unfinished work back uncounted, and the process ends by itself, before its limit", async () => {
  const folder = testFolder();
  const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
  const { liveKey } = await testAccount(workspace, { credits: 100 });
  await workspace.store.close();

  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const photo = Bun.file(join(import.meta.dir, "../photos/astronaut.png"));
  const photos = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname === "/slow.png") {
        asked.resolve();
        await answer.promise;
      }
      return new Response(photo);
    },
  });
  const origin = `http://127.0.0.1:${photos.port}`;
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
    env: {
      ...process.env,
      CARDPRESS_DATA_DIR: folder.dir,
      CARDPRESS_PORT: "0",
      CARDPRESS_RENDER_WORKERS: "1",
      CARDPRESS_SOURCE_ALLOWED_ORIGINS: origin,
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const listening = Promise.withResolvers<string>();
  const draining = Promise.withResolvers<void>();
  const reading = (async () => {
    let log = "";
    for await (const chunk of server.stdout as unknown as AsyncIterable<Uint8Array>) {
      log += new TextDecoder().decode(chunk);
      const address = /"address":"([^"]+)"/.exec(log)?.[1];
      if (address) listening.resolve(address);
      if (log.includes('"event":"draining"')) draining.resolve();
    }
  })();
  const address = await listening.promise;
  const create = (name: string) =>
    post(
      address,
      liveKey,
      imageRequest({
        player: { source_image_url: `${origin}/${name}.png` },
        style: { width: 512, height: 512 },
      }),
    );
  // One card first, so that the worker is warm and busy with the next ones when the signal comes.
  const { data } = (await (await create("first")).json()) as { data: { image_id: string } };
  expect((await untilEnded(address, liveKey, data.image_id)).status).toBe("completed");
  const quick = await Promise.all(Array.from({ length: 4 }, (_, n) => create(`quick-${n}`)));
  expect(quick.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  // Polling keeps a connection open that has nothing under way; it must not hold the drain up.
  const slow = create("slow");
  await asked.promise;
  server.kill("SIGTERM");
  await draining.promise;
  expect(await create("late").catch((error: Error) => error.name)).not.toHaveProperty("status", 202);
  answer.resolve();
  expect((await slow).status).toBe(202);
  // At its limit of less than 30 s it ends with 1.
  expect(await server.exited).toBe(0);
  await reading;
  // Nor does its browser leave anything behind.
  expect(readdirSync(join(folder.dir, "profiles"))).toEqual([]);

  const db = new Database(join(folder.dir, "cardpress.db"));
  const states = db.query("SELECT state, renders, count(*) FROM images GROUP BY 1, 2").values() as [
    string,
    number,
    number,
  ][];
  db.close();
  expect(states.reduce((sum, [, , count]) => sum + count, 0)).toBe(6);
  for (const [state, renders] of states) {
    expect(["queued", "completed"]).toContain(state);
    if (state === "queued") expect(renders).toBe(0);
  }
  await photos.stop(true);
  await folder.remove();
});
