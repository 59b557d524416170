import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  addMember,
  addOperator,
  firstOperatorLink,
  isEmail,
  removeMember,
} from "../../src/app/people/manage-users.ts";
import {
  checkPassword,
  completeSetup,
  endOtherSessions,
  endSession,
  normalEmail,
  passwordProblem,
  readSession,
  setupLinkFor,
  startSession,
} from "../../src/app/people/sign-in.ts";
import { ownPath } from "../../src/console/own-path.ts";
import { signInLimit } from "../../src/console/people/sign-in-limit.ts";
import {
  MAX_SIGN_IN_NAMES,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
  SETUP_LINK_LIFETIME_MS,
  SIGN_IN_WINDOW_MS,
  SIGN_INS_PER_ADDRESS,
  SIGN_INS_PER_EMAIL,
} from "../../src/core/sign-in-limits.ts";
import { memoryState } from "../../src/state/memory-state.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { PASSWORD, testMember, tokenOf } from "./sessions.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

async function memberOfNewAccount(email: string) {
  const { account } = await testAccount(workspace);
  return { account, user: await testMember(workspace, account.id, email) };
}

test("a session ends after eight idle hours, and after a week however busy it is", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const { clock } = workspace;
  const idle = await startSession(workspace, user, undefined);
  clock.advance(SESSION_IDLE_MS - 1);
  expect(await readSession(workspace, idle.token)).toBeDefined();
  clock.advance(SESSION_IDLE_MS);
  expect(await readSession(workspace, idle.token)).toBeUndefined();
  // Gone for good: setting the clock back does not bring it back.
  clock.advance(-SESSION_IDLE_MS);
  expect(await readSession(workspace, idle.token)).toBeUndefined();

  const busy = await startSession(workspace, user, undefined);
  const step = SESSION_IDLE_MS / 2;
  for (let spent = step; spent < SESSION_LIFETIME_MS; spent += step) {
    clock.advance(step);
    expect(await readSession(workspace, busy.token)).toBeDefined();
  }
  clock.advance(step);
  expect(await readSession(workspace, busy.token)).toBeUndefined();
});

test("a page that renews itself does not keep a session alive", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const { token } = await startSession(workspace, user, undefined);
  for (let spent = 0; spent < SESSION_IDLE_MS; spent += SESSION_IDLE_MS / 4) {
    expect(await readSession(workspace, token, { isClick: false })).toBeDefined();
    workspace.clock.advance(SESSION_IDLE_MS / 4);
  }
  expect(await readSession(workspace, token, { isClick: false })).toBeUndefined();
});

test("signing out elsewhere keeps the session that asks", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const [here, there] = [
    await startSession(workspace, user, undefined),
    await startSession(workspace, user, undefined),
  ];
  const keep = (await readSession(workspace, here.token))?.session.id ?? "";
  expect(await endOtherSessions(workspace, { user, keepSessionId: keep })).toBe(1);
  expect(await readSession(workspace, here.token)).toBeDefined();
  expect(await readSession(workspace, there.token)).toBeUndefined();
});

test("signing in begins a new session under a new token and ends the browser's old one", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const first = await startSession(workspace, user, undefined);
  const second = await startSession(workspace, user, first.token);
  expect(second.token).not.toBe(first.token);
  expect(await readSession(workspace, first.token)).toBeUndefined();
  await endSession(workspace, second.token);
  expect(await readSession(workspace, second.token)).toBeUndefined();
});

test("neither tokens nor passwords are in the database", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const { token } = await startSession(workspace, user, undefined);
  const { db, t } = workspace.store.read;
  const stored = JSON.stringify([await db.select().from(t.sessions), await db.select().from(t.users)]);
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(PASSWORD);
  expect(stored).toContain("$argon2id$v=19$m=19456,t=2,p=1$");
});

