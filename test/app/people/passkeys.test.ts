import { afterEach, beforeEach, expect, test } from "bun:test";
import { addOperator } from "../../../src/app/people/manage-users.ts";
import { type PasskeyService, passkeyService } from "../../../src/app/people/passkeys.ts";
import { passkeysOf } from "../../../src/store/people/passkeys.ts";
import type { User } from "../../../src/store/people/users.ts";
import { testMember } from "../../console/sessions.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { softwareKey } from "./authenticator.ts";

let workspace: TestWorkspace;
let passkeys: PasskeyService;
let ana: User;
beforeEach(async () => {
  workspace = await testWorkspace();
  passkeys = passkeyService({
    ...workspace,
    config: { ...workspace.config, baseUrl: "https://cards.example.com" },
  });
  ana = await testMember(workspace, (await testAccount(workspace)).account.id, "ana@example.com");
});
afterEach(() => workspace.close());

type Options = { challenge: string };
const toAdd = async (user: User) => (await passkeys.registrationOptions(user)) as Options;
const toSignIn = async () => (await passkeys.signInOptions()) as Options;

async function keyOf(user: User) {
  const key = softwareKey();
  await passkeys.register(user, key.create(await toAdd(user)), "Key");
  return key;
}

test("a passkey signs in however many others ask for a challenge meanwhile", async () => {
  const key = await keyOf(ana);
  const options = await toSignIn();
  for (let i = 0; i < 10_001; i++) await passkeys.signInOptions();
  expect((await passkeys.verify(key.get(options)))?.id).toBe(ana.id);
});

test("an answer signs in once, and no answer to another challenge does", async () => {
  const key = await keyOf(ana);
  const answer = key.get(await toSignIn());
  expect((await passkeys.verify(answer))?.id).toBe(ana.id);
  expect(await passkeys.verify(answer)).toBeUndefined();
  expect(await passkeys.verify(key.get(await toAdd(ana)))).toBeUndefined();
  expect(await passkeys.verify(key.get({ challenge: "bWFkZSB1cA" }))).toBeUndefined();
  expect(await passkeys.verify(softwareKey().get(await toSignIn()))).toBeUndefined();
});

test("a passkey is added by an answer to a challenge for that user, and once", async () => {
  const key = softwareKey();
  const eve = await testMember(workspace, (await testAccount(workspace)).account.id, "eve@example.com");
  for (const foreign of [await toAdd(eve), await toSignIn()])
    await expect(passkeys.register(ana, key.create(foreign), "Key")).rejects.toThrow("could not be checked");
  const answer = key.create(await toAdd(ana));
  await passkeys.register(ana, answer, "Key");
  await expect(passkeys.register(ana, answer, "Key")).rejects.toThrow("could not be checked");
  expect(await passkeysOf(workspace.store.read, ana.id)).toHaveLength(1);
});

test("a credential that is known already is refused with a sentence, whoever has it", async () => {
  const { id } = await keyOf(ana);
  const eve = await testMember(workspace, (await testAccount(workspace)).account.id, "eve@example.com");
  for (const user of [ana, eve]) {
    const copy = softwareKey(Buffer.from(id, "base64url"));
    await expect(passkeys.register(user, copy.create(await toAdd(user)), "Copy")).rejects.toThrow(
      "in use already",
    );
  }
});

test("a passkey that is being added at the moment the password ends is not", async () => {
  await workspace.store.write(
    "test",
    async ({ db, t }) => void (await db.update(t.users).set({ isVouched: 0 })),
  );
  const answer = softwareKey().create(await toAdd(ana));
  await addOperator(workspace, { email: ana.email });
  await expect(passkeys.register(ana, answer, "Key")).rejects.toThrow("password has just changed");
  expect(await passkeysOf(workspace.store.read, ana.id)).toEqual([]);
});

test("all passkeys of a user end together, and nobody else's", async () => {
  const eve = await testMember(workspace, (await testAccount(workspace)).account.id, "eve@example.com");
  const keys = [await keyOf(ana), await keyOf(ana)];
  const hers = await keyOf(eve);
  expect(await passkeys.removeAll(ana)).toBe(2);
  for (const key of keys) expect(await passkeys.verify(key.get(await toSignIn()))).toBeUndefined();
  expect((await passkeys.verify(hers.get(await toSignIn())))?.id).toBe(eve.id);
});
