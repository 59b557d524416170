import { afterEach, beforeEach, expect, test } from "bun:test";
import { createKey, regenerateKey, revokeKey } from "../../../src/app/people/manage-account.ts";
import { allowDevelopersToDelete } from "../../../src/app/people/manage-retention.ts";
import { addMember } from "../../../src/app/people/manage-users.ts";
import { MAX_KEYS } from "../../../src/core/limits.ts";
import { type ApiKey, listKeys } from "../../../src/store/people/keys.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

test("an account has a most of keys in force, and says what to do; another account's do not count", async () => {
  const { account } = await testAccount(workspace);
  const make = () =>
    createKey(workspace, { accountId: account.id, environment: "test", name: "One of many", by: null });
  const made = [];
  while ((await listKeys(workspace.store.read, account.id)).length < MAX_KEYS) made.push(await make());
  const remedy = `at most ${MAX_KEYS} keys in force. Revoke one`;
  const id = made[0]?.record.id ?? "";
  await expect(make()).rejects.toThrow(remedy);
  await expect(regenerateKey(workspace, { id, by: null })).rejects.toThrow(remedy);
  await testAccount(workspace, { name: "United" });
  await revokeKey(workspace, id);
  expect((await make()).key).toStartWith("sk_test_");
});

test("a key that deletes is made, and made again, by owners and the command line, and by developers where one allows it", async () => {
  const [{ account }, other] = [
    await testAccount(workspace),
    await testAccount(workspace, { name: "United" }),
  ];
  const accountId = account.id;
  const member = async (role: "owner" | "developer" | "viewer", of = accountId) => {
    const email = `${role}@${of.replace("_", "")}.example`;
    return (await addMember(workspace, { accountId: of, email, role, vouched: true })).user.id;
  };
  const [owner, developer, viewer] = [
    await member("owner"),
    await member("developer"),
    await member("viewer"),
  ];
  const stranger = await member("owner", other.account.id);
  const make = (by: string | null, scopes: ApiKey["scopes"] = null) =>
    createKey(workspace, { accountId, environment: "test", name: "Deletes", scopes, by });
  const refused = "Only an owner of the account may make a key with the scope delete";
  const { record } = await make(null);
  expect((await make(owner, ["delete"])).record.scopes).toEqual(["delete"]);
  for (const by of [developer, viewer, stranger]) {
    await expect(make(by)).rejects.toThrow(refused);
    await expect(make(by, ["read", "delete"])).rejects.toThrow(refused);
    await expect(regenerateKey(workspace, { id: record.id, by })).rejects.toThrow(refused);
  }
  const harmless = await make(developer, ["read"]);
  await regenerateKey(workspace, { id: harmless.record.id, by: developer });
  await allowDevelopersToDelete(workspace, accountId, true, owner);
  await regenerateKey(workspace, { id: record.id, by: developer });
  await expect(make(viewer)).rejects.toThrow(refused);
});
