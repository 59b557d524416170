import { afterAll, afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ownerOf } from "../../src/app/bucket-files.ts";
import { claimImage, renderNextImage } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { examine } from "../../src/app/operations/doctor/doctor.ts";
import { sweepFiles } from "../../src/app/operations/sweep.ts";
import { takeOver } from "../../src/app/operations/take-over.ts";
import { type BucketSettings, openBucket } from "../../src/blobs/bucket.ts";
import { claimBucket, SHARED_OWNER } from "../../src/blobs/bucket-owner.ts";
import { folderBlobs } from "../../src/blobs/folder-blobs.ts";
import { OperatorError } from "../../src/core/errors.ts";
import { StorageUnavailable } from "../../src/core/storage-unavailable.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/time.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { findImage } from "../../src/store/images/image-reads.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { lockFile } from "../../src/system/file-lock.ts";
import { acceptWithPhoto, finishNext } from "../app/operations/stocked.ts";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import { runCommandWith } from "../cli/run.ts";
import { picturesAfter, poolOf } from "../fakes.ts";
import {
  fakeClock,
  imageRequest,
  post,
  seededRandom,
  silentLog,
  type TestFolder,
  testAccount,
  testConfig,
  testFolder,
  testServer,
  untilEnded,
} from "../harness.ts";

// Rows in a data folder, photos and pictures in a bucket.

const pool = poolOf(picturesAfter(async () => {}));
const open: TestFolder[] = [];
afterEach(async () => {
  for (const folder of open.splice(0)) await folder.remove();
});
afterAll(stopEmulator);

function newFolder(): string {
  const folder = testFolder();
  open.push(folder);
  return folder.dir;
}

function envOf({ endpoint, region, bucket, accessKeyId, secretAccessKey }: BucketSettings) {
  return {
    CARDPRESS_S3_ENDPOINT: endpoint,
    CARDPRESS_S3_REGION: region,
    CARDPRESS_S3_BUCKET: bucket,
    CARDPRESS_S3_ACCESS_KEY_ID: accessKeyId,
    CARDPRESS_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

const openOn = (dir: string, env: Record<string, string> = {}) =>
  openWorkspace(testConfig(dir, env), silentLog, {
    clock: fakeClock(new Date().toISOString()),
    random: seededRandom(),
  });

/** A data folder with two finished cards and one that is not; returns the names of what it keeps. */
async function stocked(dir: string, env: Record<string, string> = {}) {
  const workspace = await openOn(dir, env);
  const { account } = await testAccount(workspace);
  for (let n = 0; n < 3; n++) await acceptWithPhoto(workspace, account.id);
  const pictures = [(await finishNext(workspace)).name, (await finishNext(workspace)).name];
  await workspace.store.close();
  return { pictures, accountId: account.id };
}

/** Why it cannot be opened; undefined when it can. */
async function refusal(dir: string, env: Record<string, string> = {}): Promise<string | undefined> {
  try {
    await (await openOn(dir, env)).store.close();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return (error as Error).message;
  }
}

const filesUnder = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

/** The objects of a bucket, without what is put there only to try it. */
async function keysOf(settings: BucketSettings): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of (await openBucket(settings)).list("")) keys.push(key);
  return keys.toSorted();
}

test("with SQLite and a bucket a card is made, served and found again, and no photo or picture is in the folder", async () => {
  const dir = newFolder();
  const settings = await emptyBucket();
  const env = envOf(settings);
  const first = await testServer({ env, dataDir: dir });
  const { liveKey } = await testAccount(first.service);
  const body = imageRequest({ player: { source_image_url: first.photos.url("astronaut.png") } });
  const accepted = await post(first.baseUrl, liveKey, body);
  expect(accepted.status).toBe(202);
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  const card = await untilEnded(first.baseUrl, liveKey, data.image_id);
  expect(card.status).toBe("completed");
  const picture = new URL(card.result.image_url).pathname;
  const drawn = await (await fetch(first.baseUrl + picture)).bytes();
  expect(drawn.length).toBeGreaterThan(10_000);
  const { images, sources, database } = first.service.folder;
  expect([...filesUnder(images), ...filesUnder(sources)]).toEqual([]);
  expect(existsSync(database)).toBe(true);
  expect((await keysOf(settings)).map((key) => key.split("/")[0])).toEqual(
    expect.arrayContaining(["owner", "picture", "source", "template"]),
  );
  await first.close();

  const second = await testServer({ env, dataDir: dir });
  expect(await (await fetch(second.baseUrl + picture)).bytes()).toEqual(drawn);
  const report = await audit(second.service.store, Date.now(), { blobs: second.service.blobs });
  expect(report.findings.filter(({ ok }) => !ok)).toEqual([]);
  await second.close();
});

