import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  addMember,
  addOperator,
  changeRole,
  firstOperatorLink,
  issueSetupLink,
  removeMember,
  removeOperator,
} from "../../../src/app/people/manage-users.ts";
import type { ProviderPerson } from "../../../src/app/people/oidc-client.ts";
import {
  connectProvider,
  disconnectProvider,
  signInByProvider,
} from "../../../src/app/people/oidc-sign-in.ts";
import { checkPassword, completeSetup, readSession, startSession } from "../../../src/app/people/sign-in.ts";
import { Refusal } from "../../../src/core/errors.ts";
import { MAX_MEMBERS } from "../../../src/core/limits.ts";
import { PROVIDER_SESSION_LIFETIME_MS, SESSION_IDLE_MS } from "../../../src/core/sign-in-limits.ts";
import type { OidcSettings } from "../../../src/oidc-config.ts";
import { listActivity } from "../../../src/store/people/activity.ts";
import { identitiesOf } from "../../../src/store/people/identities.ts";
import {
  findUser,
  findUserByEmail,
  type MemberRole,
  membershipsOf,
  type User,
} from "../../../src/store/people/users.ts";
import { PASSWORD, testMember, testOperator, tokenOf } from "../../console/sessions.ts";
import { type TestWorkspace, testAccount, testConfig, testWorkspace } from "../../harness.ts";

// Who may sign in by a provider, as whom, and what groups give and take.

let plain: TestWorkspace;
let workspace: TestWorkspace;
let rovers: string;
let albion: string;
beforeEach(async () => {
  plain = await testWorkspace();
  rovers = (await testAccount(plain, { name: "Rovers" })).account.id;
  albion = (await testAccount(plain, { name: "Albion" })).account.id;
  workspace = withSettings();
});
afterEach(() => plain.close());

/** The same workspace at the provider, with these settings. */
function withSettings(change: Partial<OidcSettings> = {}): TestWorkspace {
  const { oidc } = testConfig("/nowhere", {
    CARDPRESS_OIDC_ISSUER: "https://login.example",
    CARDPRESS_OIDC_CLIENT_ID: "cardpress",
    CARDPRESS_OIDC_CLIENT_SECRET: "secret",
    CARDPRESS_OIDC_NAME: "Rovers ID",
    CARDPRESS_OIDC_OPERATOR_GROUPS: "office,league",
    CARDPRESS_OIDC_ACCOUNT_GROUPS: `staff=${rovers}:developer,board=${rovers}:owner,guests=${albion}:viewer`,
  });
  return { ...plain, config: { ...plain.config, oidc: { ...(oidc as OidcSettings), ...change } } };
}

function person(of: { email?: string | null; sub?: string; groups?: string[] } = {}): ProviderPerson {
  const { email = "ana@rovers.example", sub = email ?? "nobody", groups = [] } = of;
  const issuer = workspace.config.oidc?.issuer ?? "";
  return { issuer, subject: sub, email, isEmailVerified: true, groups: new Set(groups) };
}

const enter = (who: ProviderPerson) => signInByProvider(workspace, { person: who, previousToken: undefined });

async function refusal(coming: Promise<unknown>): Promise<string> {
  const outcome = await coming.then(
    () => new Error("was let in"),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Refusal);
  return (outcome as Refusal).message;
}

/** Somebody's roles: by account, and as an operator. */
async function rolesOf({ id }: Pick<User, "id">) {
  const { read } = workspace.store;
  const memberships = (await membershipsOf(read, id)).map(({ membership }) => membership);
  const of = (accountId: string) => memberships.find((m) => m.accountId === accountId)?.role ?? null;
  const isOperator = (await findUser(read, id))?.isOperator === 1;
  return { rovers: of(rovers), albion: of(albion), isOperator };
}

const userOf = async (email: string) => (await findUserByEmail(workspace.store.read, email)) as User;
const actions = async () =>
  (await listActivity(workspace.store.read, { limit: 200 })).map(({ entry }) => entry.action);
const invite = (email: string, role: MemberRole = "developer", vouched = true) =>
  addMember(workspace, { accountId: rovers, email, role, vouched });

