import { afterEach, beforeEach, expect, type Mock, mock, test } from "bun:test";
import { sendDueMails } from "../../src/app/mail/outbox.ts";
import { addMember } from "../../src/app/people/manage-users.ts";
import { passwordResets } from "../../src/app/people/password-resets.ts";
import { checkPassword, completeSetup, setupLinkFor } from "../../src/app/people/sign-in.ts";
import { consoleAnswer } from "../../src/console/answer.ts";
import {
  MAX_WAITING_RESETS,
  RESET_LINK_LIFETIME_MS,
  RESETS_PER_ADDRESS,
  RESETS_PER_EMAIL,
} from "../../src/core/sign-in-limits.ts";
import { HOUR_MS } from "../../src/core/time.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { findUserByEmail } from "../../src/store/people/users.ts";
import { idlePool } from "../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { PASSWORD, testMember, tokenOf } from "./sessions.ts";

let workspace: TestWorkspace;
let pages: ReturnType<typeof consoleAnswer>;
let writeMails: () => Promise<void>;
beforeEach(async () => {
  const plain = await testWorkspace();
  begin(plain, { smtpUrl: "smtp://127.0.0.1:9", from: "cards@example.com" });
});
afterEach(() => workspace.close());

/** Begins a console of a service that sends its mails there. */
function begin(plain: TestWorkspace, mail: TestWorkspace["config"]["mail"]): void {
  workspace = { ...plain, config: { ...plain.config, mail } };
  const deps = buildDeps(workspace, { pool: idlePool });
  pages = consoleAnswer(deps);
  // As the mail loop does.
  writeMails = deps.passwordResets.write;
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
    basePath: "",
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

async function mailedToken(): Promise<string> {
  await writeMails();
  return (await mailedTokens())[0] ?? "";
}

async function ana() {
  const { account } = await testAccount(workspace);
  return { account, user: await testMember(workspace, account.id, "ana@example.com") };
}

test("anybody who lost a password is mailed a link that sets a new one, once and within an hour", async () => {
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

test("a request does the same for known and unknown people, writes nothing, and waits for no mail server", async () => {
  const { user } = await ana();
  // A server that takes the mail before and never says so.
  await ask(user.email);
  await writeMails();
  const taken = Promise.withResolvers<void>();
  const release = Promise.withResolvers<"sent">();
  const sending = sendDueMails(workspace, {
    send: () => {
      taken.resolve();
      return release.promise;
    },
    close: () => {},
  });
  await taken.promise;

  const asked: string[] = [];
  const { store } = workspace;
  const watched = { ...store, write: mock(store.write) as typeof store.write };
  begin({ ...workspace, store: watched }, workspace.config.mail);
  for (const email of ["eve@example.com", user.email]) {
    expect((await ask(email)).status).toBe(200);
    // Whatever a request leaves to be done after it would be done by now.
    await store.write("look", async () => {});
    await new Promise((resolve) => setImmediate(resolve));
    asked.push(
      `${(await mailedTokens()).length} mailed, ${(watched.write as Mock<typeof store.write>).mock.calls.length} writes`,
    );
  }
  expect(asked).toEqual(["1 mailed, 0 writes", "1 mailed, 0 writes"]);
  await writeMails();
  expect(await mailedTokens()).toHaveLength(2);
  release.resolve("sent");
  await sending;
});

test("a flood of requests is forgotten rather than kept", async () => {
  const { user } = await ana();
  const waiting = passwordResets(workspace);
  for (let n = 0; n < MAX_WAITING_RESETS; n++) waiting.request(`nobody${n}@example.com`);
  waiting.request(user.email);
  await waiting.write();
  expect(await mailedTokens()).toEqual([]);
  waiting.request(user.email);
  await waiting.write();
  expect(await mailedTokens()).toHaveLength(1);
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

test("without an SMTP server the page says whom to ask, and a wrong email is reported", async () => {
  expect(await ask("ana at example")).toMatchObject({
    status: 422,
    text: expect.stringContaining("ana@example.com"),
  });
  begin(workspace, undefined);
  const page = await ask("", { method: "GET" });
  expect(page.text).toContain("Ask its operator for a new link");
  expect(page.text).not.toContain("<form");
});
