import { afterEach, beforeEach, expect, test } from "bun:test";
import { addMember } from "../../src/app/manage-users.ts";
import { listAudit } from "../../src/store/audit.ts";
import { type MemberRole, membersOf } from "../../src/store/users.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";

let house: TestWorkspace;
let accountId: string;
beforeEach(async () => {
  house = testWorkspace();
  accountId = (await testAccount(house)).account.id;
});
afterEach(() => house.close());

const add = (email: string, role: MemberRole) => addMember(house, { accountId, email, role, vouched: true });

async function roles() {
  const members = await membersOf(house.store.read, accountId);
  return Object.fromEntries(members.map(({ user, membership }) => [user.email, membership.role]));
}

test("an account's only owner, added again as a developer, stays its owner", async () => {
  await add("ana@example.com", "owner");
  await expect(add("ana@example.com", "developer")).rejects.toThrow("An account needs an owner");
  await add("tom@example.com", "developer");
  await expect(add("ana@example.com", "developer")).rejects.toThrow("An account needs an owner");
  expect(await roles()).toEqual({ "ana@example.com": "owner", "tom@example.com": "developer" });
});

test("a member added again gets the role asked for, and the log tells it as the change it is", async () => {
  await add("ana@example.com", "owner");
  await add("tom@example.com", "developer");
  await add("tom@example.com", "owner");
  await add("ana@example.com", "developer");
  await add("ana@example.com", "developer");
  expect(await roles()).toEqual({ "ana@example.com": "developer", "tom@example.com": "owner" });
  const log = await listAudit(house.store.read, { accountId, limit: 4 });
  expect(log.map(({ entry }) => `${entry.action} ${entry.subject}`)).toEqual([
    "member.role_changed ana@example.com to developer",
    "member.role_changed tom@example.com to owner",
    "member.added tom@example.com as developer",
    "member.added ana@example.com as owner",
  ]);
});