test("a setup link works once and for three days, and a newer one takes its place", async () => {
  const { account } = await testAccount(workspace);
  const invite = () =>
    addMember(workspace, {
      accountId: account.id,
      email: "tom@example.com",
      role: "developer",
      vouched: true,
    });
  const first = tokenOf((await invite()).setupUrl);
  const second = tokenOf((await invite()).setupUrl);
  expect(await setupLinkFor(workspace, first)).toBeUndefined();
  expect(await setupLinkFor(workspace, second)).toMatchObject({ user: { email: "tom@example.com" } });

  workspace.clock.advance(SETUP_LINK_LIFETIME_MS);
  expect(await setupLinkFor(workspace, second)).toBeUndefined();
  const third = tokenOf((await invite()).setupUrl);
  await completeSetup(workspace, { token: third, password: PASSWORD, email: "" });
  await expect(
    completeSetup(workspace, { token: third, password: "another good one", email: "" }),
  ).rejects.toThrow("used");
  expect(await checkPassword(workspace, { email: "Tom@Example.com ", password: PASSWORD })).toBeDefined();
});

test("a new password ends every session of its user", async () => {
  const { user } = await memberOfNewAccount("ana@example.com");
  const { token } = await startSession(workspace, user, undefined);
  const { setupUrl } = await addOperator(workspace, { email: "new@example.com" });
  await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  expect(await readSession(workspace, token)).toBeDefined();
  const { issueSetupLink } = await import("../../src/app/people/manage-users.ts");
  const link = await issueSetupLink(workspace, { userId: user.id });
  await completeSetup(workspace, {
    token: tokenOf(link.setupUrl),
    password: "a quite different one",
    email: "",
  });
  expect(await readSession(workspace, token)).toBeUndefined();
});

test("an owner gets no link to the password of somebody who is known elsewhere", async () => {
  const { account: other } = await memberOfNewAccount("known@example.com");
  const { account } = await testAccount(workspace, { name: "Second" });
  const add = (email: string) =>
    addMember(workspace, { accountId: account.id, email, role: "developer", vouched: false });
  await addOperator(workspace, { email: "op@example.com" });
  await addMember(workspace, {
    accountId: other.id,
    email: "invited@example.com",
    role: "owner",
    vouched: true,
  });
  for (const email of ["known@example.com", "op@example.com", "invited@example.com"])
    await expect(add(email)).rejects.toThrow("Ask the operator");
  expect((await add("fresh@example.com")).setupUrl).toContain("/console/setup/");
});

test("an account keeps an owner", async () => {
  const { account, user } = await memberOfNewAccount("ana@example.com");
  const remove = removeMember(workspace, { accountId: account.id, userId: user.id, by: user.id });
  await expect(remove).rejects.toThrow("needs an owner");
});

test("the link for the first operator is there until an operator has a password", async () => {
  const link = await firstOperatorLink(workspace);
  expect(link).toContain("/console/setup/");
  const user = await completeSetup(workspace, {
    token: tokenOf(link),
    password: PASSWORD,
    email: "Boss@Example.com",
  });
  expect(user).toMatchObject({ email: "boss@example.com", isOperator: 1 });
  expect(await firstOperatorLink(workspace)).toBeNull();
});

test("each server that starts shows a link for the first operator that works, until one of them was used", async () => {
  const links = [];
  for (let server = 0; server < 3; server++) links.push(tokenOf(await firstOperatorLink(workspace)));
  const [first = "", second = "", third = ""] = links;
  await completeSetup(workspace, { token: first, password: PASSWORD, email: "boss@example.com" });
  for (const token of [first, second, third]) {
    expect(await setupLinkFor(workspace, token)).toBeUndefined();
    await expect(
      completeSetup(workspace, { token, password: PASSWORD, email: "thief@example.com" }),
    ).rejects.toThrow(/was used already|has an operator by now/);
  }
});

test("a first operator's link that lay unused is worth nothing once there is an operator", async () => {
  const link = tokenOf(await firstOperatorLink(workspace));
  const { setupUrl } = await addOperator(workspace, { email: "boss@example.com" });
  await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  expect(await setupLinkFor(workspace, link)).toBeUndefined();
  const late = completeSetup(workspace, { token: link, password: PASSWORD, email: "thief@example.com" });
  await expect(late).rejects.toThrow("has an operator by now");
});