test("groups make somebody new a member with the highest role they give, and an operator", async () => {
  const { user, token } = await enter(person({ groups: ["staff", "board", "guests", "office", "kitchen"] }));
  expect(await rolesOf(user)).toEqual({ rovers: "owner", albion: "viewer", isOperator: true });
  expect((await readSession(workspace, token))?.user.id).toBe(user.id);
  const again = await enter(person({ groups: ["staff"] }));
  expect(again.user.id).toBe(user.id);
});

test("the subject is who somebody is: with another email it is the same person, with another subject it is not", async () => {
  const { user } = await enter(person({ groups: ["staff"] }));
  const moved = await enter(
    person({ email: "ana@new.example", sub: "ana@rovers.example", groups: ["staff"] }),
  );
  expect(moved.user.id).toBe(user.id);
  expect((await findUser(workspace.store.read, user.id))?.email).toBe("ana@rovers.example");
  // Somebody else was given the address: they do not become her.
  const heir = person({ sub: "another", groups: ["staff", "office"] });
  expect(await refusal(enter(heir))).toContain("signs in here with another account of Rovers ID");
  expect(await rolesOf(user)).toMatchObject({ isOperator: false });
});

test("without a place here nobody gets in, and nobody is kept", async () => {
  expect(await refusal(enter(person({ groups: ["kitchen"] })))).toContain("nothing here is open to you");
  expect(await findUserByEmail(workspace.store.read, "ana@rovers.example")).toBeUndefined();
  expect(await actions()).toContain("user.sign_in_refused");
});

test("an email that is missing, unusable or not verified opens nothing, whatever groups it comes with", async () => {
  await invite("ana@rovers.example");
  const groups = ["board", "office"];
  expect(await refusal(enter({ ...person({ groups }), isEmailVerified: false }))).toContain(
    "has not verified",
  );
  for (const email of [null, "", "no address", `${"a".repeat(300)}@x.example`, "ana\u202e@rovers.example"])
    expect(await refusal(enter(person({ email, sub: "s", groups })))).toContain(
      "which email address is yours",
    );
  const { id } = await userOf("ana@rovers.example");
  expect(await identitiesOf(workspace.store.read, id)).toEqual([]);
});

test("whoever was invited comes in by their verified email, and the link to set a password ends", async () => {
  const { setupUrl } = await invite("ana@rovers.example", "viewer");
  const { user } = await enter(person({ email: "Ana@Rovers.example", sub: "s" }));
  expect(await rolesOf(user)).toEqual({ rovers: "viewer", albion: null, isOperator: false });
  const late = completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  expect(await refusal(late)).toContain("used already, or has expired");
  expect((await invite("ana@rovers.example", "viewer")).setupUrl).toBeNull();
});

test("whoever has a password is not taken over by their email: a member's and an operator's alike", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example");
  const olga = await testOperator(workspace, "olga@league.example");
  for (const { email } of [ana, olga]) {
    const message = await refusal(enter(person({ email, sub: "evil", groups: ["board"] })));
    expect(message).toContain("has a password here already. Sign in with it, then connect Rovers ID");
  }
  expect(await checkPassword(workspace, { email: ana.email, password: PASSWORD })).toBeDefined();
  expect(await identitiesOf(workspace.store.read, olga.id)).toEqual([]);
});

test("roles of groups go with the groups, and roles given by hand stay", async () => {
  await invite("ana@rovers.example", "viewer");
  const { user, token } = await enter(person({ groups: ["board", "guests", "office"] }));
  expect(await rolesOf(user)).toEqual({ rovers: "owner", albion: "viewer", isOperator: true });
  await enter(person({ groups: ["staff"] }));
  expect(await rolesOf(user)).toEqual({ rovers: "developer", albion: null, isOperator: false });
  // People who lost something come in anew everywhere.
  expect(await readSession(workspace, token)).toBeUndefined();
  await enter(person());
  expect(await rolesOf(user)).toEqual({ rovers: "viewer", albion: null, isOperator: false });
  const log = await actions();
  for (const action of ["member.added", "member.role_changed", "member.removed", "operator.added"])
    expect(log).toContain(action);
});

test("with the last group the last role goes, also the last owner's and operator's, and every session", async () => {
  const { user, token } = await enter(person({ groups: ["board", "office"] }));
  expect(await refusal(enter(person()))).toContain("nothing here is open to you");
  expect(await rolesOf(user)).toEqual({ rovers: null, albion: null, isOperator: false });
  expect(await readSession(workspace, token)).toBeUndefined();
  // The groups back, and they are in again, as the same person.
  expect((await enter(person({ groups: ["staff"] }))).user.id).toBe(user.id);
});

