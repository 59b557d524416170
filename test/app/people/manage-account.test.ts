import { afterEach, beforeEach, expect, test } from "bun:test";
import { createKey, regenerateKey, revokeKey } from "../../../src/app/people/manage-account.ts";
import { MAX_KEYS } from "../../../src/core/limits.ts";
import { listKeys } from "../../../src/store/people/keys.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

test("an account has a most of keys in force, and says what to do; another account's do not count", async () => {
  const { account } = await testAccount(workspace);
  const make = () =>
    createKey(workspace, { accountId: account.id, environment: "test", name: "One of many" });
  const made = [];
  while ((await listKeys(workspace.store.read, account.id)).length < MAX_KEYS) made.push(await make());
  const remedy = `at most ${MAX_KEYS} keys in force. Revoke one`;
  const id = made[0]?.record.id ?? "";
  await expect(make()).rejects.toThrow(remedy);
  await expect(regenerateKey(workspace, { id })).rejects.toThrow(remedy);
  await testAccount(workspace, { name: "United" });
  await revokeKey(workspace, id);
  expect((await make()).key).toStartWith("sk_test_");
});
