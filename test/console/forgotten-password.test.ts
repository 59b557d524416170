import { afterEach, beforeEach, expect, test } from "bun:test";
import { addMember } from "../../src/app/people/manage-users.ts";
import { checkPassword, completeSetup, setupLinkFor } from "../../src/app/people/sign-in.ts";
import { consoleAnswer } from "../../src/console/answer.ts";
import {
  RESET_LINK_LIFETIME_MS,
  RESETS_PER_ADDRESS,
  RESETS_PER_EMAIL,
} from "../../src/core/sign-in-limits.ts";
import { HOUR_MS } from "../../src/core/time.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { findUserByEmail } from "../../src/store/users.ts";
import { idlePool } from "../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { PASSWORD, testMember, tokenOf } from "./sessions.ts";

let workspace: TestWorkspace;
let pages: ReturnType<typeof consoleAnswer>;
beforeEach(async () => {
  const plain = await testWorkspace();
  begin(plain, { smtpUrl: "smtp://127.0.0.1:9", from: "cards@example.com" });
});
afterEach(() => workspace.close());

/** Begins a console of a service that sends its mails there. */
function begin(plain: TestWorkspace, mail: TestWorkspace["config"]["mail"]): void {
  workspace = { ...plain, config: { ...plain.config, mail } };
  pages = consoleAnswer(buildDeps(workspace, { pool: idlePool }));
}

async function ask(email: string, { address = "203.0.113.9", method = "POST" } = {}) {
  const { config } = workspace;
  const request = new Request(`${config.baseUrl}/console/forgotten-password`, {
    method,
    headers: { origin: config.baseUrl },
    ...(method === "POST" && { body: new URLSearchParams({ email }) }),
  });
  const rate = { limit: 1, remaining: 1, resetAtMs: 0, exceeded: false };
  const url = new URL(request.url);
  const response = await pages({
    request,
    url,
    route: "/console",
    requestId: "req_1",
    clientAddress: address,
    rate,
  });
  return { status: response.status, text: await response.text() };
}

/** The links mailed so far, as their readers get them. */
async function mailedTokens(): Promise<string[]> {
  const { db, t } = workspace.store.read;
  const mails = await db.select().from(t.mails);
  return mails
    .filter(({ kind }) => kind === "password_reset")
    .map(({ body, id }) => tokenOf(/https?:\S+/.exec(workspace.secrets.open(body, id))?.[0] ?? ""));
}

/** The mail is written after the answer; the test's own time-out bounds the wait. */
async function mailedToken(): Promise<string> {
  while ((await mailedTokens()).length === 0) await Bun.sleep(2);
  return (await mailedTokens())[0] ?? "";
}

async function ana() {
  const { account } = await testAccount(workspace);
  return { account, user: await testMember(workspace, account.id, "ana@example.com") };
}

test("who lost a password is mailed a link that sets a new one, once and within an hour", async () => {
  await ana();
  expect((await ask("Ana@Example.com ")).status).toBe(200);
  const token = await mailedToken();
  expect(await setupLinkFor(workspace, token)).toMatchObject({ user: { email: "ana@example.com" } });
  // Until then nothing has changed.
  expect(await checkPassword(workspace, { email: "ana@example.com", password: PASSWORD })).toBeDefined();
  await completeSetup(workspace, { token, password: "four unusual words here", email: "" });
  expect(await checkPassword(workspace, { email: "ana@example.com", password: PASSWORD })).toBeUndefined();
  expect(await setupLinkFor(workspace, token)).toBeUndefined();
});

test("the link is over after an hour", async () => {
  await ana();
  await ask("ana@example.com");
  const token = await mailedToken();
  workspace.clock.advance(RESET_LINK_LIFETIME_MS);
  expect(await setupLinkFor(workspace, token)).toBeUndefined();
});

test("the answer is the same for known and unknown people, and only the known one is written to", async () => {
  await ana();
  const unknown = await ask("eve@example.com");
  const known = await ask("ana@example.com");
  expect(known.text.replaceAll("ana@example.com", "eve@example.com")).toBe(unknown.text);
  await mailedToken();
  const { db, t } = workspace.store.read;
  expect((await db.select().from(t.mails)).map(({ recipient }) => recipient)).not.toContain(
    "eve@example.com",
  );
});

test("a new password by mail gives no more trust than the lost one had, and an invitation stays as it is", async () => {
  const { account } = await testAccount(workspace);
  const invited = await addMember(workspace, {
    accountId: account.id,
    email: "tom@example.com",
    vouched: false,
  });
  const invitation = tokenOf(invited.setupUrl);
  await ask("tom@example.com");
  await ask("ana@example.com");
  expect(await setupLinkFor(workspace, invitation)).toBeDefined();
  await completeSetup(workspace, { token: invitation, password: PASSWORD, email: "" });
  await ask("tom@example.com");
  await completeSetup(workspace, {
    token: await mailedToken(),
    password: "four unusual words here",
    email: "",
  });
  expect(await findUserByEmail(workspace.store.read, "tom@example.com")).toMatchObject({ isVouched: 0 });
});

test("one mailbox gets three links an hour, and one client may ask for twenty", async () => {
  for (let n = 0; n < RESETS_PER_EMAIL; n++) expect((await ask("ana@example.com")).status).toBe(200);
  const refused = await ask("ana@example.com", { address: "198.51.100.7" });
  expect(refused).toMatchObject({ status: 429, text: expect.stringContaining("wait an hour") });
  for (let n = RESETS_PER_EMAIL; n < RESETS_PER_ADDRESS; n++)
    expect((await ask(`somebody${n}@example.com`)).status).toBe(200);
  expect((await ask("one.more@example.com")).status).toBe(429);
  workspace.clock.advance(HOUR_MS);
  expect((await ask("ana@example.com")).status).toBe(200);
});

test("without an SMTP server the page says whom to ask, and a wrong email is told", async () => {
  expect(await ask("ana at example")).toMatchObject({
    status: 422,
    text: expect.stringContaining("ana@example.com"),
  });
  begin(workspace, undefined);
  const page = await ask("", { method: "GET" });
  expect(page.text).toContain("Ask its operator for a new link");
  expect(page.text).not.toContain("<form");
});
