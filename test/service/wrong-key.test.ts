import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { setBucket, testBucket } from "../../src/app/exports/manage-bucket.ts";
import { createEndpoint, removeEndpoint, rotateSecret } from "../../src/app/webhooks/manage-webhooks.ts";
import type { Log } from "../../src/core/ports.ts";
import { refuseWrongSecretKey } from "../../src/service/sealed-secrets.ts";
import { startService } from "../../src/service/start.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { openTestStore, silentLog, testAccount, testConfig, testFolder } from "../harness.ts";

const HOOK = "http://127.0.0.1:1";
const STARTED = new Error("it would have started");

test("a start with a key that is not the database's is refused with what to do; the right one, or new secrets, let it", async () => {
  const folder = testFolder();
  const config = testConfig(folder.dir, { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: HOOK });
  const openStore = openTestStore();
  const workspace = await openWorkspace(config, silentLog, { openStore });
  const { account } = await testAccount(workspace);
  const to = { accountId: account.id, environment: "live" as const, url: `${HOOK}/` };
  const { endpoint } = await createEndpoint(workspace, to);
  const { endpoint: other } = await createEndpoint(workspace, { ...to, url: `${HOOK}/other` });
  await workspace.store.close();
  const { secretKey } = workspace.folder;
  const right = await Bun.file(secretKey).text();

  const reported: string[] = [];
  const log: Log = {
    ...silentLog,
    // The step after the key's, and before workers and browsers.
    error: (event, fields) => {
      reported.push(`${event} ${JSON.stringify(fields?.endpoints)}`);
      throw STARTED;
    },
  };
  // Somebody else's key, and none, in whose place a start makes one.
  for (const lay of [
    () => writeFileSync(secretKey, Buffer.alloc(32, 7).toString("base64")),
    () => rmSync(secretKey),
  ]) {
    lay();
    const start = startService(config, log, { openStore });
    await expect(start).rejects.toThrow(`The key in ${secretKey} (`);
    await expect(start).rejects.toThrow(/from a backup .* the secrets of 2 webhook endpoints/);
  }
  expect(reported).toEqual([]);

  // It was lost for good: one has a new secret, so the other is only reported.
  const lost = await openWorkspace(config, silentLog, { openStore });
  await rotateSecret(lost, { endpointId: endpoint.id });
  await lost.store.close();
  await expect(startService(config, log, { openStore })).rejects.toThrow(STARTED);
  expect(reported).toEqual([`webhook_secrets_unreadable ["${other.id}"]`]);

  // The key that the other was sealed with is back.
  writeFileSync(secretKey, right);
  await expect(startService(config, log, { openStore })).rejects.toThrow(STARTED);
  expect(reported.at(-1)).toBe(`webhook_secrets_unreadable ["${endpoint.id}"]`);
  await folder.remove();
});

test("a key that opens no account's own bucket is refused too, where nothing else is sealed", async () => {
  const folder = testFolder();
  const origin = { CARDPRESS_EXPORT_ALLOWED_ORIGINS: HOOK };
  const config = testConfig(folder.dir, origin);
  const openStore = openTestStore();
  const workspace = await openWorkspace(config, silentLog, { openStore });
  const { account } = await testAccount(workspace);
  await setBucket(
    workspace,
    { accountId: account.id },
    {
      endpoint: HOOK,
      region: "us-east-1",
      bucket: "cards",
      keyPattern: "{image_id}",
      accessKeyId: "id",
      secretAccessKey: "secret",
    },
  );
  await refuseWrongSecretKey(workspace);
  await workspace.store.close();
  writeFileSync(workspace.folder.secretKey, Buffer.alloc(32, 7).toString("base64"));
  const start = startService(config, silentLog, { openStore });
  await expect(start).rejects.toThrow(/the secrets of 0 webhook endpoints and 1 bucket,/);
  const other = await openWorkspace(config, silentLog, { openStore });
  expect(await testBucket(other, account.id)).toContain("Write the secret again");
  await other.store.close();
  await folder.remove();
});

test("an endpoint that was removed has no secret that a start could miss", async () => {
  const folder = testFolder();
  const config = testConfig(folder.dir, { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: HOOK });
  const workspace = await openWorkspace(config, silentLog, { openStore: openTestStore() });
  const { account } = await testAccount(workspace);
  const to = { accountId: account.id, environment: "live" as const, url: `${HOOK}/` };
  const { endpoint } = await createEndpoint(workspace, to);
  await removeEndpoint(workspace, { endpointId: endpoint.id });
  await refuseWrongSecretKey(workspace);
  await workspace.store.close();
  await folder.remove();
});