test("a kill between a picture and its row loses no card, and what it left is swept from the bucket", async () => {
  const dir = newFolder();
  const env = envOf(await emptyBucket());
  const { pictures, accountId } = await stocked(dir, env);
  const killed = await openOn(dir, env);
  const image = await claimImage(killed, "live");
  const orphan = `${image?.id}-dead.png`;
  await killed.blobs.put("picture", orphan, "of a killed render");
  await killed.store.close();

  const clock = fakeClock(new Date().toISOString());
  const workspace = await openWorkspace(testConfig(dir, env), silentLog, { clock });
  const names = async () => {
    const found: string[] = [];
    for await (const name of workspace.blobs.list("picture", Number.POSITIVE_INFINITY)) found.push(name);
    return found.toSorted();
  };
  await sweepFiles(workspace);
  expect(await names()).toEqual([...pictures, orphan].toSorted());
  await takeOver(workspace);
  clock.advance(5 * MINUTE_MS);
  const { id, name } = await finishNext(workspace);
  expect(id).toBe(image?.id ?? "");
  expect(await findImage(workspace.store.read, { accountId, environment: "live", id })).toMatchObject({
    state: "completed",
    outputName: name,
  });
  clock.advance(2 * HOUR_MS);
  await sweepFiles(workspace);
  expect(await names()).toEqual([...pictures, name].toSorted());
  await workspace.store.close();
});

test("a folder's files go into a bucket and back, byte by byte, and go on where they were broken off", async () => {
  const dir = newFolder();
  const settings = await emptyBucket();
  const env = envOf(settings);
  const { pictures } = await stocked(dir);
  const folder = openDataFolder(dir);
  const here = folderBlobs(folder);
  const [kept = ""] = pictures;
  const deleted = "img_deleted-x.png";
  const bytes = await (await here.open("picture", kept))?.bytes();
  await here.put("picture", deleted, new Uint8Array(3));

  expect(await refusal(dir, env)).toMatch(/holds photos or pictures.*"cardpress migrate --files bucket"/);
  const lock = lockFile(folder.serverLock);
  const running = await runCommandWith(env, dir, "migrate", "--files", "bucket");
  expect(running.err).toMatch(/The service runs on/);
  lock?.release();

  // As a killed run leaves it: the service goes on in the folder, and deletes what was copied.
  await runCommandWith(
    { ...env, CARDPRESS_S3_SECRET_ACCESS_KEY: "wrong" },
    dir,
    "migrate",
    "--files",
    "bucket",
  );
  await runCommandWith(env, dir, "migrate", "--files", "bucket", "--json");
  const noted = join(dir, "bucket.json");
  const note = await Bun.file(noted).json();
  await Bun.write(noted, JSON.stringify({ ...note, state: "filling" }));
  expect(await refusal(dir)).toBeUndefined();
  expect(await refusal(dir, env)).toMatch(/"cardpress migrate --files bucket"/);
  await here.remove("picture", deleted);

  const moved = await runCommandWith(env, dir, "migrate", "--files", "bucket", "--remove-source", "--json");
  expect(moved.code).toBe(0);
  expect(moved.json().removed).toBeGreaterThan(1);
  expect([...filesUnder(folder.images), ...filesUnder(folder.sources)]).toEqual([]);
  const keys = await keysOf(settings);
  expect(keys).toContain(`picture/${kept}`);
  expect(keys).not.toContain(`picture/${deleted}`);
  const there = await openOn(dir, env);
  expect(await (await there.blobs.open("picture", kept))?.bytes()).toEqual(bytes);
  await there.store.close();
  expect(await refusal(dir)).toMatch(/are in the bucket .* CARDPRESS_S3_BUCKET is not set/);

  const back = await runCommandWith(env, dir, "migrate", "--files", "folder", "--remove-source", "--json");
  expect(back.code).toBe(0);
  expect(await (await here.open("picture", kept))?.bytes()).toEqual(bytes);
  expect(await refusal(dir)).toBeUndefined();
  expect(await keysOf(settings)).toEqual([]);
});