test("a role by hand that equals the group's outlives the group; a lower one than the group's is refused", async () => {
  const { user } = await enter(person({ groups: ["staff"] }));
  const to = (role: MemberRole) =>
    changeRole(workspace, { accountId: rovers, userId: user.id, role, by: null });
  expect(await refusal(to("viewer"))).toContain("A group of Rovers ID gives this person the role Developer");
  await to("owner");
  await enter(person({ groups: ["staff"] }));
  expect(await rolesOf(user)).toMatchObject({ rovers: "owner" });
  const eve = await enter(person({ email: "eve@rovers.example", groups: ["staff", "office"] }));
  await invite("eve@rovers.example", "developer");
  await addOperator(workspace, { email: "eve@rovers.example" });
  await enter(person({ email: "eve@rovers.example" }));
  expect(await rolesOf(eve.user)).toEqual({ rovers: "developer", albion: null, isOperator: true });
});

test("removed by hand, a member comes back with the group and not without", async () => {
  const { user } = await enter(person({ groups: ["staff", "guests"] }));
  await removeMember(workspace, { accountId: rovers, userId: user.id, by: null });
  await enter(person({ groups: ["guests"] }));
  expect(await rolesOf(user)).toMatchObject({ rovers: null, albion: "viewer" });
  await enter(person({ groups: ["staff", "guests"] }));
  expect(await rolesOf(user)).toMatchObject({ rovers: "developer" });
});

test("without a provider in the settings a role of its groups is changed like any other", async () => {
  const { user } = await enter(person({ groups: ["board"] }));
  await testMember(plain, rovers, "tom@rovers.example");
  await changeRole(plain, { accountId: rovers, userId: user.id, role: "viewer", by: null });
  expect(await rolesOf(user)).toMatchObject({ rovers: "viewer" });
});

test("an account that is full or unknown is left out, and the rest is given", async () => {
  for (let i = 0; i < MAX_MEMBERS; i++) await invite(`member-${i}@rovers.example`, "viewer");
  const { accountGroups = [] } = workspace.config.oidc ?? {};
  const unknown = { group: "staff", accountId: "acct_unknown", role: "owner" } as const;
  workspace = withSettings({ accountGroups: [...accountGroups, unknown] });
  const { user } = await enter(person({ groups: ["staff", "guests"] }));
  expect(await rolesOf(user)).toEqual({ rovers: null, albion: "viewer", isOperator: false });
});

test("before groups give more to whoever has a password from an owner's link, that password ends", async () => {
  const { setupUrl } = await invite("ana@rovers.example", "viewer", false);
  const ana = await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  await connectProvider(workspace, { user: ana, person: person({ sub: "s" }) });
  await enter(person({ sub: "s" }));
  expect(await checkPassword(workspace, { email: ana.email, password: PASSWORD })).toBeDefined();
  await enter(person({ sub: "s", groups: ["office"] }));
  expect(await checkPassword(workspace, { email: ana.email, password: PASSWORD })).toBeUndefined();
  expect(await rolesOf(ana)).toMatchObject({ isOperator: true });
});

test("whoever connected another's invitation keeps nothing when an operator gives that person more", async () => {
  // An owner invited tom, kept the link, and connected an account of their own to it.
  const { setupUrl } = await invite("tom@rovers.example", "viewer", false);
  const posing = await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  const own = person({ email: "owner@rovers.example", groups: ["guests"] });
  await connectProvider(workspace, { user: posing, person: own });
  const { token } = await enter(own);
  const { startsAnew } = await addOperator(workspace, { email: "tom@rovers.example" });
  expect(startsAnew).toBe(true);
  expect(await readSession(workspace, token)).toBeUndefined();
  expect(await identitiesOf(workspace.store.read, posing.id)).toEqual([]);
});

