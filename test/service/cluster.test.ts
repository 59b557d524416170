import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import type { Step } from "../../src/app/operations/backup/backup.ts";
import { examine } from "../../src/app/operations/doctor/doctor.ts";
import { moveFolder } from "../../src/app/operations/move/move.ts";
import { createEndpoint, unreadableEndpoints } from "../../src/app/webhooks/manage-webhooks.ts";
import { OperatorError } from "../../src/core/errors.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import type { Tx } from "../../src/store/store.ts";
import { lockFile } from "../../src/system/file-lock.ts";
import { acceptLive } from "../app/accepting.ts";
import { stopEmulator } from "../buckets.ts";
import { emptyCluster } from "../clusters.ts";
import { picturesAfter, poolOf } from "../fakes.ts";
import {
  imageRequest,
  post,
  seededRandom,
  silentLog,
  testAccount,
  testConfig,
  testFolder,
  testServer,
  untilEnded,
} from "../harness.ts";
import { ENGINE } from "../postgres.ts";

afterAll(stopEmulator);

describe.skipIf(ENGINE !== "postgres")("with PostgreSQL and a bucket", () => {
  test("the service makes cards and keeps nothing in its folder; another machine goes on where it stopped", async () => {
    const env = await emptyCluster();
    const first = await testServer({ env });
    const { liveKey, account } = await testAccount(first.service);
    const photo = first.photos.url("astronaut.png");
    const body = imageRequest({ player: { source_image_url: photo } });
    const accepted = await post(first.baseUrl, liveKey, body);
    expect(accepted.status).toBe(202);
    const { data } = (await accepted.json()) as { data: { image_id: string } };
    const card = await untilEnded(first.baseUrl, liveKey, data.image_id);
    expect(card.status).toBe("completed");
    const picture = new URL(card.result.image_url).pathname;
    const drawn = await (await fetch(first.baseUrl + picture)).bytes();
    expect(drawn.length).toBeGreaterThan(10_000);

    // Nothing of it lies here.
    const { root, images, sources } = first.service.folder;
    expect(existsSync(join(root, "cardpress.db"))).toBe(false);
    expect(existsSync(join(root, "secret.key"))).toBe(false);
    expect([...readdirSync(images), ...readdirSync(sources)]).toEqual([]);
    await first.close();

    const second = await testServer({ env });
    expect(await (await fetch(second.baseUrl + picture)).bytes()).toEqual(drawn);
    expect((await audit(second.service.store, Date.now())).ok).toBe(true);
    const usage = await fetch(`${second.baseUrl}/v1/usage?period=current_month`, {
      headers: { "X-API-Key": liveKey },
    });
    expect(usage.status).toBe(200);
    expect(account.id).toStartWith("acct_");
    await second.close();
  });

  test("a data folder is moved whole: rows, files and books; the folder stays, and nothing is mixed", async () => {
    const folder = testFolder();
    const env = await emptyCluster();
    const here = await openWorkspace(testConfig(folder.dir), silentLog, { random: seededRandom() });
    const { account } = await testAccount(here, { credits: 5 });
    await createEndpoint(
      { ...here, config: { ...here.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:1"]) } },
      { accountId: account.id, environment: "live", url: "http://127.0.0.1:1/hook" },
    );
    const pool = poolOf(picturesAfter(async () => {}));
    for (let n = 0; n < 3; n++) await acceptLive(here, account.id);
    for (let n = 0; n < 2; n++)
      await renderNextImage(buildDeps(here, { pool }), new AbortController().signal, () => {});
    await here.blobs.put("source", "ab12", "a photo");
    await here.store.close();

    const config = testConfig(folder.dir, env);
    if (!config.cluster) throw new Error("no cluster");
    const deps = { config: { ...config, cluster: config.cluster }, folder: here.folder, clock: here.clock };
    const quiet: Step = (_, work) => work(() => {});
    await expect(moveFolder(deps, quiet)).rejects.toThrow(/must be a copy of .*secret\.key/);
    await Bun.write(config.cluster.secretKeyFile, Bun.file(here.folder.secretKey));
    const lock = lockFile(here.folder.serverLock);
    await expect(moveFolder(deps, quiet)).rejects.toThrow(/The service runs on/);
    lock?.release();

    const { tables, files } = await moveFolder(deps, quiet);
    expect(tables.find(({ table }) => table === "images")?.rows).toBe(3);
    expect(files.find(({ kind }) => kind === "picture")?.files).toBe(2);
    await expect(moveFolder(deps, quiet)).rejects.toThrow(/holds accounts or people already/);

    const other = testFolder();
    const there = await openWorkspace(testConfig(other.dir, env), silentLog);
    const report = await audit(there.store, here.clock.now(), { blobs: there.blobs });
    expect(report.findings.filter(({ ok }) => !ok)).toEqual([]);
    expect(await (await there.blobs.open("source", "ab12"))?.text()).toBe("a photo");
    expect(await unreadableEndpoints(there)).toEqual([]);
    const again = openSqliteStore(here.folder.database);
    const rowsOf = async ({ db, t }: Tx) => ({
      images: await db.select().from(t.images).orderBy(t.images.id),
      ledger: await db.select().from(t.ledgerEntries).orderBy(t.ledgerEntries.id),
      events: await db.select().from(t.webhookEvents).orderBy(t.webhookEvents.id),
    });
    expect(await rowsOf(there.store.read)).toEqual(await rowsOf(again.read));
    await Promise.all([again.close(), there.store.close()]);
    await Promise.all([folder.remove(), other.remove()]);
  });

  test("a folder whose files are in a bucket is moved with that bucket, which is the servers' own then", async () => {
    const folder = testFolder();
    const other = testFolder();
    const env = await emptyCluster();
    const { CARDPRESS_DATABASE_URL: _, CARDPRESS_SECRET_KEY_FILE: key = "", ...bucket } = env;
    await rm(key);
    const here = await openWorkspace(testConfig(folder.dir, bucket), silentLog, { random: seededRandom() });
    const { account } = await testAccount(here, { credits: 5 });
    await acceptLive(here, account.id);
    await here.blobs.put("source", "ab12", "a photo");
    await here.store.close();
    await Bun.write(key, Bun.file(here.folder.secretKey));
    const config = testConfig(folder.dir, env);
    if (!config.cluster) throw new Error("no cluster");
    await expect(openWorkspace(testConfig(other.dir, env), silentLog)).rejects.toThrow(
      /belongs to a data folder since/,
    );
    const deps = { config: { ...config, cluster: config.cluster }, folder: here.folder, clock: here.clock };
    expect((await moveFolder(deps, (_, work) => work(() => {}))).files).toEqual([]);
    const there = await openWorkspace(testConfig(other.dir, env), silentLog);
    expect(await (await there.blobs.open("source", "ab12"))?.text()).toBe("a photo");
    expect(await there.store.read.db.select().from(there.store.read.t.images)).toHaveLength(1);
    await there.store.close();
    await expect(openWorkspace(testConfig(folder.dir, bucket), silentLog)).rejects.toThrow(
      /belongs to servers on PostgreSQL/,
    );
    await Promise.all([folder.remove(), other.remove()]);
  });

  test("the doctor looks at the same places", async () => {
    const folder = testFolder();
    const config = testConfig(folder.dir, await emptyCluster());
    const found = await examine(config);
    const of = (check: string) => found.find((diagnosis) => diagnosis.check === check);
    expect(of("database")).toMatchObject({ status: "ok", message: expect.stringContaining("PostgreSQL") });
    for (const check of ["audit", "pictures", "webhooks", "backups"]) expect(of(check)?.status).toBe("ok");
    await folder.remove();
  });

  test("a machine with another key than the database was begun with does not start, and changes nothing", async () => {
    const env = await emptyCluster();
    const first = testFolder();
    await (await openWorkspace(testConfig(first.dir, env), silentLog)).store.close();
    const other = testFolder();
    const key = join(other.dir, "other");
    await Bun.write(key, Buffer.alloc(32, 8).toString("base64"));
    const start = openWorkspace(testConfig(other.dir, { ...env, CARDPRESS_SECRET_KEY_FILE: key }), silentLog);
    await expect(start).rejects.toThrow(OperatorError);
    await expect(start).rejects.toThrow(/sealed with another key .* Give this machine the same key/);
    const right = await openWorkspace(testConfig(first.dir, env), silentLog);
    const { account } = await testAccount(right);
    await createEndpoint(
      { ...right, config: { ...right.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:1"]) } },
      { accountId: account.id, environment: "live", url: "http://127.0.0.1:1/hook" },
    );
    // As in a database from before it noted its key: what is sealed in it says which it was.
    await right.store.rawQuery?.("DELETE FROM sealing_key", []);
    await right.store.close();
    const upgrade = openWorkspace(
      testConfig(other.dir, { ...env, CARDPRESS_SECRET_KEY_FILE: key }),
      silentLog,
    );
    await expect(upgrade).rejects.toThrow(/sealed with another key .* UPDATE sealing_key SET key_id = '/);
    await (await openWorkspace(testConfig(first.dir, env), silentLog)).store.close();
    await Promise.all([first.remove(), other.remove()]);
  });

  test("a start says what is wrong with the key, the bucket, or a folder that holds a database", async () => {
    const env = await emptyCluster();
    const start = async (change: Record<string, string>) => {
      const folder = testFolder();
      try {
        const config = testConfig(folder.dir, { ...env, ...change });
        if (change.OWN) await Bun.write(join(folder.dir, "cardpress.db"), "rows");
        await openWorkspace(config, silentLog);
        return "started";
      } catch (error) {
        expect(error).toBeInstanceOf(OperatorError);
        return (error as Error).message;
      } finally {
        await folder.remove();
      }
    };
    expect(await start({ CARDPRESS_SECRET_KEY_FILE: "/nowhere/key" })).toMatch(
      /There is no key at \/nowhere/,
    );
    expect(await start({ CARDPRESS_S3_BUCKET: "not-there" })).toMatch(
      /CARDPRESS_S3_BUCKET \(not-there\) cannot/,
    );
    expect(await start({ OWN: "1" })).toMatch(
      /holds a database of its own. Copy it with "cardpress migrate --to"/,
    );
  });
});
