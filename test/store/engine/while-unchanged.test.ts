import { afterAll, beforeAll, expect, test } from "bun:test";
import { hashApiKey } from "../../../src/core/api-key.ts";
import { openSqliteStore } from "../../../src/store/engine/sqlite.ts";
import { whileUnchanged } from "../../../src/store/engine/while-unchanged.ts";
import { findKeyByHash, setKeyRevoked } from "../../../src/store/people/keys.ts";
import type { Store } from "../../../src/store/store.ts";
import { type TestAccount, type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
let partner: TestAccount;
/** The same file, opened once more: what another process does to it. */
let elsewhere: Store;
beforeAll(async () => {
  workspace = await testWorkspace();
  partner = await testAccount(workspace);
  elsewhere = openSqliteStore(workspace.folder.database);
});
afterAll(async () => {
  await elsewhere.close();
  await workspace.close();
});

function keys(maxKeys = 10) {
  let reads = 0;
  const find = whileUnchanged(
    workspace.store,
    (hash) => {
      reads += 1;
      return findKeyByHash(workspace.store.read, hash);
    },
    maxKeys,
  );
  return { find: (key: string) => find(hashApiKey(key)), reads: () => reads };
}

test("a key is read once for any number of requests, until something is committed", async () => {
  const { find, reads } = keys();
  for (let n = 0; n < 5; n++) expect((await find(partner.liveKey))?.account.id).toBe(partner.account.id);
  expect(reads()).toBe(1);
  await workspace.store.write("test", async () => {});
  await find(partner.liveKey);
  expect(reads()).toBeLessThanOrEqual(2);
});

for (const by of ["this process", "another process"] as const) {
  test(`a revocation by ${by} holds from the very next look`, async () => {
    const { find } = keys();
    const { liveKey } = await testAccount(workspace, { name: `Club of ${by}` });
    const row = await find(liveKey);
    expect(row?.key.revokedAt).toBeNull();
    const store = by === "this process" ? workspace.store : elsewhere;
    await store.write("revoke", (tx) => setKeyRevoked(tx, row?.key.id ?? "", 5));
    expect((await find(liveKey))?.key.revokedAt).toBe(5);
  });
}

test("what was read before a commit and came after it is not remembered", async () => {
  let old = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  let version = 1;
  const find = whileUnchanged(
    { version: () => version },
    async () => {
      if (!old) return "new";
      await promise;
      return "old";
    },
    10,
  );
  const slow = find("a");
  version = 2;
  old = false;
  expect(await find("a")).toBe("new");
  resolve();
  expect(await slow).toBe("old");
  expect(await find("a")).toBe("new");
});

test("no more is remembered than allowed, and nothing about keys there are not", async () => {
  const { find, reads } = keys(1);
  await find(partner.liveKey);
  for (let n = 0; n < 3; n++) await find(partner.testKey);
  for (let n = 0; n < 3; n++) expect(await find("none")).toBeUndefined();
  expect(reads()).toBe(7);
  await find(partner.liveKey);
  expect(reads()).toBe(7);
});

test("an engine that cannot report changes is asked each time", async () => {
  let reads = 0;
  const find = whileUnchanged({ version: () => null }, async () => ++reads, 10);
  await find("a");
  expect(await find("a")).toBe(2);
});
