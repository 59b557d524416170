import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Answer, httpAnswer } from "../../src/http/server.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { ampleQueue, idlePool } from "../fakes.ts";
import {
  fakeClock,
  imageRequest,
  openTestStore,
  photoServer,
  seededRandom,
  silentLog,
  testAccount,
  testConfig,
  testFolder,
} from "../harness.ts";
import { ENGINE } from "../postgres.ts";
import { notedStore } from "../statements.ts";

// How many statements the API's calls cost: on PostgreSQL each is a round trip, in which the request waits.

const folder = testFolder();
const photos = photoServer();
const clock = fakeClock();
const store = notedStore(openTestStore(clock));
let workspace: Workspace;
let answer: Answer;
let key: string;
beforeAll(async () => {
  const config = testConfig(folder.dir, { CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin });
  const random = seededRandom();
  workspace = await openWorkspace(config, silentLog, { clock, random, openStore: store.openStore });
  key = (await testAccount(workspace)).liveKey;
  answer = httpAnswer({
    ...buildDeps(workspace, { pool: idlePool, queue: ampleQueue() }),
    isDraining: () => false,
  });
  // The first ones note that the key is used, and keep the template's files.
  await create();
  await workspace.store.write("let what goes on beside it end", async () => {});
});
afterAll(async () => {
  await workspace.store.close();
  await photos.stop();
  await folder.remove();
});

let creates = 0;
async function create(): Promise<string> {
  const headers = {
    "X-API-Key": key,
    "Idempotency-Key": `key-${++creates}`,
    "Content-Type": "application/json",
  };
  const body = JSON.stringify(imageRequest({ player: { source_image_url: photos.url("yoga.jpg") } }));
  const response = await answer(
    new Request("http://localhost/v1/images", { method: "POST", headers, body }),
    "127.0.0.1",
  );
  expect(response.status).toBe(202);
  return ((await response.json()) as { data: { image_id: string } }).data.image_id;
}

const on = (counts: Record<typeof ENGINE, number>) => counts[ENGINE];

test("a live create with a known photo costs this many statements, begin and commit included", async () => {
  // One asks for the player's consent. On PostgreSQL three more notify other processes of the photo, three
  // count calls and bytes, and one is the queue's.
  expect(await store.during(create)).toHaveLength(on({ sqlite: 16, postgres: 23 }));
});

test("a poll costs the image, and where others serve too the key and the rate limit", async () => {
  const id = await create();
  const get = () =>
    answer(new Request(`http://localhost/v1/images/${id}`, { headers: { "X-API-Key": key } }), "127.0.0.1");
  expect((await get()).status).toBe(200);
  expect(await store.during(get)).toHaveLength(on({ sqlite: 1, postgres: 3 }));
});
