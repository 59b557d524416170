import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import { addressOf } from "../console/sessions.ts";
import { get, post, type TestServer, testServer } from "../harness.ts";
import { ENGINE } from "../postgres.ts";
import {
  clockAfter,
  isSignedWith,
  type Released,
  receiver,
  releasedFolder,
  sendHooksTo,
  signInByForm,
  untilEnded,
} from "./released.ts";

const RELEASE = "0.1.0";
const onSqlite = test.skipIf(ENGINE === "postgres");

let old: Released;
let server: TestServer;
let hooks: ReturnType<typeof receiver>;
const database = () => join(old.folder.dir, "cardpress.db");

/** Every row of every table that the release had. */
function rowsOf(file: string): Record<string, string[]> {
  const db = new Database(file);
  const tables = db.query<{ name: string }, []>(
    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
  );
  const rows = tables.all().map(({ name }) => [
    name,
    db
      .query(`SELECT * FROM ${name}`)
      .all()
      .map((row) => JSON.stringify(row)),
  ]);
  db.close();
  return Object.fromEntries(rows);
}

beforeAll(async () => {
  if (ENGINE === "postgres") return;
  old = await releasedFolder(RELEASE);
  hooks = receiver();
  sendHooksTo(database(), hooks.url);
  server = await testServer({
    dataDir: old.folder.dir,
    clock: clockAfter(old.facts),
    env: {
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: new URL(hooks.url).origin,
      CARDPRESS_SOURCE_ALLOWED_ORIGINS: new URL(old.facts.first_request.body.player.source_image_url).origin,
    },
  });
});
let closed: Promise<void> | undefined;
const closeServer = () => (closed ??= server?.close());
afterAll(async () => {
  await closeServer();
  await hooks?.stop();
  await old?.folder.remove();
});

onSqlite("after the upgrade every picture of 0.1.0 is served with the same bytes", async () => {
  const { images, live_key, test_key } = old.facts;
  for (const [key, id] of [...images.finished.map((each) => [live_key, each]), [test_key, images.tested]]) {
    const { data } = await (await get(server.baseUrl, key ?? "", `/v1/images/${id}`)).json();
    expect(data).toMatchObject({ status: "completed", result: { width: 512, height: 640 } });
    const name = new URL(data.result.image_url).pathname.split("/").at(-1) ?? "";
    const [path = ""] = [...old.files.keys()].filter((file) => file.endsWith(name));
    const served = await fetch(`${server.baseUrl}/cdn/${name}`);
    expect(served.headers.get("content-type")).toBe("image/jpeg");
    expect(Buffer.compare(await served.bytes(), old.files.get(path) ?? new Uint8Array())).toBe(0);
  }
});

onSqlite(
  "the card that 0.1.0 had accepted is drawn, charged once, and announced with signatures of both its secrets",
  async () => {
    const { unfinished } = old.facts.images;
    const ended = await untilEnded(server.baseUrl, old.facts.live_key, unfinished);
    expect(ended).toMatchObject({ status: "completed", usage: { credits_used: 1 } });
    const picture = await fetch(server.baseUrl + new URL(ended.result.image_url).pathname);
    expect([picture.status, (await picture.bytes()).length > 10_000]).toEqual([200, true]);
    const announcing = () => hooks.received.filter(({ body }) => body.includes(unfinished));
    while (announcing().length === 0) await Bun.sleep(25);
    const [call] = announcing();
    for (const secret of old.facts.webhook_secrets) expect(isSignedWith(secret, call)).toBe(true);
    expect(announcing()).toHaveLength(1);
  },
);

onSqlite("a card that failed under 0.1.0 still says why, and cost nothing", async () => {
  const { images, live_key, test_key } = old.facts;
  for (const [key, id] of [
    [live_key, images.failed[0]],
    [test_key, images.test_failed],
  ]) {
    const { data } = await (await get(server.baseUrl, key ?? "", `/v1/images/${id}`)).json();
    expect([data.status, data.usage]).toEqual(["failed", undefined]);
    expect(data.failure.message).toStartWith("No player was found in the photo.");
  }
});

