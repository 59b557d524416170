import { afterAll, beforeAll, expect, test } from "bun:test";
import { addMember } from "../../src/app/people/manage-users.ts";
import { checkPassword, completeSetup } from "../../src/app/people/sign-in.ts";
import { quietLog } from "../../src/log.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { membersOf } from "../../src/store/people/users.ts";
import { PASSWORD, tokenOf } from "../console/sessions.ts";
import { type TestFolder, testAccount, testConfig, testFolder } from "../harness.ts";
import { runCommand } from "./run.ts";

let folder: TestFolder;
let workspace: Workspace;
beforeAll(async () => {
  folder = testFolder();
  workspace = await openWorkspace(testConfig(folder.dir), quietLog());
});
afterAll(async () => {
  await workspace.store.close();
  await folder.remove();
});

test("a member who is named again gets a new link and keeps the role, and an account keeps an owner", async () => {
  const { account } = await testAccount(workspace);
  const create = (email: string, ...rest: string[]) =>
    runCommand(folder.dir, "user", "create", "--account", account.id, "--email", email, "--json", ...rest);
  const roles = async () => {
    const members = await membersOf(workspace.store.read, account.id);
    return Object.fromEntries(members.map(({ user, membership }) => [user.email, membership.role]));
  };
  await create("ana@rovers.example");
  const first = (await create("tom@rovers.example", "--role", "developer")).json();
  const again = (await create("Tom@rovers.example")).json();
  expect(again.user_id).toBe(first.user_id);
  expect(again.setup_url).not.toBe(first.setup_url);
  expect(await roles()).toEqual({ "ana@rovers.example": "owner", "tom@rovers.example": "developer" });

  const refused = await create("ana@rovers.example", "--role", "developer");
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(refused.err).toContain("needs an owner");
  expect(await roles()).toEqual({ "ana@rovers.example": "owner", "tom@rovers.example": "developer" });
  await create("tom@rovers.example", "--role", "owner");
  expect((await create("ana@rovers.example", "--role", "developer")).code).toBe(0);
  expect(await roles()).toEqual({ "ana@rovers.example": "developer", "tom@rovers.example": "owner" });
});

test("an email that an owner set up gets a link and no old password when it becomes operator, and the output says so", async () => {
  const { account } = await testAccount(workspace);
  const setUp = async (email: string) => {
    const of = { accountId: account.id, email, role: "developer", vouched: false } as const;
    const { setupUrl } = await addMember(workspace, of);
    await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email });
  };
  const email = "boss@service.example";
  await setUp(email);
  const made = await runCommand(folder.dir, "user", "create", "--operator", "--email", email);
  expect(made.out).toContain("was in use already");
  expect(made.out).toContain("/console/setup/");
  expect(await checkPassword(workspace, { email, password: PASSWORD })).toBeUndefined();
  const again = await runCommand(folder.dir, "user", "create", "--operator", "--email", email, "--json");
  expect(again.json()).toMatchObject({ earlier_sign_in_ended: false });
});
