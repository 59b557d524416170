import { afterEach, beforeEach, expect, test } from "bun:test";
import { addOperator } from "../../../src/app/people/manage-users.ts";
import { type PasskeyDesk, passkeyDesk } from "../../../src/app/people/passkeys.ts";
import { passkeysOf } from "../../../src/store/passkeys.ts";
import type { User } from "../../../src/store/users.ts";
import { testMember } from "../../console/sessions.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { softwareKey } from "./authenticator.ts";

let house: TestWorkspace;
let desk: PasskeyDesk;
let ana: User;
beforeEach(async () => {
  house = await testWorkspace();
  desk = passkeyDesk({ ...house, config: { ...house.config, baseUrl: "https://cards.example.com" } });
  ana = await testMember(house, (await testAccount(house)).account.id, "ana@example.com");
});
afterEach(() => house.close());

type Options = { challenge: string };
const toAdd = async (user: User) => (await desk.registrationOptions(user)) as Options;
const toSignIn = async () => (await desk.signInOptions()) as Options;

async function keyOf(user: User) {
  const key = softwareKey();
  await desk.register(user, key.create(await toAdd(user)), "Key");
  return key;
}

test("a passkey signs in however many others ask for a challenge meanwhile", async () => {
  const key = await keyOf(ana);
  const options = await toSignIn();
  for (let i = 0; i < 10_001; i++) await desk.signInOptions();
  expect((await desk.verify(key.get(options)))?.id).toBe(ana.id);
});

test("an answer signs in once, and no answer to another challenge does", async () => {
  const key = await keyOf(ana);
  const answer = key.get(await toSignIn());
  expect((await desk.verify(answer))?.id).toBe(ana.id);
  expect(await desk.verify(answer)).toBeUndefined();
  expect(await desk.verify(key.get(await toAdd(ana)))).toBeUndefined();
  expect(await desk.verify(key.get({ challenge: "bWFkZSB1cA" }))).toBeUndefined();
  expect(await desk.verify(softwareKey().get(await toSignIn()))).toBeUndefined();
});

test("a passkey is added by an answer to a challenge for that user, and once", async () => {
  const key = softwareKey();
  const eve = await testMember(house, (await testAccount(house)).account.id, "eve@example.com");
  for (const foreign of [await toAdd(eve), await toSignIn()])
    await expect(desk.register(ana, key.create(foreign), "Key")).rejects.toThrow("could not be checked");
  const answer = key.create(await toAdd(ana));
  await desk.register(ana, answer, "Key");
  await expect(desk.register(ana, answer, "Key")).rejects.toThrow("could not be checked");
  expect(await passkeysOf(house.store.read, ana.id)).toHaveLength(1);
});

test("a credential that is known already is refused with a sentence, whoever has it", async () => {
  const { id } = await keyOf(ana);
  const eve = await testMember(house, (await testAccount(house)).account.id, "eve@example.com");
  for (const user of [ana, eve]) {
    const copy = softwareKey(Buffer.from(id, "base64url"));
    await expect(desk.register(user, copy.create(await toAdd(user)), "Copy")).rejects.toThrow(
      "in use already",
    );
  }
});

test("a passkey that is being added at the moment the password ends is not", async () => {
  await house.store.write("test", async ({ db, t }) => void (await db.update(t.users).set({ isVouched: 0 })));
  const answer = softwareKey().create(await toAdd(ana));
  await addOperator(house, { email: ana.email });
  await expect(desk.register(ana, answer, "Key")).rejects.toThrow("password has just changed");
  expect(await passkeysOf(house.store.read, ana.id)).toEqual([]);
});

test("all passkeys of a user end together, and nobody else's", async () => {
  const eve = await testMember(house, (await testAccount(house)).account.id, "eve@example.com");
  const keys = [await keyOf(ana), await keyOf(ana)];
  const hers = await keyOf(eve);
  expect(await desk.removeAll(ana)).toBe(2);
  for (const key of keys) expect(await desk.verify(key.get(await toSignIn()))).toBeUndefined();
  expect((await desk.verify(hers.get(await toSignIn())))?.id).toBe(eve.id);
});
