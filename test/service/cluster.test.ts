import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { audit } from "../../src/app/operations/audit.ts";
import { examine } from "../../src/app/operations/doctor.ts";
import { OperatorError } from "../../src/core/errors.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import {
  imageRequest,
  post,
  silentLog,
  testAccount,
  testConfig,
  testFolder,
  testServer,
  untilEnded,
} from "../harness.ts";
import { ENGINE, postgresUrl } from "../postgres.ts";

afterAll(stopEmulator);

describe.skipIf(ENGINE !== "postgres")("with PostgreSQL and a bucket", () => {
  test("the service makes cards and keeps nothing in its folder; another machine goes on where it stopped", async () => {
    const env = await cluster();
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

    // Nobody else serves meanwhile, and nothing of it lies here.
    await expect(testServer({ env })).rejects.toThrow(/Another machine serves from the database/);
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

  test("the doctor looks at the same places", async () => {
    const folder = testFolder();
    const config = testConfig(folder.dir, await cluster());
    const found = await examine(config);
    const of = (check: string) => found.find((diagnosis) => diagnosis.check === check);
    expect(of("database")).toMatchObject({ status: "ok", message: expect.stringContaining("PostgreSQL") });
    for (const check of ["audit", "pictures", "webhooks", "backups"]) expect(of(check)?.status).toBe("ok");
    await folder.remove();
  });

  test("a start says what is wrong with the key, the bucket, or a folder that holds a database", async () => {
    const env = await cluster();
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
    expect(await start({ OWN: "1" })).toMatch(/holds a database of its own. Set CARDPRESS_DATA_DIR/);
  });
});

/** The settings of an empty database and an empty bucket. */
async function cluster(): Promise<Record<string, string>> {
  const url = new URL(postgresUrl(`cluster ${crypto.randomUUID()}`));
  const admin = new SQL(new URL("/postgres", url).href, { max: 1 });
  await admin.unsafe(`CREATE DATABASE ${url.pathname.slice(1)}`);
  await admin.close();
  const bucket = await emptyBucket();
  const key = join(testFolder().dir, "key");
  await Bun.write(key, Buffer.alloc(32, 7).toString("base64"));
  return {
    CARDPRESS_DATABASE_URL: url.href,
    CARDPRESS_S3_ENDPOINT: bucket.endpoint,
    CARDPRESS_S3_REGION: bucket.region,
    CARDPRESS_S3_BUCKET: bucket.bucket,
    CARDPRESS_S3_ACCESS_KEY_ID: bucket.accessKeyId,
    CARDPRESS_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    CARDPRESS_SECRET_KEY_FILE: key,
  };
}
