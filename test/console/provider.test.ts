import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { addMember, addOperator, issueSetupLink } from "../../src/app/people/manage-users.ts";
import { oidcRedirectUri } from "../../src/app/people/oidc-client.ts";
import type { Account } from "../../src/store/people/accounts.ts";
import { findUserByEmail, membershipsOf } from "../../src/store/people/users.ts";
import { type TestFolder, type TestServer, testAccount, testFolder, testServer } from "../harness.ts";
import { type TestProvider, testProvider } from "../openid.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { PASSWORD, signIn, submit, testMember, textOf } from "./sessions.ts";

// In a real browser, at a real provider.

let provider: TestProvider;
let folder: TestFolder;
let server: TestServer;
let browser: TestBrowser;
let rovers: Account;
beforeAll(async () => {
  provider = await testProvider();
  folder = testFolder();
  // The settings name an account, so it comes first.
  const first = await testServer({ renders: false, dataDir: folder.dir });
  rovers = (await testAccount(first.service, { name: "Rovers" })).account;
  await first.close();
  server = await startAgain({});
  browser = await testBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await folder?.remove();
  await provider?.close();
});
afterEach(() => provider.people.clear());

async function startAgain(env: Record<string, string>): Promise<TestServer> {
  const started = await testServer({
    renders: false,
    dataDir: folder.dir,
    env: {
      ...provider.env,
      CARDPRESS_OIDC_OPERATOR_GROUPS: "league-office",
      CARDPRESS_OIDC_ACCOUNT_GROUPS: `rovers-staff=${rovers.id}:developer,rovers-board=${rovers.id}:owner`,
      ...env,
    },
  });
  provider.register(oidcRedirectUri(started.config));
  return started;
}

const known = (name: string, groups: string[] = [], verified = true) =>
  provider.people.set(name, { email: `${name}@rovers.example`, email_verified: verified, groups });

/** By the button of our sign-in page, through the provider's pages, and back. */
async function signInThere(page: Page, name: string, path = "/console/sign-in"): Promise<void> {
  await page.goto(server.baseUrl + path);
  await submit(page, 'a[href^="/console/sign-in/oidc"]');
  await passProvider(page, name);
}

async function passProvider(page: Page, name: string): Promise<void> {
  if (await page.$('input[name="login"]')) {
    await page.type('input[name="login"]', name);
    await page.type('input[name="password"]', "any will do there");
    await submit(page, 'button[type="submit"]');
  }
  // Whether this service may know who they are, asked once.
  if (page.url().startsWith(provider.issuer)) await submit(page, 'button[type="submit"]');
}

const at = (page: Page) => page.url().replace(server.baseUrl, "");

test("whoever a group lets in is signed in, and goes on to the page they wanted", async () => {
  known("mia", ["rovers-staff", "kitchen"]);
  const { page, complaints } = await browser.open();
  await signInThere(page, "mia", "/console/keys?environment=test");
  expect(at(page)).toBe("/console/keys?environment=test");
  expect(await textOf(page, "body")).toContain("mia@rovers.example");
  const cookies = await page.browserContext().cookies();
  // What was taken along is used up.
  expect(cookies.some(({ name }) => name === "cardpress-provider")).toBe(false);
  // The fonts of the provider's own page are not on this machine.
  expect(complaints.filter((text) => !text.includes("ERR_NAME_NOT_RESOLVED"))).toEqual([]);
  await page.goto(`${server.baseUrl}/console/members`);
  expect(await textOf(page)).toMatch(/mia@rovers.example \(you\)\s+Developer by Rovers ID\s+Rovers ID/);
});

test("nobody is signed in for whom no group and no invitation is there, and the page says what to do", async () => {
  known("nora", ["kitchen"]);
  const { page } = await browser.open();
  await signInThere(page, "nora");
  expect(await textOf(page)).toContain("nora@rovers.example, but nothing here is open to you");
  await page.goto(`${server.baseUrl}/console`);
  expect(at(page)).toBe("/console/sign-in");
  // Put into the group meanwhile, the page's button lets her in.
  known("nora", ["rovers-staff"]);
  await signInThere(page, "nora");
  expect(at(page)).toBe("/console");
});

test("an operator by a group is one as long as the group has them, and both are in the audit log", async () => {
  known("olga", ["league-office"]);
  const { page } = await browser.open();
  await signInThere(page, "olga");
  expect(at(page)).toBe("/console/operator");
  await page.goto(`${server.baseUrl}/console/operator/audit`);
  const log = await textOf(page);
  expect(log).toContain("olga@rovers.example, by a group of Rovers ID");
  expect(log).toContain("olga@rovers.example, with Rovers ID");
  known("olga");
  const again = await browser.open();
  await signInThere(again.page, "olga");
  expect(await textOf(again.page)).toContain("nothing here is open to you");
  // The first browser is out as well.
  await page.goto(`${server.baseUrl}/console/operator`);
  expect(at(page)).toStartWith("/console/sign-in");
});

