import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  addMember,
  addOperator,
  issueSetupLink,
  type NewMember,
  removeMember,
} from "../../../src/app/people/manage-users.ts";
import {
  changePassword,
  checkPassword,
  completeSetup,
  readSession,
  setupLinkFor,
  startSession,
} from "../../../src/app/people/sign-in.ts";
import { MAX_MEMBERS } from "../../../src/core/limits.ts";
import { listActivity } from "../../../src/store/people/activity.ts";
import { insertPasskey, passkeysOf } from "../../../src/store/people/passkeys.ts";
import { findUserByEmail, type MemberRole, membersOf, type User } from "../../../src/store/people/users.ts";
import { tokenOf } from "../../console/sessions.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
let accountId: string;
beforeEach(async () => {
  workspace = await testWorkspace();
  accountId = (await testAccount(workspace)).account.id;
});
afterEach(() => workspace.close());

const add = (email: string, role: MemberRole) =>
  addMember(workspace, { accountId, email, role, vouched: true });

async function roles() {
  const members = await membersOf(workspace.store.read, accountId);
  return Object.fromEntries(members.map(({ user, membership }) => [user.email, membership.role]));
}

test("an account's only owner, added again as a developer, stays its owner", async () => {
  await add("ana@example.com", "owner");
  await expect(add("ana@example.com", "developer")).rejects.toThrow("An account needs an owner");
  await add("tom@example.com", "developer");
  await expect(add("ana@example.com", "developer")).rejects.toThrow("An account needs an owner");
  expect(await roles()).toEqual({ "ana@example.com": "owner", "tom@example.com": "developer" });
});

test("a member added again gets the role asked for, and the log records it as the change it is", async () => {
  await add("ana@example.com", "owner");
  await add("tom@example.com", "developer");
  await add("tom@example.com", "owner");
  await add("ana@example.com", "developer");
  await add("ana@example.com", "developer");
  expect(await roles()).toEqual({ "ana@example.com": "developer", "tom@example.com": "owner" });
  const log = await listActivity(workspace.store.read, { accountId, limit: 4 });
  expect(log.map(({ entry }) => `${entry.action} ${entry.subject}`)).toEqual([
    "member.role_changed ana@example.com to developer",
    "member.role_changed tom@example.com to owner",
    "member.added tom@example.com as developer",
    "member.added ana@example.com as owner",
  ]);
});

// Emails are not verified: owners get the setup links of people they add, and could use them themselves.

const CEO = "ceo@beta.example";
const THIEF = "a password the owner chose";
const HONEST = "a password of their own";

const byOwner = (email: string, role: MemberRole = "developer", account = accountId) =>
  addMember(workspace, { accountId: account, email, role, vouched: false });
const use = (made: { setupUrl: string | null }, password: string) =>
  completeSetup(workspace, { token: tokenOf(made.setupUrl), password, email: "" });
const signsIn = async (password: string, email = CEO) =>
  (await checkPassword(workspace, { email, password })) !== undefined;
const newAccount = async () => (await testAccount(workspace, { name: "Beta" })).account.id;

/** An owner adds somebody else's email, sets its password, signs in and adds a passkey. */
async function takeOver(): Promise<{ user: User; token: string }> {
  const user = await use(await byOwner(CEO), THIEF);
  const { token } = await startSession(workspace, user, undefined);
  await addPasskey(user);
  return { user, token };
}

async function addPasskey(user: User): Promise<void> {
  const key = { publicKey: "AAAA", counter: 0, name: "Key", createdAt: 0, lastUsedAt: null };
  const id = workspace.random.id("pk");
  await workspace.store.write("test", (tx) =>
    insertPasskey(tx, { id, userId: user.id, credentialId: id, ...key }),
  );
}

const POWERS: [string, () => Promise<NewMember>][] = [
  ["an operator", () => addOperator(workspace, { email: CEO })],
  [
    "the owner of another account",
    async () =>
      addMember(workspace, { accountId: await newAccount(), email: CEO, role: "owner", vouched: true }),
  ],
  [
    "a developer of another account",
    async () =>
      addMember(workspace, { accountId: await newAccount(), email: CEO, role: "developer", vouched: true }),
  ],
  ["an owner where they were a developer", () => add(CEO, "owner")],
];
for (const [power, give] of POWERS) {
  test(`whoever an operator makes ${power} comes in by the operator's link only, not as an owner set it up`, async () => {
    const { user, token } = await takeOver();
    const given = await give();
    expect(given.startsAnew).toBeTrue();
    expect(await signsIn(THIEF)).toBeFalse();
    expect(await readSession(workspace, token)).toBeUndefined();
    expect(await passkeysOf(workspace.store.read, user.id)).toEqual([]);
    const [entry] = (await listActivity(workspace.store.read, { limit: 9 })).filter(
      ({ entry: { action } }) => action === "user.sign_in_ended",
    );
    expect(entry?.entry.subject).toBe(CEO);

    await use(given, HONEST);
    expect(await signsIn(HONEST)).toBeTrue();
    // Vouched for by now: the next power needs no new password.
    expect(await addOperator(workspace, { email: CEO })).toMatchObject({ setupUrl: null, startsAnew: false });
    expect(await signsIn(HONEST)).toBeTrue();
  });
}