onSqlite("the books of 0.1.0 add up, and its keys, its retries and its numbers go on", async () => {
  const { live_key, test_key, revoked_key, images, first_request } = old.facts;
  await untilEnded(server.baseUrl, live_key, images.unfinished);
  const { service } = server;
  const books = await audit(service.store, service.clock.now(), { blobs: service.blobs });
  expect(books.findings.filter(({ ok }) => !ok)).toEqual([]);
  const { data: usage } = await (
    await get(server.baseUrl, live_key, "/v1/usage?period=current_month")
  ).json();
  expect(usage).toMatchObject({ images_completed: 3, credits_used: 3, credits_remaining: 25 });
  const headers = { "Idempotency-Key": first_request.idempotency_key };
  const again = await post(server.baseUrl, live_key, first_request.body, headers);
  const replayed = await again.json();
  expect(replayed.error).toBeNull();
  expect([again.status, replayed.data.image_id]).toEqual([202, images.finished[0]]);
  const fresh = await post(server.baseUrl, test_key, first_request.body, { "Idempotency-Key": "new-1" });
  const { data } = await fresh.json();
  expect(await untilEnded(server.baseUrl, test_key, data.image_id)).toMatchObject({ status: "completed" });
  expect((await get(server.baseUrl, revoked_key, "/v1/usage")).status).toBe(401);
});

onSqlite("people of 0.1.0 sign in with their passwords and open every page of the console", async () => {
  const { people, password, images, account } = old.facts;
  const seen: [string, number][] = [];
  for (const email of [people.owner, people.operator]) {
    const cookie = await signInByForm(server.baseUrl, email, password);
    for (const route of consoleRoutes.filter(({ method }) => method === "GET")) {
      const isOperators = route.path.startsWith("/console/operator");
      if (isOperators !== (email === people.operator) || route.path.includes("pulse")) continue;
      const path = addressOf(route, { images: images.finished[0] ?? "", accounts: account });
      const answer = await fetch(server.baseUrl + path, { headers: { cookie }, redirect: "manual" });
      await answer.bytes();
      seen.push([path, answer.status]);
    }
  }
  expect(seen.filter(([, status]) => status >= 500)).toEqual([]);
  const statusOf = Object.fromEntries(seen);
  for (const path of ["/console", "/console/images", `/console/images/${images.finished[0]}`])
    expect([path, statusOf[path]]).toEqual([path, 200]);
  for (const path of [
    "/console/operator",
    `/console/operator/accounts/${account}`,
    "/console/operator/audit",
  ])
    expect([path, statusOf[path]]).toEqual([path, 200]);
});

onSqlite(
  "an operator goes back to 0.1.0 by the copy that was made, and finds its database as it was",
  async () => {
    const before = await releasedFolder(RELEASE);
    sendHooksTo(join(before.folder.dir, "cardpress.db"), hooks.url);
    await closeServer();
    const [copy = ""] = readdirSync(join(old.folder.dir, "backups"));
    expect(copy).toMatch(/^before-migration-0003_vouched_users-.*\.sqlite$/);
    expect(rowsOf(database())).not.toEqual(rowsOf(join(before.folder.dir, "cardpress.db")));
    // What the program's refusal of a newer database says to do.
    for (const suffix of ["-wal", "-shm"]) rmSync(database() + suffix, { force: true });
    copyFileSync(join(old.folder.dir, "backups", copy), database());
    expect(rowsOf(database())).toEqual(rowsOf(join(before.folder.dir, "cardpress.db")));
    // Schema and all: it knows no other migration.
    const schema = (file: string) => {
      const db = new Database(file);
      const found = db.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").values();
      db.close();
      return found;
    };
    expect(schema(database())).toEqual(schema(join(before.folder.dir, "cardpress.db")));
    // Its pictures and its key were not touched meanwhile.
    for (const [name, bytes] of before.files)
      if (!name.startsWith("cardpress.db") && !name.startsWith("sources/"))
        expect([name, Buffer.compare(await Bun.file(join(old.folder.dir, name)).bytes(), bytes)]).toEqual([
          name,
          0,
        ]);
    await before.folder.remove();
  },
);