test("a member with a password connects the provider on their profile, and disconnects it", async () => {
  await testMember(server.service, rovers.id, "tom@rovers.example");
  // At the provider he has another address, which is not verified: he has proven here who he is.
  provider.people.set("tom-there", { email: "tom@private.example", email_verified: false, groups: [] });
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "tom@rovers.example");
  await page.goto(`${server.baseUrl}/console/profile`);
  await page.type("#connect-password", "a wrong one");
  await submit(page, "form[action$='/oidc'] button");
  expect(await textOf(page)).toContain("The password is not right. Nothing was connected.");
  await page.type("#connect-password", PASSWORD);
  // The page in between leads on by itself.
  await page.click("form[action$='/oidc'] button");
  await page.waitForSelector('input[name="login"]');
  await passProvider(page, "tom-there");
  expect(at(page)).toBe("/console/profile");
  expect(await textOf(page)).toContain("Rovers ID is connected");
  expect(await textOf(page)).toContain("tom@private.example");
  const policy = complaints.filter((text) => text.includes("Content Security Policy"));
  expect(policy).toEqual([]);

  const other = await browser.open();
  await signInThere(other.page, "tom-there");
  expect(await textOf(other.page, "body")).toContain("tom@rovers.example");
  await page.click("[data-opens=disconnect-provider]");
  await submit(page, "#disconnect-provider button[type=submit]");
  expect(await textOf(page)).toContain("Rovers ID is disconnected");
  await other.page.goto(`${server.baseUrl}/console/profile`);
  expect(at(other.page)).toStartWith("/console/sign-in");
});

test("an email with a password here is not taken over: the page says how to connect", async () => {
  await testMember(server.service, rovers.id, "eva@rovers.example");
  known("eva", ["rovers-board"]);
  const { page } = await browser.open();
  await signInThere(page, "eva");
  expect(await textOf(page)).toContain(
    "has a password here already. Sign in with it, then connect Rovers ID",
  );
});

test("whoever was invited signs in at the provider, if it has verified their address", async () => {
  const { service } = server;
  await addMember(service, {
    accountId: rovers.id,
    email: "ivy@rovers.example",
    role: "viewer",
    vouched: false,
  });
  known("ivy", [], false);
  const first = await browser.open();
  await signInThere(first.page, "ivy");
  expect(await textOf(first.page)).toContain("has not verified that ivy@rovers.example is yours");
  known("ivy");
  const second = await browser.open();
  await signInThere(second.page, "ivy");
  expect(at(second.page)).toBe("/console");
  const user = await findUserByEmail(service.store.read, "ivy@rovers.example");
  const [found] = await membershipsOf(service.store.read, user?.id ?? "");
  expect(found?.membership.role).toBe("viewer");
});

test("a cancelled sign-in leads back to a page that offers another try", async () => {
  const { page } = await browser.open();
  await page.goto(`${server.baseUrl}/console/sign-in?next=%2Fconsole%2Fkeys`);
  await submit(page, 'a[href^="/console/sign-in/oidc"]');
  await Promise.all([page.waitForNavigation(), page.click('a[href$="/abort"]')]);
  expect(await textOf(page)).toContain("Rovers ID did not let you in");
  known("mia", ["rovers-staff"]);
  await submit(page, 'a[href^="/console/sign-in/oidc"]');
  await passProvider(page, "mia");
  expect(at(page)).toBe("/console/keys");
});

test("after signing out, the provider's own session can be ended as well", async () => {
  known("mia", ["rovers-staff"]);
  const { page } = await browser.open();
  await signInThere(page, "mia");
  const leave = page.$eval("form[action='/console/sign-out']", (form) =>
    (form as HTMLFormElement).requestSubmit(),
  );
  await Promise.all([page.waitForNavigation(), leave]);
  expect(await textOf(page)).toContain("You are signed out. Sign out of Rovers ID as well");
  await submit(page, 'a[href="/console/sign-out/oidc"]');
  expect(page.url()).toStartWith(`${provider.issuer}/session/end`);
  await submit(page, 'button[value="yes"]');
  expect(at(page)).toStartWith("/console/sign-in");
  await submit(page, 'a[href^="/console/sign-in/oidc"]');
  // It asks anew who it is.
  expect(await page.$('input[name="login"]')).not.toBeNull();
});

test("where people sign in at the provider alone, passwords, passkeys and members' links open nothing; an operator's link does", async () => {
  const { service } = server;
  await testMember(service, rovers.id, "uma@rovers.example");
  const member = await addMember(service, {
    accountId: rovers.id,
    email: "max@rovers.example",
    vouched: true,
  });
  await server.close();
  server = await startAgain({ CARDPRESS_OIDC_ONLY: "1" });
  const { page } = await browser.open();
  await page.goto(`${server.baseUrl}/console/sign-in`);
  expect(await page.$("#password")).toBeNull();
  const post = (path: string, fields: Record<string, string>) =>
    fetch(server.baseUrl + path, {
      method: "POST",
      redirect: "manual",
      headers: { origin: server.baseUrl },
      body: new URLSearchParams(fields),
    });
  const tries = [
    post("/console/sign-in", { email: "uma@rovers.example", password: PASSWORD }),
    post("/console/sign-in/passkey", { response: "{}" }),
    post("/console/forgotten-password", { email: "uma@rovers.example" }),
    post(new URL(member.setupUrl ?? "").pathname, { password: PASSWORD, again: PASSWORD }),
  ];
  for (const answer of await Promise.all(tries)) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await answer.text()).toContain("Sign in with Rovers ID");
  }
  const { user, setupUrl } = await addOperator(server.service, { email: "ops@rovers.example" });
  expect(setupUrl).toBeNull();
  // As "cardpress user create --operator" prints it, should the provider fail.
  const link = await issueSetupLink(server.service, { userId: user.id });
  await page.goto(link.setupUrl);
  await page.type("#password", PASSWORD);
  await page.type("#again", PASSWORD);
  await submit(page, "main form button[type=submit]");
  expect(at(page)).toBe("/console/operator");
});
