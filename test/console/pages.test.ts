import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { addMember, addOperator } from "../../src/app/manage-users.ts";
import { freePort } from "../../src/cli/serve.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { PASSWORD, signIn, submit, testMember, testOperator, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
/** A partner's webhook receiver that keeps what it is sent. */
const heard: string[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    heard.push(await request.text());
    return new Response("thanks");
  },
});
const hookUrl = `http://127.0.0.1:${receiver.port}/hooks`;

beforeAll(async () => {
  const port = await freePort("127.0.0.1");
  const env = {
    CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: new URL(hookUrl).origin,
    // Browsers make passkeys for names only, not for addresses such as 127.0.0.1.
    CARDPRESS_PORT: String(port),
    CARDPRESS_BASE_URL: `http://localhost:${port}`,
  };
  [server, browser] = await Promise.all([testServer({ env }), testBrowser()]);
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close(), receiver.stop(true)]);
});

test("from a setup link to a key that works, is shown once, is replaced and is revoked", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service, { name: "Harbour Rovers" });
  const invited = await addMember(service, {
    accountId: account.id,
    email: "ana@rovers.example",
    role: "owner",
    vouched: true,
  });
  const { page, complaints } = await browser.open();
  await page.goto(invited.setupUrl ?? "");
  await page.type("#password", PASSWORD);
  await page.type("#again", PASSWORD);
  await submit(page, "button[type=submit]");
  expect(await textOf(page)).toContain("Harbour Rovers");

  await page.goto(`${baseUrl}/console/keys`);
  await page.type("#name", "Production server");
  await submit(page, "main .row-form button[type=submit]");
  const key = await page.$eval("#fresh-key", (input) => (input as HTMLInputElement).value);
  const works = async (text: string) => (await get(baseUrl, text, "/v1/images")).status;
  expect(await works(key)).toBe(200);
  await page.reload();
  expect(await page.content()).not.toContain(key);

  await page.click('[data-opens^="regenerate-"]');
  const [row] = await page.$$eval("tbody tr", (rows) => rows.map((tr) => tr.textContent ?? ""));
  expect(row).toContain("Production server");
  await submit(page, "dialog[open] .button-primary");
  const successor = await page.$eval("#fresh-key", (input) => (input as HTMLInputElement).value);
  expect([await works(key), await works(successor)]).toEqual([200, 200]);
  await page.click('[data-opens^="confirm-"]');
  await submit(page, "dialog[open] .button-danger");
  expect([await works(key), await works(successor)]).toEqual([401, 200]);

  const used = await fetch(invited.setupUrl ?? "");
  expect(used.status).toBe(404);
  await submit(page, ".sidebar .nav-button");
  expect(page.url()).toContain("/console/sign-in");
  await page.goto(`${baseUrl}/console/keys`);
  expect(page.url()).toContain("/console/sign-in?next=%2Fconsole%2Fkeys");
  await page.type("#email", "ana@rovers.example");
  await page.type("#password", PASSWORD);
  await submit(page, "button[type=submit]");
  expect(page.url()).toBe(`${baseUrl}/console/keys`);
  expect(complaints).toEqual([]);
});

test("the playground shows the request while it is filled in, sends it, and shows the card", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  await testMember(service, account.id, "dev@play.example", "developer");
  const { page, complaints } = await browser.open();
  await signIn(page, baseUrl, "dev@play.example");
  await page.goto(`${baseUrl}/console/playground`);
  await page.$eval("#name", (input) => {
    (input as HTMLInputElement).value = "";
  });
  await page.type("#name", "Zoë O'Hara");
  await page.waitForFunction(() => document.querySelector("#curl")?.textContent?.includes("Zoë O'\\''Hara"));
  expect(await textOf(page, "#typescript")).toContain(`name: "Zoë O'Hara"`);

  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome img", { timeout: 15_000 });
  expect(await textOf(page, "#outcome")).toContain("Completed");
  const shown = await page.$eval("#outcome img", (img) =>
    (img as HTMLImageElement).decode().then(() => img.getAttribute("src")),
  );
  expect(shown).toStartWith("/cdn/img_");

  await page.$eval("#number", (input) => {
    (input as HTMLInputElement).value = "100";
  });
  await page.click(".send button[type=submit]");
  await page.waitForFunction(() =>
    document.querySelector("#outcome")?.textContent?.includes("INVALID_REQUEST"),
  );
  expect(await textOf(page, "#outcome")).toContain("player.number");
  expect(complaints).toEqual([]);
});

