import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sqliteTables, type Tables } from "../../db/schema.ts";
import { claimImage, renderNextImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import type { Step } from "../../src/app/operations/backup/backup.ts";
import { moveFolder } from "../../src/app/operations/move/move.ts";
import { moveBack } from "../../src/app/operations/move/move-back.ts";
import { takeOver } from "../../src/app/operations/take-over.ts";
import { saveKit } from "../../src/app/people/brand-kits.ts";
import { recordConsent } from "../../src/app/people/consent.ts";
import { makeSet } from "../../src/app/sets/manage-sets.ts";
import { createDeliverer } from "../../src/app/webhooks/deliver-webhook.ts";
import { createEndpoint, unreadableEndpoints } from "../../src/app/webhooks/manage-webhooks.ts";
import { BLOB_KINDS } from "../../src/blobs/blobs.ts";
import type { Config } from "../../src/config.ts";
import { NO_MINUTES, withMinute } from "../../src/core/minutes.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/time.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { TABLES_IN_ORDER } from "../../src/store/engine/move-rows.ts";
import type { Tx } from "../../src/store/store.ts";
import { lockFile } from "../../src/system/file-lock.ts";
import { acceptLive } from "../app/accepting.ts";
import { acceptWithPhoto } from "../app/operations/stocked.ts";
import { deliverDue, receiver } from "../app/webhooks/receivers.ts";
import { stopEmulator } from "../buckets.ts";
import { runCommandWith } from "../cli/run.ts";
import { emptyCluster } from "../clusters.ts";
import { picturesAfter, poolOf } from "../fakes.ts";
import { fakeClock, imageRequest, silentLog, testAccount, testConfig, testFolder } from "../harness.ts";
import { ENGINE } from "../postgres.ts";

afterAll(stopEmulator);

test("every table is moved", () => {
  expect(TABLES_IN_ORDER.toSorted()).toEqual((Object.keys(sqliteTables) as (keyof Tables)[]).toSorted());
});

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** A storage's address before it, at which reading pictures can be made to stall. */
function storageBefore(endpoint: string) {
  const pictures: string[] = [];
  let left = Number.POSITIVE_INFINITY;
  const stalled = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (request.method === "GET" && pathname.includes("/picture/")) {
        if (left-- <= 0) {
          stalled.resolve();
          await new Promise(() => {});
        }
        pictures.push(pathname);
      }
      const body = await request.bytes();
      const { method, headers } = request;
      const answer = await fetch(endpoint + pathname + search, {
        method,
        headers,
        ...(body.length > 0 && { body }),
      });
      return new Response(method === "HEAD" ? null : await answer.bytes(), answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    pictures,
    /** Resolves once a reader waits in vain. */
    stopsAfter: (reads: number) => {
      left = reads;
      return stalled.promise;
    },
    goOn: () => {
      left = Number.POSITIVE_INFINITY;
    },
    close: () => server.stop(true),
  };
}

const quiet: Step = (_, work) => work(() => {});
const pool = poolOf(picturesAfter(async () => {}));
const renderNext = (workspace: Workspace) =>
  renderNextImage(buildDeps(workspace, { pool }), new AbortController().signal, () => {});

function clusterOf({ cluster }: Config): NonNullable<Config["cluster"]> {
  if (!cluster) throw new Error("no cluster");
  return cluster;
}

/** Every row of every table, sorted. */
async function rowsOf({ db, t }: Tx): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const name of TABLES_IN_ORDER)
    rows[name] = (await db.select().from(t[name])).map((row) => JSON.stringify(row)).sort();
  return rows;
}

/** The bytes of every file by kind and name; cutouts are made anew where they are needed. */
async function filesOf({ blobs }: Workspace): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const kind of BLOB_KINDS.filter((each) => each !== "cutout"))
    for await (const name of blobs.list(kind, Number.POSITIVE_INFINITY))
      files[`${kind}/${name}`] = Bun.SHA256.hash(
        (await (await blobs.open(kind, name))?.bytes()) ?? "",
        "hex",
      );
  return files;
}

/**
 * A service's data with rows in every table, several pages of some: a card finished, one queued, one left by
 * a worker that died, and a webhook that is due.
 */