test("guesses are bounded for emails that exist and for those that do not, and success forgives mistakes", async () => {
  const limit = signInLimit(workspace.state);
  for (const email of ["ana@example.com", "nobody@example.com"]) {
    const answers = await Promise.all(Array.from({ length: 9 }, () => limit.take(email, "203.0.113.9")));
    // Which of those that come at once is refused is up to the database.
    expect(answers.filter((mayTry) => mayTry)).toHaveLength(8);
  }
  // Another address is not locked out by the guesses of the first.
  expect(await limit.take("ana@example.com", "203.0.113.10")).toBe(true);
  await limit.forgive("ana@example.com", "203.0.113.9");
  expect(await limit.take("ana@example.com", "203.0.113.9")).toBe(true);
});

test("no single address can lock anybody out elsewhere, and a lock ends with its window", async () => {
  const { clock } = workspace;
  const limit = signInLimit(workspace.state);
  for (let i = 0; i < 2 * SIGN_INS_PER_EMAIL; i++) await limit.take("ana@example.com", "203.0.113.9");
  expect(await limit.take("ana@example.com", "198.51.100.7")).toBe(true);
  expect(await limit.take("ana@example.com", "203.0.113.9")).toBe(false);
  clock.advance(SIGN_IN_WINDOW_MS);
  expect(await limit.take("ana@example.com", "203.0.113.9")).toBe(true);
});

test("the addresses of one IPv6 network share their budget, those of another have their own", async () => {
  const limit = signInLimit(workspace.state);
  const answers = await Promise.all(
    Array.from({ length: SIGN_INS_PER_ADDRESS + 1 }, (_, i) =>
      limit.take(`guess-${i}@example.com`, `2001:db8:1:1::${i}`),
    ),
  );
  expect(answers.filter((mayTry) => mayTry)).toHaveLength(SIGN_INS_PER_ADDRESS);
  expect(await limit.take("ana@example.com", "2001:db8:1:2::1")).toBe(true);
});

test("a flood of emails and addresses pushes out what was tried first, never the memory's bounds", async () => {
  // A table that machines share has its own test of this.
  const limit = signInLimit(memoryState(workspace.clock.now));
  while (await limit.take("ana@example.com", "203.0.113.9"));
  for (let i = 0; i < MAX_SIGN_IN_NAMES; i++) await limit.take(`${i}@example.com`, `flood ${i}`);
  expect(await limit.take("ana@example.com", "203.0.113.9")).toBe(true);
});

test("what is too long for an email is kept no longer than one by the limits on guesses", () => {
  expect(normalEmail(` ${"Ana".repeat(20_000)}@example.com`).length).toBeLessThan(300);
  expect(isEmail(normalEmail(`ana@${"a".repeat(300)}.example`))).toBe(false);
  expect(normalEmail(" Ana@Example.com ")).toBe("ana@example.com");
});

test("weak passwords are refused with what to do", () => {
  expect(passwordProblem("short", "ana@example.com")).toContain("at least 12");
  expect(passwordProblem("aaaaaaaaaaaaaa", "ana@example.com")).toContain("different characters");
  expect(passwordProblem("goalkeeper99!", "goalkeeper@example.com")).toContain("email");
  expect(passwordProblem(PASSWORD, "ana@example.com")).toBeNull();
});

test("after signing in the way leads only to pages of the console", () => {
  expect(ownPath("/console/images?status=failed")).toBe("/console/images?status=failed");
  for (const next of [
    "https://evil.example/console/",
    "//evil.example",
    "/\\evil.example",
    "/console/..//evil.example",
    "/v1/images",
    "",
  ])
    expect(ownPath(next)).not.toContain("evil");
  expect(ownPath("/console/../../x")).not.toStartWith("/x");
});