test("a webhook endpoint is added, tested and its delivery looked at", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  await testMember(service, account.id, "dev@hooks.example");
  const { page, complaints } = await browser.open();
  await signIn(page, baseUrl, "dev@hooks.example");
  await page.goto(`${baseUrl}/console/webhooks`);
  await page.type("#url", hookUrl);
  await submit(page, "main .form button[type=submit]");
  const secret = await page.$eval("#fresh-secret", (input) => (input as HTMLInputElement).value);
  expect(secret).toStartWith("whsec_");
  await page.reload();
  expect(await page.content()).not.toContain(secret);
  await submit(page, ".page-head form .button-primary");
  await page.waitForFunction(() => document.querySelector("#attempts")?.textContent?.includes("HTTP 200"), {
    timeout: 15_000,
  });
  expect(heard.some((body) => body.includes("webhook.test"))).toBe(true);
  expect(complaints).toEqual([]);
});

test("a passkey is added, signs in without a password, and no longer once it is removed", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  await testMember(service, account.id, "key@holder.example");
  const { page, complaints } = await browser.open();
  const devtools = await page.createCDPSession();
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  await signIn(page, baseUrl, "key@holder.example");
  await page.goto(`${baseUrl}/console/profile`);
  await page.type("#passkey-name", "My laptop");
  await submit(page, "form[data-passkey] button");
  expect(await textOf(page)).toContain("The passkey My laptop is added.");

  const signInWithPasskey = async () => {
    await page.deleteCookie({ name: "cardpress", url: baseUrl });
    await page.goto(`${baseUrl}/console/sign-in?next=%2Fconsole%2Fprofile`);
    await submit(page, "form[data-passkey] button");
    return textOf(page);
  };
  expect(await signInWithPasskey()).toContain("key@holder.example");
  expect(page.url()).toBe(`${baseUrl}/console/profile`);
  await page.click('[data-opens^="remove-pk_"]');
  await submit(page, "dialog[open] .button-danger");
  expect(await signInWithPasskey()).toContain("does not sign anybody in");
  expect(complaints.filter((text) => !text.includes("403"))).toEqual([]);
});

describe("accessibility", () => {
  let page: Page;
  let complaints: string[];
  const paths: string[] = [];

  /** Serious and critical findings of axe on the page that is open. */
  async function findings(): Promise<string[]> {
    // The page's own policy forbids injected scripts; the debugger may still evaluate axe's source.
    await page.evaluate(axe.source);
    const result = await page.evaluate(() =>
      // biome-ignore lint/suspicious/noExplicitAny: axe is there by its own script.
      (globalThis as any).axe.run(document, { resultTypes: ["violations"] }),
    );
    const { violations, passes } = result as import("axe-core").AxeResults;
    // A page on which axe could not look at anything would look flawless.
    expect(passes.length).toBeGreaterThan(10);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
  }

  beforeAll(async () => {
    const { service, baseUrl } = server;
    const { account, testKey } = await testAccount(service, { name: "Axe United" });
    await testMember(service, account.id, "axe@united.example");
    await testOperator(service, "op@united.example");
    const made = [];
    for (const external_id of ["player-1", "test_fail_no_player"]) {
      const accepted = await post(baseUrl, testKey, imageRequest({ player: { external_id } }));
      const { data } = (await accepted.json()) as { data: { image_id: string } };
      await untilEnded(baseUrl, testKey, data.image_id);
      made.push(data.image_id);
    }
    ({ page, complaints } = await browser.open());
    paths.push(
      ...[
        "",
        "/keys",
        "/images?environment=test",
        "/images?environment=test&view=table",
        "/images?environment=live",
      ],
      ...made.map((id) => `/images/${id}`),
      ...[
        "/playground",
        "/usage",
        "/usage?environment=test",
        "/webhooks",
        "/members",
        "/profile",
        "/no-such-page",
      ],
    );
  });

  const themes = ["light", "dark"] as const;
  for (const theme of themes) {
    test(`no page has a serious finding, ${theme}`, async () => {
      const { baseUrl } = server;
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      const found: Record<string, string[]> = {};
      const check = async (path: string) => {
        await page.goto(`${baseUrl}/console${path}`);
        const problems = await findings();
        const tooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (tooWide) problems.push("wider than the window");
        if (problems.length > 0) found[path] = problems;
      };
      await page.setViewport({ width: theme === "light" ? 1280 : 360, height: 800 });
      await check("/sign-in");
      const { setupUrl } = await addOperator(server.service, { email: `${theme}@united.example` });
      await check(new URL(setupUrl ?? "").pathname.replace("/console", ""));
      await signIn(page, baseUrl, "axe@united.example");
      for (const path of paths) await check(path);
      await signIn(page, baseUrl, "op@united.example");
      for (const path of ["", "/accounts", "/templates", "/operators", "/audit"])
        await check(`/operator${path}`);
      await page.goto(`${baseUrl}/console/operator/accounts`);
      const account = await page.$eval(
        "tbody a",
        (link) => new URL((link as HTMLAnchorElement).href).pathname,
      );
      await check(account.replace("/console", ""));
      expect(found).toEqual({});
      // The missing page is told by its status, which browsers also write to the console.
      expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
    });
  }
});