async function stock(workspace: Workspace, hook: string) {
  const { account } = await testAccount(workspace, { credits: 1_200 });
  const accountId = account.id;
  const own = { ...workspace.config, webhookAllowedOrigins: new Set([new URL(hook).origin]) };
  await createEndpoint({ ...workspace, config: own }, { accountId, environment: "live", url: hook });
  for (let n = 0; n < 3; n++) await acceptWithPhoto(workspace, accountId);
  await renderNext(workspace);
  expect(await claimImage(workspace, "live")).toBeDefined();
  const set = { name: "Rovers", season: "", parallels: [{ name: "gold", size: 50 }] };
  const players = [{ externalId: "test-1", name: "Maya", number: 9 }];
  const {
    set: { id },
  } = await makeSet(workspace, { accountId, environment: "test" }, { ...set, players });
  const card = imageRequest({ metadata: { season: "2026" }, player: { external_id: "test-1" } });
  await buildDeps(workspace, { pool }).acceptBatch({
    account,
    environment: "test",
    idempotencyKey: "squad",
    name: "squad",
    requests: [{ ...card, set: { id, parallel: "gold" } }],
  });
  await workspace.blobs.put("placeholder", "1024-abc", "a silhouette");
  const at = workspace.clock.now();
  const times = { createdAt: at, expiresAt: at + DAY_MS };
  const scope = { accountId, environment: "live" as const };
  await workspace.store.write("stock", async ({ db, t }) => {
    const [user] = await db
      .insert(t.users)
      .values({ id: "user_1", email: "ana@rovers.example", isOperator: 0, createdAt: at })
      .returning();
    const userId = user?.id ?? "";
    await db.insert(t.usageFailures).values({ ...scope, day: "2026-11-01", reason: "no_player", failed: 2 });
    await db.insert(t.statusDays).values({ day: "2026-11-01", minutes: withMinute(NO_MINUTES, 61) });
    const notice = { id: "notice_1", title: "Slow", message: "It is.", postedAt: at, resolvedAt: null };
    await db.insert(t.statusNotices).values(notice);
    await db.insert(t.memberships).values({ userId, accountId, role: "owner", createdAt: at });
    const subject = { id: "idn_1", issuer: "https://login.example", subject: "maya", lastUsedAt: at };
    await db.insert(t.identities).values({ userId, ...subject, createdAt: at });
    await db.insert(t.setupLinks).values({ tokenHash: "hash", userId, ...times });
    await db.insert(t.passkeys).values({
      id: "passkey_1",
      userId,
      credentialId: "c",
      publicKey: "p",
      counter: 3,
      name: "phone",
      createdAt: at,
    });
    await db.insert(t.sessions).values({
      id: "sess_1",
      tokenHash: "token",
      userId,
      csrfToken: "csrf",
      accountId,
      lastSeenAt: at,
      ...times,
    });
    await db.insert(t.mails).values({
      id: "mail_1",
      occasion: "o",
      kind: "invitation",
      recipient: "ana@rovers.example",
      subject: "Ünïcode ✓",
      body: "sealed",
      state: "pending",
      attempts: 0,
      nextAttemptAt: at,
      createdAt: at,
    });
    await db.insert(t.photos).values({
      id: "photo_1",
      ...scope,
      sha256: "a".repeat(64),
      contentType: "image/png",
      width: 1,
      height: 1,
      bytes: 7,
      ...times,
    });
    const { digest } = await workspace.templates.current("club_card");
    await db
      .insert(t.templates)
      .values({ name: "derby", version: "1.0.0", digest, isListed: 1, updatedAt: at });
    await db.insert(t.templateVersions).values({ name: "derby", version: "1.0.0", digest, publishedAt: at });
    const [image] = await db.select().from(t.images);
    const picture = { imageId: image?.id ?? "", field: "sponsor", sha256: image?.sourceSha256 ?? "" };
    await db.insert(t.imagePictures).values(picture);
    const own = { endpoint: "https://s3.example", region: "eu", bucket: "cards", keyPattern: "{image_id}" };
    const key = { accessKeyId: "id", secretAccessKey: "sealed", createdAt: at, updatedAt: at };
    await db.insert(t.accountBuckets).values({ accountId, ...own, ...key });
    const due = { state: "pending" as const, keys: ["a.png"], attempts: 1, createdAt: at, updatedAt: at };
    await db.insert(t.imageExports).values({ imageId: image?.id ?? "", accountId, ...due });
    const [delivery] = await db.select().from(t.webhookDeliveries);
    await db
      .insert(t.deliveryAttempts)
      .values({ deliveryId: delivery?.id ?? "", number: 1, startedAt: at, durationMs: 9, status: 500 });
    await db.update(t.webhookDeliveries).set({ attempts: 1, step: 1 });
    for (let n = 0; n < 1_300; n++) {
      const id = `req_${(n * 7919) % 1_300}`;
      await db.insert(t.requestLog).values({
        id,
        ...scope,
        keyId: "key_1",
        method: "POST",
        path: "/v1/images",
        status: 400,
        durationMs: n,
        details: n % 2 === 0 ? null : [{ field: "player/name", message: 'must be "text"' }],
        body: "{}",
        createdAt: at,
      });
      const externalId = `player-${n % 3}`;
      await db.insert(t.requestPlayers).values({ requestId: id, accountId, externalId, createdAt: at });
    }
  });
  const look = { preset: "club_card", composition: "auto", backgroundTheme: "ice" };
  const style = { ...look, name: "Home", primaryColor: "#112233", secondaryColor: "", badgeUrl: "" };
  const [keeper] = await workspace.store.read.db.select().from(workspace.store.read.t.users);
  await saveKit(workspace, { accountId: account.id, by: keeper?.id ?? "", style });
  const terms = { photo: true, fullName: false, endsAt: null };
  await recordConsent(workspace, { accountId: account.id, externalId: "player-0" }, terms, null);
  // What has ended is sealed two hours later.
  const { store, clock } = workspace;
  await audit(store, clock.now() + 2 * HOUR_MS, { write: store.write });
  return account;
}

