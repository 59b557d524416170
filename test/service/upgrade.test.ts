import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { unpackTar } from "modern-tar";
import { Webhook } from "standardwebhooks";
import { audit } from "../../src/app/operations/audit/audit.ts";
import type { Clock } from "../../src/core/ports.ts";
import { systemClock } from "../../src/system/clock-file.ts";
import {
  get,
  post,
  type TestFolder,
  type TestServer,
  testFolder,
  testServer,
  untilEnded,
} from "../harness.ts";
import { ENGINE } from "../postgres.ts";

// What 0.1.0 wrote, see fixtures/upgrade/README.md.
const LIVE_KEY = "sk_live_2M1Fcm8ivZmUn4VK9XDFdiEmullxiLDvprCA3JJhT373JXshI";
const TEST_KEY = "sk_test_K3OZ2qshEoXNKK7fGNhcyrOesAhSSpgZIgRAT0tG0YI35yZik";
const WEBHOOK_SECRET = "whsec_lGNyOQklgMOZZeWPt97+fxC/83lrgPHmUrSIQD2ve9M=";
const FINISHED = ["img_mc9tHV8bW2clV93tHWG4DYkk", "img_jCIDytp9jUXI9ACLmlTfa3if"];
const TESTED = "img_zfvHVSUlMshT01BjCkeKfUi7";
const UNFINISHED = "img_grqMVAQ7U0MP4OwYwxuWDim6";
/** Its first request. */
const FIRST_REQUEST = {
  type: "player_card",
  style: { preset: "club_card", width: 512, height: 640, format: "jpeg" },
  player: {
    external_id: "p1",
    name: "Ana Silva",
    position: "GK",
    number: 1,
    skill_level: 61,
    source_image_url: "http://127.0.0.1:4822/yoga.jpg",
  },
};
/** A minute after it was killed, running on from there: its pictures are served for 30 days. */
const AFTERWARDS = Date.parse("2026-11-22T20:36:36Z");

let folder: TestFolder;
let server: TestServer;
let files: Map<string, Uint8Array>;
let receiver: ReturnType<typeof Bun.serve>;
const received: { headers: Record<string, string>; body: string }[] = [];

beforeAll(async () => {
  if (ENGINE === "postgres") return;
  folder = testFolder();
  const archive = await Bun.file(join(import.meta.dir, "../fixtures/upgrade/data-0.1.0.tar.zst")).bytes();
  const entries = await unpackTar(Bun.zstdDecompressSync(archive));
  files = new Map(entries.flatMap(({ header, data }) => (data ? [[header.name, data] as const] : [])));
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder.dir, name)), { recursive: true });
    await Bun.write(join(folder.dir, name), bytes);
  }
  receiver = Bun.serve({
    port: 0,
    fetch: async (request) => {
      received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      return new Response();
    },
  });
  // The endpoint's machine of then is gone. Nothing else is changed.
  const db = new Database(join(folder.dir, "cardpress.db"));
  db.run("UPDATE webhook_endpoints SET url = ?", [`${receiver.url}hook`]);
  db.close();
  const startedAt = systemClock.elapsed();
  const clock: Clock = {
    ...systemClock,
    now: () => AFTERWARDS + systemClock.elapsed() - startedAt,
  };
  server = await testServer({
    dataDir: folder.dir,
    clock,
    env: {
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: receiver.url.origin,
      CARDPRESS_SOURCE_ALLOWED_ORIGINS: new URL(FIRST_REQUEST.player.source_image_url).origin,
    },
  });
});
afterAll(async () => {
  await server?.close();
  await receiver?.stop(true);
  await folder?.remove();
});

const onSqlite = test.skipIf(ENGINE === "postgres");

onSqlite("after the upgrade every picture of 0.1.0 is served with the same bytes", async () => {
  for (const [key, id] of [...FINISHED.map((each) => [LIVE_KEY, each]), [TEST_KEY, TESTED]] as const) {
    const { data } = await (await get(server.baseUrl, key ?? "", `/v1/images/${id}`)).json();
    expect(data).toMatchObject({ status: "completed", result: { width: 512, height: 640 } });
    const name = new URL(data.result.image_url).pathname.split("/").at(-1) ?? "";
    const [path = ""] = [...files.keys()].filter((file) => file.endsWith(name));
    const served = await fetch(`${server.baseUrl}/cdn/${name}`);
    expect(served.headers.get("content-type")).toBe("image/jpeg");
    expect(Buffer.compare(await served.bytes(), files.get(path) ?? new Uint8Array())).toBe(0);
  }
});

onSqlite(
  "the card that 0.1.0 had accepted is drawn, charged once, and announced with a signature of its secret",
  async () => {
    const ended = await untilEnded(server.baseUrl, LIVE_KEY, UNFINISHED);
    expect(ended).toMatchObject({ status: "completed", usage: { credits_used: 1 } });
    const picture = await fetch(server.baseUrl + new URL(ended.result.image_url).pathname);
    expect([picture.status, (await picture.bytes()).length > 10_000]).toEqual([200, true]);
    while (!received.some(({ body }) => body.includes(UNFINISHED))) await Bun.sleep(25);
    const [call] = received;
    // Its time is that of the service's clock, so the signature alone is verified.
    const id = call?.headers["webhook-id"] ?? "";
    const at = new Date(Number(call?.headers["webhook-timestamp"]) * 1000);
    const signature = new Webhook(WEBHOOK_SECRET).sign(id, at, call?.body ?? "");
    expect(call?.headers["webhook-signature"]?.split(" ")).toContain(signature);
    expect(received).toHaveLength(1);
  },
);

onSqlite("the books of 0.1.0 add up, and its keys, its retries and its numbers go on", async () => {
  await untilEnded(server.baseUrl, LIVE_KEY, UNFINISHED);
  const { service } = server;
  expect(await audit(service.store, service.clock.now())).toMatchObject({ ok: true });
  const { data: usage } = await (
    await get(server.baseUrl, LIVE_KEY, "/v1/usage?period=current_month")
  ).json();
  expect(usage).toMatchObject({ images_completed: 3, credits_used: 3, credits_remaining: 22 });
  const again = await post(server.baseUrl, LIVE_KEY, FIRST_REQUEST, { "Idempotency-Key": "old-1" });
  const replayed = await again.json();
  expect(replayed.error).toBeNull();
  expect([again.status, replayed.data.image_id]).toEqual([202, FINISHED[0]]);
  const fresh = await post(server.baseUrl, TEST_KEY, FIRST_REQUEST, { "Idempotency-Key": "new-1" });
  const { data } = await fresh.json();
  expect(await untilEnded(server.baseUrl, TEST_KEY, data.image_id)).toMatchObject({ status: "completed" });
});

onSqlite("the database of 0.1.0 was copied before it was changed", () => {
  expect(readdirSync(join(folder.dir, "backups"))).toContainEqual(
    expect.stringMatching(/^before-migration-0003_vouched_users-.*\.sqlite$/),
  );
});
