import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { API_PATHS } from "../../src/core/api-paths.ts";
import { freePort } from "../../src/service/free-port.ts";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { PASSWORD, submit, testMember, textOf } from "../console/sessions.ts";
import { imageRequest, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import type { Json } from "../http/api.ts";
import { PROXIES, startProxy } from "./proxies.ts";

// The service under a path of a host, behind the proxies of deploy/ over TLS, in a real browser: whether the
// proxy passes the path on or takes it away.

const BASE_PATH = "/club/cards";
const EMAIL = "ana@path.example";

let server: TestServer;
let browser: TestBrowser;
let port: number;
let baseUrl: string;
let upstream: number;
let share: string;
beforeAll(async () => {
  port = await freePort("127.0.0.1");
  baseUrl = `https://localhost:${port}${BASE_PATH}`;
  [server, browser] = await Promise.all([
    testServer({ renders: false, env: { CARDPRESS_BASE_URL: baseUrl } }),
    testBrowser(),
  ]);
  upstream = server.config.port;
  const { account, testKey } = await testAccount(server.service);
  await testMember(server.service, account.id, EMAIL);
  const direct = `http://127.0.0.1:${upstream}`;
  const called = async (path: string, body: object): Promise<Json> => {
    const response = await fetch(direct + path, {
      method: "POST",
      headers: { "X-API-Key": testKey, "Content-Type": "application/json", "Idempotency-Key": path },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as Json).data;
  };
  const order = imageRequest();
  const { image_id } = await called(API_PATHS.images, order);
  share = (await untilEnded(direct, testKey, image_id)).result.share_url;
  await called(API_PATHS.batches, { name: "Squad of June", cards: [order] });
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

/** A page that trusts the tests' certificate, and what it asked for outside of the base path. */
async function openPage(): Promise<{ page: Page; complaints: string[]; strays: string[] }> {
  const { page, complaints } = await browser.open();
  const devtools = await page.createCDPSession();
  await devtools.send("Security.setIgnoreCertificateErrors", { ignore: true });
  const strays: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && !url.startsWith("blob:") && !`${url}/`.startsWith(`${baseUrl}/`))
      strays.push(url);
  });
  return { page, complaints, strays };
}

const pathOf = (page: Page) => new URL(page.url()).pathname;

/** What a fresh security key of the browser's own agrees to. */
async function plugKeyIn(page: Page): Promise<void> {
  const devtools = await page.createCDPSession();
  await devtools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
}

for (const proxy of PROXIES)
  for (const isTakenAway of [false, true])
    describe.skipIf(Bun.which(proxy.name) === null)(
      `${proxy.name}, which ${isTakenAway ? "takes the path away" : "passes the path on"}`,
      () => {
        let running: Awaited<ReturnType<typeof startProxy>>;
        beforeAll(async () => {
          const under = { path: BASE_PATH, isTakenAway };
          running = await startProxy(proxy, { port, upstream, host: "localhost", under });
        });
        afterAll(() => running?.stop());

        test("the console works as it does on a host of its own", async () => {
          const { page, complaints, strays } = await openPage();
          await page.goto(`${baseUrl}/`);
          expect(pathOf(page)).toBe(`${BASE_PATH}/console/sign-in`);
          await page.type("#email", EMAIL);
          await page.type("#password", PASSWORD);
          await submit(page, "main form button[type=submit]");
          expect(pathOf(page)).toBe(`${BASE_PATH}/console`);
          const [cookie] = (await page.cookies()).filter(({ name }) => name.includes("cardpress"));
          expect(cookie).toMatchObject({ name: "__Secure-cardpress", path: BASE_PATH, secure: true });

          // The palette asks the service, and goes where it says.
          await page.keyboard.down("Control");
          await page.keyboard.press("k");
          await page.keyboard.up("Control");
          await page.type("#palette input", "Squad of June");
          await page.waitForSelector("#palette-found-0");
          await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
          expect(pathOf(page)).toStartWith(`${BASE_PATH}/console/batches/bat_`);
          await page.keyboard.press("g");
          await Promise.all([page.waitForNavigation(), page.keyboard.press("i")]);
          expect(pathOf(page)).toBe(`${BASE_PATH}/console/images`);

          // A form that asks for parts of its page, and a picture.
          await page.goto(`${baseUrl}/console/playground`);
          await page.click(".send button[type=submit]");
          await page.waitForSelector("#outcome img");
          const width = await page.$eval("#outcome img", async (img) => {
            await (img as HTMLImageElement).decode();
            return (img as HTMLImageElement).naturalWidth;
          });
          expect(width).toBe(1024);

          // A refused form comes back with what was typed.
          await page.goto(`${baseUrl}/console/webhooks`);
          await page.type("#url", "https://127.0.0.1/hook");
          await submit(page, "main .form button[type=submit]");
          expect(pathOf(page)).toBe(`${BASE_PATH}/console/webhooks`);
          expect(await page.$eval("#url", (field) => (field as HTMLInputElement).value)).toBe(
            "https://127.0.0.1/hook",
          );

          await plugKeyIn(page);
          await page.goto(`${baseUrl}/console/profile`);
          const name = `Key of ${proxy.name} ${isTakenAway}`;
          await page.type("#passkey-name", name);
          await page.type("#passkey-password", PASSWORD);
          await submit(page, "form[data-passkey] button");
          expect(await textOf(page)).toContain(`The passkey ${name} is added.`);
          await submit(page, ".sidebar .nav-button");
          expect(pathOf(page)).toBe(`${BASE_PATH}/console/sign-in`);
          await submit(page, "form[data-passkey] button");
          expect(pathOf(page)).toBe(`${BASE_PATH}/console`);
          expect({ complaints, strays }).toEqual({ complaints: [], strays: [] });
        });

        test("the documentation is searched and its calls are tried, and a shared card is alive", async () => {
          const { page, complaints, strays } = await openPage();
          await page.goto(`${baseUrl}/console/sign-in`);
          await page.type("#email", EMAIL);
          await page.type("#password", PASSWORD);
          await submit(page, "main form button[type=submit]");
          await page.goto(`${baseUrl}/docs/reference`);
          await page.click("[data-make-key]");
          await page.waitForFunction(() =>
            (document.querySelector("#docs-key") as HTMLInputElement).value.startsWith("sk_test_"),
          );
          const call = 'form[data-try="GET"][data-path$="/presets"]';
          await page.$eval(call, (form) => (form as HTMLFormElement).requestSubmit());
          await page.waitForSelector(`${call} .try-answer:not([hidden])`);
          expect(await page.$eval(`${call} .try-answer`, (answer) => answer.textContent)).toContain(
            "club_card",
          );

          await page.keyboard.press("Escape");
          await page.click(".search-button");
          await page.type("#search input", "webhook signature");
          await page.waitForSelector("#search li a");
          await page.evaluate(() => (document.querySelector("#search li a") as HTMLAnchorElement).click());
          await page.waitForFunction(() => !location.pathname.endsWith("/reference"));
          expect(pathOf(page)).toStartWith(`${BASE_PATH}/docs/`);

          await page.goto(share);
          await page.waitForFunction(
            () => document.querySelector("cardpress-card")?.shadowRoot?.querySelector(".foil") !== null,
          );
          await page.$eval("cardpress-card img", (img) => (img as HTMLImageElement).decode());
          expect({ complaints, strays }).toEqual({ complaints: [], strays: [] });
        });

        test("what is not under the path is not the service's, and what is for operators stays inside", async () => {
          const ask = (path: string) =>
            fetch(`https://localhost:${port}${path}`, {
              redirect: "manual",
              tls: { rejectUnauthorized: false },
            });
          for (const path of ["/console", "/docs", "/v1/usage", `${BASE_PATH}x/live`])
            expect([path, (await ask(path)).headers.get("x-request-id")]).toEqual([path, null]);
          for (const path of ["/metrics", "/ready"])
            expect([path, (await ask(BASE_PATH + path)).status]).toEqual([path, 404]);
          expect((await ask(`${BASE_PATH}/v1/usage`)).status).toBe(401);
        });
      },
    );