describe.skipIf(ENGINE !== "postgres")("from a folder to PostgreSQL and a bucket, and back", () => {
  test("rows, files and the key are the same all the way; what was unfinished ends in the new folder, and the books hold", async () => {
    const first = testFolder();
    const env = await emptyCluster();
    const hook = receiver();
    const here = await openWorkspace(testConfig(first.dir), silentLog);
    const account = await stock(here, hook.url);
    const [rows, files] = [await rowsOf(here.store.read), await filesOf(here)];
    for (const [table, found] of Object.entries(rows)) expect([table, found.length]).not.toEqual([table, 0]);
    await here.store.close();

    const config = testConfig(first.dir, env);
    const cluster = clusterOf(config);
    await Bun.write(cluster.secretKeyFile, Bun.file(here.folder.secretKey));
    await moveFolder({ config: { ...config, cluster }, folder: here.folder, clock: here.clock }, quiet);
    const machine = testFolder();
    const there = await openWorkspace(testConfig(machine.dir, env), silentLog);
    expect(await rowsOf(there.store.read)).toEqual(rows);
    expect(await filesOf(there)).toEqual(files);
    // Life goes on there: one card made, one asked for, and one that a killed server leaves, claimed from its
    // queue.
    await renderNext(there);
    await acceptLive(there, account.id);
    await acceptLive(there, account.id);
    expect(await claimImage(there, "live")).toBeDefined();
    const [rowsThere, filesThere] = [await rowsOf(there.store.read), await filesOf(there)];
    await there.store.close();

    const place = testFolder();
    const target = join(place.dir, "data");
    const report = await moveBack({ cluster, dataDir: target, clock: here.clock }, quiet);
    expect(report.tables.find(({ table }) => table === "images")?.rows).toBe(6);
    expect(existsSync(`${target}.moving`)).toBe(false);
    expect(readdirSync(target)).not.toContain("server.lock-journal");
    expect(readFileSync(join(target, "secret.key"), "utf8")).toBe(
      readFileSync(here.folder.secretKey, "utf8"),
    );
    for (const name of ["secret.key", "cardpress.db"])
      expect([name, statSync(join(target, name)).mode & 0o077]).toEqual([name, 0]);

    const clock = fakeClock(new Date().toISOString());
    const back = await openWorkspace(
      testConfig(target, { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: new URL(hook.url).origin }),
      silentLog,
      { clock },
    );
    expect(await rowsOf(back.store.read)).toEqual(rowsThere);
    expect(await filesOf(back)).toEqual(filesThere);
    expect(await unreadableEndpoints(back)).toEqual([]);
    await takeOver(back);
    // The pause that follows a render which died.
    clock.advance(MINUTE_MS);
    for (let n = 0; n < 5; n++) await renderNext(back);
    await renderNextTestImage(buildDeps(back, { pool }), new AbortController().signal, () => {});
    const images = await back.store.read.db.select().from(back.store.read.t.images);
    expect(images.map(({ state }) => state)).toEqual(Array(6).fill("completed"));
    const books = await audit(back.store, back.clock.now(), { blobs: back.blobs });
    expect(books.findings.filter(({ ok }) => !ok)).toEqual([]);
    await deliverDue(createDeliverer(back));
    expect(hook.received.map(({ event }) => event.type)).toEqual(Array(5).fill("image.completed"));
    hook.close();
    await back.store.close();
    await Promise.all([first.remove(), machine.remove(), place.remove()]);
  });

  test("nothing is copied back while servers serve, over what is there, or beside another copy, and the command says what to do", async () => {
    const env = await emptyCluster();
    const machine = testFolder();
    const there = await openWorkspace(testConfig(machine.dir, env), silentLog);
    await testAccount(there);
    const place = testFolder();
    const target = join(place.dir, "data");
    const migrate = (to = target, variables: Record<string, string> = env) =>
      runCommandWith(variables, machine.dir, "migrate", "--to", to);
    await there.nodes.beat({ workers: 1, renderMs: 1 });
    expect((await migrate()).err).toMatch(/Servers serve from the database: node_\w+ \(.*\)\. Stop them all/);
    await there.nodes.strike(there.node);

    const full = join(place.dir, "full");
    await Bun.write(join(full, "notes.txt"), "mine");
    expect((await migrate(full)).err).toContain(
      "is not empty (it has notes.txt), and nothing is overwritten",
    );
    expect(readdirSync(full)).toEqual(["notes.txt"]);
    const lock = lockFile(join(`${target}.moving`, "server.lock"));
    expect((await migrate()).err).toContain('is being filled by another "cardpress migrate --to"');
    lock?.release();
    const unset = Object.fromEntries(Object.keys(env).map((name) => [name, ""]));
    expect(await migrate(target, unset)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--to names a path, but CARDPRESS_DATABASE_URL is not set"),
    });
    expect(existsSync(target)).toBe(false);

    expect((await migrate()).out).toContain(`set CARDPRESS_DATA_DIR to ${target}`);
    expect((await migrate()).err).toContain("is not empty");
    const audited = await runCommandWith(unset, target, "audit", "--json");
    expect(audited.json().ok).toBe(true);
    await there.store.close();
    await Promise.all([machine.remove(), place.remove()]);
  });

  test("a copy that is killed half-way leaves its source as it was and no folder; the next one goes on where it stopped", async () => {
    const env = await emptyCluster();
    const machine = testFolder();
    const there = await openWorkspace(testConfig(machine.dir, env), silentLog);
    const { account } = await testAccount(there);
    for (let n = 0; n < 12; n++) await acceptLive(there, account.id);
    for (let n = 0; n < 12; n++) await renderNext(there);
    const [rows, files] = [await rowsOf(there.store.read), await filesOf(there)];

    const place = testFolder();
    const target = join(place.dir, "data");
    const halting = storageBefore(env.CARDPRESS_S3_ENDPOINT ?? "");
    const halted = halting.stopsAfter(4);
    const child = Bun.spawn([process.execPath, MAIN, "migrate", "--to", target], {
      env: { ...process.env, ...env, CARDPRESS_S3_ENDPOINT: halting.url, CARDPRESS_DATA_DIR: machine.dir },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await halted;
    const arrived = join(`${target}.moving`, "images");
    const written = () =>
      readdirSync(arrived, { recursive: true }).filter((name) => String(name).endsWith(".png"));
    while (written().length < 4) await Bun.sleep(5);
    child.kill("SIGKILL");
    await child.exited;
    expect(existsSync(target)).toBe(false);
    expect(existsSync(join(`${target}.moving`, "cardpress.db"))).toBe(false);
    expect(await rowsOf(there.store.read)).toEqual(rows);
    expect(await filesOf(there)).toEqual(files);

    halting.pictures.length = 0;
    halting.goOn();
    const again = await runCommandWith(
      { ...env, CARDPRESS_S3_ENDPOINT: halting.url },
      machine.dir,
      "migrate",
      "--to",
      target,
    );
    expect([again.code, again.err]).toEqual([0, ""]);
    // What was whole before it was killed is not fetched again.
    expect(halting.pictures).toHaveLength(12 - 4);
    const back = await openWorkspace(testConfig(target), silentLog);
    expect(await rowsOf(back.store.read)).toEqual(rows);
    expect(await filesOf(back)).toEqual(files);
    await Promise.all([back.store.close(), there.store.close(), halting.close()]);
    await Promise.all([machine.remove(), place.remove()]);
  });
});