test("a copy in the folder that the bucket lost is kept and named on the way back, and what was deleted since is not", async () => {
  const dir = newFolder();
  const settings = await emptyBucket();
  const env = envOf(settings);
  const { pictures } = await stocked(dir);
  const [lost = "", whole = ""] = pictures;
  const here = folderBlobs(openDataFolder(dir));
  await runCommandWith(env, dir, "migrate", "--files", "bucket");
  await here.put("picture", "img_deleted-x.png", new Uint8Array(3));
  await (await openBucket(settings)).remove(`picture/${lost}`);

  const back = await runCommandWith(env, dir, "migrate", "--files", "folder", "--remove-source", "--json");
  expect(back.json().kept).toEqual({ count: 1, files: [lost] });
  expect(await here.stat("picture", lost)).not.toBeNull();
  expect(await here.stat("picture", whole)).not.toBeNull();
  expect(await here.stat("picture", "img_deleted-x.png")).toBeNull();
});

test("a bucket belongs to one data folder: no other, no server on PostgreSQL and no wrong bucket gets in", async () => {
  const settings = await emptyBucket();
  const env = envOf(settings);
  const own = newFolder();
  await stocked(own, env);
  expect(await refusal(newFolder(), env)).toMatch(/belongs to another data folder since .*--take-bucket/);
  expect(await refusal(own, envOf(await emptyBucket()))).toMatch(/are in the bucket .*, not in /);

  const shared = await emptyBucket();
  const bucket = await openBucket(shared);
  await bucket.put("picture/one.png", new Uint8Array(1));
  expect(await refusal(newFolder(), envOf(shared))).toMatch(/of other servers, which this one would remove/);
  await claimBucket(bucket, ownerOf(SHARED_OWNER));
  const taking = newFolder();
  await stocked(taking, envOf(await emptyBucket()));
  expect((await runCommandWith(envOf(shared), taking, "migrate", "--take-bucket")).err).toMatch(
    /belongs to servers on PostgreSQL/,
  );
  const key = join(taking, "key");
  await Bun.write(key, Buffer.alloc(32, 7).toString("base64"));
  const cluster = {
    CARDPRESS_DATABASE_URL: "postgres://nobody@127.0.0.1:1/x",
    CARDPRESS_SECRET_KEY_FILE: key,
  };
  expect(await refusal(newFolder(), { ...env, ...cluster })).toMatch(/belongs to a data folder since/);

  // A database that is lost beside a bucket's pictures is not begun anew.
  renameSync(join(own, "cardpress.db"), join(own, "lost"));
  for (const suffix of ["-wal", "-shm"]) await rm(join(own, `cardpress.db${suffix}`), { force: true });
  expect(await refusal(own, env)).toMatch(/There are pictures in the bucket .* database .* missing/);
});

test("a service whose bucket another has taken sweeps nothing in it, and is not ready", async () => {
  const settings = await emptyBucket();
  const dir = newFolder();
  await stocked(dir, envOf(settings));
  const workspace = await openOn(dir, envOf(settings));
  expect(await workspace.blobs.isWritable()).toBe(true);
  await claimBucket(await openBucket(settings), ownerOf("another"));
  expect(await workspace.blobs.isWritable()).toBe(false);
  const before = await keysOf(settings);
  const later = { ...workspace, clock: fakeClock(new Date(Date.now() + 90 * DAY_MS).toISOString()) };
  await expect(sweepFiles(later)).rejects.toThrow(StorageUnavailable);
  expect(await keysOf(settings)).toEqual(before);
  await workspace.store.close();
});