test("a removed member is nobody: what an owner had set up for them brings nothing", async () => {
  const { user, token } = await takeOver();
  await removeMember(workspace, { accountId, userId: user.id, by: null });
  expect((await addOperator(workspace, { email: CEO })).startsAnew).toBeTrue();
  expect(await readSession(workspace, token)).toBeUndefined();
});

test("a link of an owner that lay unused is worth nothing once an operator gave one", async () => {
  const old = await byOwner(CEO);
  const { setupUrl, startsAnew } = await addOperator(workspace, { email: CEO });
  expect(startsAnew).toBeFalse();
  expect(await setupLinkFor(workspace, tokenOf(old.setupUrl))).toBeUndefined();
  expect(await setupLinkFor(workspace, tokenOf(setupUrl))).toBeDefined();
});

test("an operator's link counts only once it is used: until then the password is still the owner's", async () => {
  const { user } = await takeOver();
  await issueSetupLink(workspace, { userId: user.id });
  expect(await signsIn(THIEF)).toBeTrue();
  expect((await addOperator(workspace, { email: CEO })).startsAnew).toBeTrue();
});

test("an owner who takes over the link of somebody an operator brought in gets no trust with it", async () => {
  await add(CEO, "developer");
  await use(await byOwner(CEO), THIEF);
  expect((await addOperator(workspace, { email: CEO })).startsAnew).toBeTrue();
});

test("members keep their password where they gain nothing: added again, made a developer, or promoted by an owner", async () => {
  await add("ana@example.com", "owner");
  await use(await byOwner(CEO, "developer"), HONEST);
  for (const again of [await add(CEO, "developer"), await byOwner(CEO, "owner"), await add(CEO, "developer")])
    expect(again).toMatchObject({ setupUrl: null, startsAnew: false });
  expect(await signsIn(HONEST)).toBeTrue();
});

test("an owner adds whoever left an account before, who then begins anew, and nobody who is still in one", async () => {
  const { user, token } = await takeOver();
  const beta = await newAccount();
  await expect(byOwner(CEO, "developer", beta)).rejects.toThrow("Ask the operator");
  await removeMember(workspace, { accountId, userId: user.id, by: null });
  const added = await byOwner(CEO, "developer", beta);
  expect(added.startsAnew).toBeTrue();
  expect([await signsIn(THIEF), await readSession(workspace, token)]).toEqual([false, undefined]);
  await use(added, HONEST);
  expect(await signsIn(HONEST)).toBeTrue();
});

test("an operator who is added to an account stays signed in", async () => {
  const operator = await use(await addOperator(workspace, { email: "boss@example.com" }), HONEST);
  const { token } = await startSession(workspace, operator, undefined);
  expect((await add("boss@example.com", "owner")).startsAnew).toBeFalse();
  expect(await readSession(workspace, token)).toBeDefined();
});

test("whoever signs in or changes the password at the moment it ends does not slip through", async () => {
  const { user, token } = await takeOver();
  const session = await readSession(workspace, token);
  const checked = await checkPassword(workspace, { email: CEO, password: THIEF });
  if (!checked || !session) throw new Error("the password was right");
  await addOperator(workspace, { email: CEO });
  await expect(startSession(workspace, checked, undefined)).rejects.toThrow("a moment ago");
  const change = { user: checked, password: "yet another of the thief", keepSessionId: session.session.id };
  await expect(changePassword(workspace, change)).rejects.toThrow("a moment ago");
  expect((await findUserByEmail(workspace.store.read, CEO))?.passwordHash).toBeNull();
  expect(user.id).toBe(checked.id);
});

test("a used setup link ends every passkey and session: a thief's too", async () => {
  const { user, token } = await takeOver();
  await use(await issueSetupLink(workspace, { userId: user.id }), HONEST);
  expect(await passkeysOf(workspace.store.read, user.id)).toEqual([]);
  expect(await readSession(workspace, token)).toBeUndefined();
  // From now on this is the person the operator meant.
  expect(await addOperator(workspace, { email: CEO })).toMatchObject({ setupUrl: null, startsAnew: false });
});

test("a new password takes back a setup link that lay unused", async () => {
  const user = await use(await byOwner(CEO), HONEST);
  const { token } = await startSession(workspace, user, undefined);
  const keepSessionId = (await readSession(workspace, token))?.session.id ?? "";
  const { setupUrl } = await issueSetupLink(workspace, { userId: user.id });
  await changePassword(workspace, { user, password: "a newer one of their own", keepSessionId });
  expect(await setupLinkFor(workspace, tokenOf(setupUrl))).toBeUndefined();
  expect(await readSession(workspace, token)).toBeDefined();
});

test("an account has a most of members, and says what to do", async () => {
  for (let i = 0; i < MAX_MEMBERS; i++) await add(`m${i}@example.com`, "owner");
  await expect(byOwner("late@example.com")).rejects.toThrow(`at most ${MAX_MEMBERS} members. Remove one`);
  await expect(add("m0@example.com", "developer")).resolves.toMatchObject({ startsAnew: false });
});

test("the refusal of an unknown account names no command: web users read it too", async () => {
  const unknown = addMember(workspace, { accountId: "acct_x", email: "ana@example.com", vouched: true });
  const error = await unknown.catch((thrown) => thrown);
  expect([error.code, error.message]).toEqual(["ACCOUNT_NOT_FOUND", "There is no account acct_x."]);
});
