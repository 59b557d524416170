import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { Webhook } from "standardwebhooks";
import { addMember } from "../../src/app/people/manage-users.ts";
import { startSession } from "../../src/app/people/sign-in.ts";
import { freePort } from "../../src/service/free-port.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { listKeys } from "../../src/store/people/keys.ts";
import { passkeysOf } from "../../src/store/people/passkeys.ts";
import { deleteSessionsOf } from "../../src/store/people/sessions.ts";
import { RELEASE } from "../../src/version.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { PASSWORD, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
/** A partner's webhook receiver that keeps what it is sent. */
const received: { body: string; headers: Record<string, string> }[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    received.push({ body: await request.text(), headers: Object.fromEntries(request.headers) });
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
  [server, browser] = await Promise.all([testServer({ env, knowsPhotos: true }), testBrowser()]);
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
  expect(await page.$eval(".sidebar .nav-version", (line) => line.textContent)).toBe(`cardpress ${RELEASE}`);

  await page.goto(`${baseUrl}/console/keys`);
  await page.type("#name", "Production server");
  await submit(page, "main .row-form button[type=submit]");
  const key = await page.$eval("#fresh-key", (input) => (input as HTMLInputElement).value);
  const works = async (text: string) => (await get(baseUrl, text, "/v1/images")).status;
  expect(await works(key)).toBe(200);
  await page.browserContext().overridePermissions(baseUrl, ["clipboard-read", "clipboard-write"]);
  await page.click("[data-copies=fresh-key]");
  await page.waitForFunction(() => document.querySelector("#toast")?.textContent?.includes("Copied"));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  const createWithKey = () => post(baseUrl, key, imageRequest());
  expect((await createWithKey()).status).toBe(202);
  await page.reload();
  expect(await page.content()).not.toContain(key);
  expect(await textOf(page)).toContain("just now");

  await page.click('[data-opens^="regenerate-"]');
  const [row] = await page.$$eval("tbody tr", (rows) => rows.map((tr) => tr.textContent ?? ""));
  expect(row).toContain("Production server");
  await submit(page, "dialog[open] .button-primary");
  const successor = await page.$eval("#fresh-key", (input) => (input as HTMLInputElement).value);
  expect([await works(key), await works(successor)]).toEqual([200, 200]);
  await page.click('[data-opens^="confirm-"]');
  await submit(page, "dialog[open] .button-danger");
  expect([await works(key), await works(successor)]).toEqual([401, 200]);
  await page.click('[data-opens^="revoke-"]');
  await submit(page, "dialog[open] .button-danger");
  expect(await works(successor)).toBe(401);
  // Neither the page nor what is stored holds a key that was made here.
  const stored = JSON.stringify(await listKeys(service.store.read, account.id));
  for (const each of [key, successor])
    expect([await page.content(), stored].some((text) => text.includes(each))).toBe(false);

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
  await page.waitForSelector("#outcome img");
  expect(await textOf(page, "#outcome")).toContain("Completed");
  const shown = await page.$eval("#outcome img", (img) =>
    (img as HTMLImageElement).decode().then(() => img.getAttribute("src")),
  );
  expect(shown).toStartWith("/cdn/img_");

  // The same for a credit: the real card of the photo that the form began with.
  await page.click('.send input[value="live"]');
  await page.click(".send button[type=submit]");
  await page.waitForFunction(
    (old) => {
      const source = document.querySelector("#outcome img")?.getAttribute("src");
      return source && source !== old;
    },
    {},
    shown,
  );
  const card = await page.$eval("#outcome img", async (img) => {
    await (img as HTMLImageElement).decode();
    return [(img as HTMLImageElement).naturalWidth, (img as HTMLImageElement).naturalHeight];
  });
  expect(card).toEqual([1024, 1280]);
  expect((await findAccount(service.store.read, account.id))?.creditsPlan).toBe(account.creditsPlan - 1);

  await page.$eval("#number", (input) => {
    (input as HTMLInputElement).value = "100";
  });
  await page.click(".send button[type=submit]");
  await page.waitForFunction(() => document.querySelector("#outcome")?.textContent?.includes("not made"));
  const refused = await textOf(page, "#outcome");
  expect(refused).toContain("Shirt number");
  for (const code of ["player.number", "INVALID_REQUEST"]) expect(refused).not.toContain(code);
  expect(complaints).toEqual([]);
});