test("a backup without the bucket's files becomes a folder that is refused until it takes the bucket over", async () => {
  const settings = await emptyBucket();
  const env = envOf(settings);
  const dir = newFolder();
  const { pictures } = await stocked(dir, env);
  const archive = join(newFolder(), "cards.tar");
  const made = await runCommandWith(env, dir, "backup", "--to", archive, "--json");
  expect(made.code).toBe(0);
  expect(made.json()).toMatchObject({ bucket: settings.bucket, missing: { count: 0 } });

  const restored = join(newFolder(), "restored");
  const unpacked = await runCommandWith(env, restored, "restore", "--from", archive, "--json");
  expect(unpacked.json()).toMatchObject({ bucket: settings.bucket, missing: { count: 0 } });
  expect(await refusal(restored, env)).toMatch(/is a copy of a data folder .*--take-bucket/);
  expect(await refusal(restored)).toMatch(/are in the bucket/);
  expect(await refusal(dir, env)).toBeUndefined();

  const [lost = "", kept = ""] = pictures;
  await (await openBucket(settings)).remove(`picture/${lost}`);
  const taken = await runCommandWith(env, restored, "migrate", "--take-bucket", "--json");
  expect(taken.json().missing).toEqual({ count: 1, files: [lost] });
  const workspace = await openOn(restored, env);
  expect(await workspace.blobs.stat("picture", kept)).not.toBeNull();
  await workspace.store.close();
  expect(await refusal(dir, env)).toMatch(/belongs to another data folder/);
});

test("the doctor tries what the bucket's key may do, and says what is left in the folder", async () => {
  const settings = await emptyBucket();
  const dir = newFolder();
  const check = async (env: Record<string, string>, name: string) =>
    (await examine(testConfig(dir, env))).find((each) => each.check === name);
  await stocked(dir);
  await runCommandWith(envOf(settings), dir, "migrate", "--files", "bucket");
  expect(await check(envOf(settings), "bucket")).toMatchObject({
    status: "warning",
    message: expect.stringMatching(/takes, gives, lists and removes files, but .*--remove-source/),
  });
  await runCommandWith(envOf(settings), dir, "migrate", "--files", "bucket", "--remove-source");
  expect(await check(envOf(settings), "bucket")).toMatchObject({ status: "ok" });
  expect(await check(envOf(settings), "pictures")).toMatchObject({ status: "ok" });
  expect(await check(envOf({ ...settings, bucket: "not-there" }), "bucket")).toMatchObject({
    status: "failed",
    message: expect.stringContaining("cannot reach the bucket not-there"),
  });
});

test("without its bucket nothing is lost: an image waits, and goes on once the bucket is back", async () => {
  const settings = await emptyBucket();
  const dir = newFolder();
  const { accountId } = await stocked(dir, envOf(settings));
  let isAway = false;
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (isAway) return new Response(null, { status: 503 });
      const { pathname, search } = new URL(request.url);
      const body = await request.bytes();
      const { method, headers } = request;
      const sent = { method, headers, ...(body.length > 0 && { body }) };
      const answer = await fetch(settings.endpoint + pathname + search, sent);
      return new Response(method === "HEAD" ? null : await answer.bytes(), answer);
    },
  });
  const away = { ...settings, endpoint: `http://127.0.0.1:${proxy.port}` };
  const clock = fakeClock(new Date().toISOString());
  const workspace = await openWorkspace(testConfig(dir, envOf(away)), silentLog, { clock });
  const render = () =>
    renderNextImage(buildDeps(workspace, { pool }), new AbortController().signal, () => {});
  const statuses = async () =>
    (await workspace.store.read.db.select().from(workspace.store.read.t.images)).map(({ state }) => state);
  isAway = true;
  expect(await workspace.blobs.isWritable()).toBe(false);
  await expect(acceptWithPhoto(workspace, accountId)).rejects.toThrow(
    /cannot store the picture at the moment/,
  );
  await render();
  expect((await statuses()).toSorted()).toEqual(["completed", "completed", "queued"]);
  isAway = false;
  expect(await workspace.blobs.isWritable()).toBe(true);
  clock.advance(HOUR_MS);
  await render();
  expect(await statuses()).toEqual(["completed", "completed", "completed"]);
  await workspace.store.close();
  proxy.stop(true);
});