test("a provider's account is connected to one user, and a user to one account of it", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example");
  const tom = await testMember(workspace, rovers, "tom@rovers.example");
  const connect = (user: User, sub: string) => connectProvider(workspace, { user, person: person({ sub }) });
  await connect(ana, "s-1");
  expect(await refusal(connect(ana, "s-1"))).toContain("is connected already");
  expect(await refusal(connect(tom, "s-1"))).toContain("signs in somebody else here");
  expect(await refusal(connect(ana, "s-2"))).toContain("Disconnect that account first");
  expect((await enter(person({ sub: "s-1" }))).user.id).toBe(ana.id);
  expect(await checkPassword(workspace, { email: ana.email, password: PASSWORD })).toBeDefined();
  expect(await actions()).toContain("user.provider_connected");
});

test("nothing is connected for a session whose password has changed meanwhile", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example");
  const { setupUrl } = await issueSetupLink(workspace, { userId: ana.id });
  await completeSetup(workspace, { token: tokenOf(setupUrl), password: "another pitch of grass", email: "" });
  const late = connectProvider(workspace, { user: ana, person: person() });
  expect(await refusal(late)).toContain("password has just changed");
});

test("disconnecting takes its sessions and what its groups gave, and is refused to whoever has no password", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example", "viewer");
  await connectProvider(workspace, { user: ana, person: person({ sub: "s" }) });
  const byProvider = await enter(person({ sub: "s", groups: ["guests"] }));
  const byPassword = await startSession(workspace, ana, undefined);
  const keepSessionId = (await readSession(workspace, byPassword.token))?.session.id ?? "";
  await disconnectProvider(workspace, { user: ana, keepSessionId });
  expect(await readSession(workspace, byProvider.token)).toBeUndefined();
  expect(await rolesOf(ana)).toEqual({ rovers: "viewer", albion: null, isOperator: false });
  expect(await refusal(enter(person({ sub: "s" })))).toContain("has a password here already");
  const { user } = await enter(person({ email: "eve@rovers.example", groups: ["staff"] }));
  const stuck = disconnectProvider(workspace, { user, keepSessionId: "none" });
  expect(await refusal(stuck)).toContain("no other way in");
});

test("a used setup link ends what was connected: it is how somebody recovers from a thief", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example");
  await connectProvider(workspace, { user: ana, person: person({ sub: "thief" }) });
  const { setupUrl } = await issueSetupLink(workspace, { userId: ana.id });
  await completeSetup(workspace, { token: tokenOf(setupUrl), password: PASSWORD, email: "" });
  expect(await refusal(enter(person({ sub: "thief" })))).toContain("has a password here already");
});

test("a session by the provider ends after half a day however busy it is, so that groups are looked at", async () => {
  const { token } = await enter(person({ groups: ["staff"] }));
  const step = SESSION_IDLE_MS / 2;
  for (let spent = step; spent < PROVIDER_SESSION_LIFETIME_MS; spent += step) {
    workspace.clock.advance(step);
    expect(await readSession(workspace, token)).toBeDefined();
  }
  workspace.clock.advance(step);
  expect(await readSession(workspace, token)).toBeUndefined();
});

test("where people sign in at the provider alone, those with a password come in by their verified email", async () => {
  const ana = await testMember(workspace, rovers, "ana@rovers.example", "viewer");
  workspace = withSettings({ only: true });
  expect((await enter(person({ sub: "s" }))).user.id).toBe(ana.id);
  // Passwords may be switched on again one day.
  expect(await checkPassword(workspace, { email: ana.email, password: PASSWORD })).toBeUndefined();
  expect((await invite("eve@rovers.example")).setupUrl).toBeNull();
  expect(await rolesOf(await userOf("eve@rovers.example"))).toMatchObject({ rovers: "developer" });
});

test("people of an earlier provider come in by their verified email at the next one", async () => {
  const { user } = await enter(person({ groups: ["staff"] }));
  workspace = withSettings({ issuer: "https://new.example" });
  expect((await enter(person({ groups: ["staff"] }))).user.id).toBe(user.id);
});

test("an operator who signs in at the provider counts as one: no first link is given, and another may leave", async () => {
  expect(await firstOperatorLink(workspace)).not.toBeNull();
  const { user } = await enter(person({ groups: ["office"] }));
  expect(await firstOperatorLink(workspace)).toBeNull();
  const olga = await testOperator(workspace, "olga@league.example");
  await removeOperator(workspace, { userId: olga.id, by: user.id });
  const last = removeOperator(workspace, { userId: user.id, by: null });
  expect(await refusal(last)).toContain("needs an operator who can sign in");
});