test("a webhook endpoint is added, tested, its delivery looked at and repeated, and its secret rotated", async () => {
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
  await page.waitForFunction(() => document.querySelector("#attempts")?.textContent?.includes("HTTP 200"));
  const [event] = received.filter(({ body }) => body.includes("webhook.test"));
  // The secret that was shown is the one that signs.
  expect(new Webhook(secret).verify(event?.body ?? "", event?.headers ?? {})).toMatchObject({
    type: "webhook.test",
  });

  const before = received.length;
  await submit(page, ".page-head form .button-primary");
  await page.waitForFunction(() => document.querySelectorAll("#attempts li").length === 2);
  expect(received[before]).toMatchObject({ body: event?.body });

  await page.click(".page-head .actions a.button:not([href*=images])");
  await page.waitForSelector('[data-opens="rotate"]');
  await page.click('[data-opens="rotate"]');
  await submit(page, "dialog[open] .button-primary");
  const next = await page.$eval("#fresh-secret", (input) => (input as HTMLInputElement).value);
  expect(next).not.toBe(secret);
  await submit(page, ".page-head form .button-primary");
  await page.waitForFunction(() => document.querySelector("#attempts")?.textContent?.includes("HTTP 200"));
  const last = received.at(-1);
  // For a day both sign.
  for (const each of [secret, next])
    expect(new Webhook(each).verify(last?.body ?? "", last?.headers ?? {})).toMatchObject({
      type: "webhook.test",
    });
  expect(complaints).toEqual([]);
});

/** Gives a page a security key that says yes to everything. */
async function securityKey(page: Page) {
  const devtools = await page.createCDPSession();
  await devtools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  const plugIn = () => devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  let { authenticatorId } = await plugIn();
  return {
    /** An empty one in its place. */
    change: async () => {
      await devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
      ({ authenticatorId } = await plugIn());
    },
  };
}

test("after a new password and after signing out elsewhere the passkeys that go on are named, and can be ended together", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  const user = await testMember(service, account.id, "two@keys.example");
  const { page, complaints } = await browser.open();
  const key = await securityKey(page);
  await signIn(page, baseUrl, "two@keys.example");
  const add = async (name: string, password: string) => {
    await page.type("#passkey-name", name);
    await page.type("#passkey-password", password);
    await submit(page, "form[data-passkey] button");
    expect(await textOf(page)).toContain(`The passkey ${name} is added.`);
  };
  await page.goto(`${baseUrl}/console/profile`);
  await add("My laptop", PASSWORD);
  // The next one with a touch of the first, in the place of the password.
  await page.setRequestInterception(true);
  page.on("request", async (request) => {
    if (request.url().endsWith("/profile/passkeys/options")) await key.change();
    await request.continue();
  });
  await add("My key ring", "");

  await startSession(service, user, undefined);
  await page.goto(`${baseUrl}/console/profile`);
  await submit(page, 'form[action$="/sign-out-elsewhere"] button');
  expect(await textOf(page)).toContain("My laptop, My key ring. Anyone who holds one can sign in");
  await page.goto(`${baseUrl}/console/profile`);
  expect(await textOf(page)).not.toContain("Anyone who holds one");

  await page.type("#current", PASSWORD);
  await page.type("#password", "another pitch of dry grass");
  await submit(page, 'form[action$="/profile/password"] button');
  expect(await textOf(page)).toContain("My laptop, My key ring. Anyone who holds one can sign in");
  await page.click('[data-opens="check-remove-all"]');
  await submit(page, "dialog[open] .button-danger");
  expect(await textOf(page)).toContain("All 2 passkeys are removed.");
  expect(await passkeysOf(service.store.read, user.id)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a passkey is added, signs in without a password, and no longer once it is removed", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  await testMember(service, account.id, "key@holder.example");
  const { page, complaints } = await browser.open();
  await securityKey(page);
  await signIn(page, baseUrl, "key@holder.example");
  await page.goto(`${baseUrl}/console/profile`);
  const add = async (name: string, password: string) => {
    await page.type("#passkey-name", name);
    await page.type("#passkey-password", password);
    await submit(page, "form[data-passkey] button");
  };
  // A session alone, which may be stolen, adds none.
  await page.type("#passkey-name", "Thief's");
  await page.type("#passkey-password", "not my password");
  await page.click("form[data-passkey] button");
  await page.waitForFunction(() => document.querySelector("[data-problem]")?.textContent !== "");
  expect(await textOf(page, "form[data-passkey]")).toContain("The password is not right. Nothing was added.");
  await page.reload();
  await add("My laptop", PASSWORD);
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

test("an image in the making shows its end without a reload: the card alive, and where it is shared", async () => {
  const { service, baseUrl } = server;
  const { account, testKey } = await testAccount(service);
  await testMember(service, account.id, "dev@watch.example");
  const { page, complaints } = await browser.open();
  await signIn(page, baseUrl, "dev@watch.example");
  const accepted = await post(baseUrl, testKey, imageRequest({ player: { external_id: "test_slow" } }));
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  await page.goto(`${baseUrl}/console/images/${data.image_id}`);
  expect(await textOf(page)).not.toContain("Completed");
  await page.waitForSelector("main cardpress-card img");
  expect(await textOf(page)).toContain("Completed");
  expect(await page.$eval("cardpress-card", (card) => card.shadowRoot?.querySelector(".foil") !== null)).toBe(
    true,
  );
  const share = await page.$eval("#share-url", (field) => (field as HTMLInputElement).value);
  expect(await (await fetch(share)).text()).toContain("<cardpress-card>");
  // A settled page asks no more.
  expect(await page.$("main [hx-get]")).toBeNull();
  expect(complaints).toEqual([]);
});

test("a session that ended leads the whole page to the sign-in, also when only a part was asked for", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  const user = await testMember(service, account.id, "gone@play.example");
  const { page } = await browser.open();
  await signIn(page, baseUrl, "gone@play.example");
  await page.goto(`${baseUrl}/console/playground`);
  await service.store.write("test", (tx) => deleteSessionsOf(tx, user.id));
  await submit(page, ".send button[type=submit]");
  expect(page.url()).toBe(`${baseUrl}/console/sign-in?ended=1`);
  expect(await textOf(page)).toContain("Your session has ended");
});

test("times are in the reader's own zone, and exact to the second when pointed at", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  await testMember(service, account.id, "zone@time.example");
  const { page } = await browser.open();
  await page.emulateTimezone("Asia/Tokyo");
  await signIn(page, baseUrl, "zone@time.example");
  await page.goto(`${baseUrl}/console/keys`);
  const shown = await page.$eval('time[data-style="absolute"]', (time) => ({
    iso: (time as HTMLTimeElement).dateTime,
    text: time.textContent,
    title: time.title,
  }));
  const clock = new Date(shown.iso).toLocaleTimeString("en-US", {
    timeZone: "Asia/Tokyo",
    hour: "numeric",
    minute: "2-digit",
  });
  expect(shown.text?.replaceAll("\u202f", " ")).toContain(clock.replaceAll("\u202f", " "));
  expect(shown.title).toContain("GMT+9");
});

