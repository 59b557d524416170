import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { startServer } from "../../src/service/server.ts";
import { stopEmulator } from "../buckets.ts";
import { runCommandWith } from "../cli/run.ts";
import { emptyCluster } from "../clusters.ts";
import { get, post, silentLog, testConfig, testFolder } from "../harness.ts";
import { ENGINE } from "../postgres.ts";
import {
  clockAfter,
  isSignedWith,
  receiver,
  releasedFolder,
  sendHooksTo,
  signInByForm,
  untilEnded,
} from "./released.ts";

afterAll(stopEmulator);

/** Servers refuse a database of another time, and what the release wrote has expired by now. */
async function turnBack(url: string, ms: number): Promise<void> {
  const db = new SQL(url, { max: 1 });
  await db.unsafe(`CREATE SCHEMA back_then;
    CREATE FUNCTION back_then.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      $$ SELECT pg_catalog.clock_timestamp() - interval '${ms} ms' $$;
    ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, back_then, pg_catalog`);
  await db.close();
}

describe.skipIf(ENGINE !== "postgres")("a folder of 0.1.0 moved into a cluster", () => {
  test("keeps pictures, keys, retries, passwords, signatures and books, and draws what was unfinished", async () => {
    const { facts, folder, files } = await releasedFolder("0.1.0");
    const hooks = receiver();
    sendHooksTo(join(folder.dir, "cardpress.db"), hooks.url);
    const { CARDPRESS_DATABASE_URL: url = "", ...bucket } = await emptyCluster();
    const env = {
      ...bucket,
      CARDPRESS_SECRET_KEY_FILE: join(folder.dir, "secret.key"),
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: new URL(hooks.url).origin,
      CARDPRESS_SOURCE_ALLOWED_ORIGINS: new URL(facts.first_request.body.player.source_image_url).origin,
    };
    await turnBack(url, Date.now() - clockAfter(facts).now());
    const moved = await runCommandWith(env, folder.dir, "migrate", "--to", url);
    expect([moved.err, moved.out]).toEqual(["", expect.stringContaining("rules of the books hold there")]);

    const machine = testFolder();
    const config = testConfig(machine.dir, { ...env, CARDPRESS_DATABASE_URL: url });
    const server = await startServer(config, silentLog, { clock: clockAfter(facts) });
    const { baseUrl } = server.config;
    const { images, live_key, test_key, first_request } = facts;
    for (const id of images.finished) {
      const { data } = await (await get(baseUrl, live_key, `/v1/images/${id}`)).json();
      const { pathname } = new URL(data.result.image_url);
      const [, bytes] = [...files].find(([name]) => name.endsWith(pathname.split("/").at(-1) ?? "?")) ?? [];
      expect(Buffer.compare(await (await fetch(baseUrl + pathname)).bytes(), bytes ?? new Uint8Array())).toBe(
        0,
      );
    }
    const headers = { "Idempotency-Key": first_request.idempotency_key };
    const replayed = await (await post(baseUrl, live_key, first_request.body, headers)).json();
    expect(replayed.data.image_id).toBe(images.finished[0]);
    const fresh = await (await post(baseUrl, test_key, first_request.body)).json();
    expect(await untilEnded(baseUrl, test_key, fresh.data.image_id)).toMatchObject({ status: "completed" });
    expect(await untilEnded(baseUrl, live_key, images.unfinished)).toMatchObject({ status: "completed" });
    const announced = () => hooks.received.find(({ body }) => body.includes(images.unfinished));
    while (!announced()) await Bun.sleep(25);
    for (const secret of facts.webhook_secrets) expect(isSignedWith(secret, announced())).toBe(true);
    const cookie = await signInByForm(baseUrl, facts.people.owner, facts.password);
    expect((await fetch(`${baseUrl}/console/images`, { headers: { cookie } })).status).toBe(200);
    const { store, clock, blobs } = server.service;
    const books = await audit(store, clock.now(), { blobs });
    expect(books.findings.filter(({ ok }) => !ok)).toEqual([]);
    await server.stop();
    await hooks.stop();
    await Promise.all([folder.remove(), machine.remove()]);
  });
});
