import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAccount, createKey } from "../../../src/app/people/manage-account.ts";
import { addMember } from "../../../src/app/people/manage-users.ts";
import { listAccounts } from "../../../src/store/people/accounts.ts";
import { listKeys } from "../../../src/store/people/keys.ts";
import { membersOf } from "../../../src/store/people/users.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
let accountId: string;
beforeAll(async () => {
  workspace = await testWorkspace();
  accountId = (await testAccount(workspace)).account.id;
});
afterAll(() => workspace.close());

const nameAccount = (name: string) => createAccount(workspace, { name, tier: "starter", credits: 0 });
const nameKey = (name: string) => createKey(workspace, { accountId, environment: "test", name, by: null });

const DECEPTIVE = ["A\nB", "A\x1b[31mB", "A\u0085B", "A\u202eB", "A\u2067B", "A\u2028B"];

test("names that are empty, too long or not what they look like are refused by field, and make nothing", async () => {
  const count = async () => [
    (await listAccounts(workspace.store.read)).length,
    (await listKeys(workspace.store.read, accountId)).length,
    (await membersOf(workspace.store.read, accountId)).length,
  ];
  const before = await count();
  for (const name of ["", "  ", "n".repeat(121), ...DECEPTIVE])
    await expect(nameAccount(name)).rejects.toThrow("The account name must");
  for (const name of ["", "  ", "n".repeat(81), ...DECEPTIVE])
    await expect(nameKey(name)).rejects.toThrow("The key name must");
  for (const name of DECEPTIVE) {
    const member = { accountId, email: `${name}@example.com`, role: "owner", vouched: true } as const;
    await expect(addMember(workspace, member)).rejects.toThrow(
      /^The email "[^\p{Cc}\u202e\u2067]*" is not an email/u,
    );
  }
  expect(await count()).toEqual(before);
});

test("names in every script are taken, trimmed, to the last character of their length", async () => {
  for (const name of ["Αθήνα", "نادي الأهلي", "⚽".repeat(120)])
    expect((await nameAccount(name)).name).toBe(name);
  expect((await nameKey(`  ${"⚽".repeat(80)} `)).record.name).toBe("⚽".repeat(80));
});