test("the documentation makes a reader a test key, shows it in the samples, and tries calls with it", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service, { name: "Readers" });
  await testMember(service, account.id, "reader@readers.example");
  const { page, complaints } = await browser.open();
  await page.goto(`${baseUrl}/docs/reference`);
  await page.click("[data-make-key]");
  await page.waitForFunction(() => document.querySelector("#toast")?.textContent?.includes("Sign in"));
  await signIn(page, baseUrl, "reader@readers.example");
  await page.goto(`${baseUrl}/docs/reference`);
  await page.click("[data-make-key]");
  await page.waitForFunction(() => document.querySelector("#docs-key:placeholder-shown") === null);
  const key = await page.$eval("#docs-key", (input) => (input as HTMLInputElement).value);
  expect(key).toStartWith("sk_test_");
  expect(await page.$eval(".op-samples code", (code) => code.textContent)).toContain(key);
  await page.goto(`${baseUrl}/docs/quickstart`);
  const [variable, sample] = await page.$$eval(".code code", (codes) =>
    codes.map(({ textContent }) => textContent),
  );
  expect(variable).toContain(`export CARDPRESS_KEY="${key}"`);
  // Somebody who puts a live key into the variable and sends the same again must not send the test key.
  expect(sample).toContain('-H "X-API-Key: $CARDPRESS_KEY"');
  await page.goto(`${baseUrl}/docs/reference`);
  const attempt = async (operation: string) => {
    const form = `section[aria-labelledby=${operation}] .try`;
    await page.click(`${form} summary`);
    await page.click(`${form} [type=submit]`);
    await page.waitForSelector(`${form} .try-answer:not([hidden])`);
    const label = await page.$eval(`${form} .code-head span`, (span) => span.textContent);
    return [
      label,
      JSON.parse(await page.$eval(`${form} .try-answer code`, (code) => code.textContent ?? "")),
    ];
  };
  const [label, created] = await attempt("create-image");
  expect(label).toBe("202: POST /v1/images");
  // The id of the answer is in the next call's field.
  expect((await attempt("get-image"))[1].data.image_id).toBe(created.data.image_id);
  const keys = await listKeys(service.store.read, account.id);
  expect(keys.filter(({ name }) => name === "Documentation")).toHaveLength(1);
  expect(complaints).toEqual([]);
});
