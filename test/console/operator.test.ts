import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { firstOperatorLink } from "../../src/app/people/manage-users.ts";
import { csvField } from "../../src/core/csv.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { client, PASSWORD, signIn, submit, testMember, testOperator, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer(), testBrowser()]);
  ({ page, complaints } = await browser.open());
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close()]);
});

async function setPassword(): Promise<void> {
  await page.type("#password", PASSWORD);
  await page.type("#again", PASSWORD);
  await submit(page, "button[type=submit]");
}

test("from an empty service to a partner who works: the first link, an account, its owner, a key, a suspension", async () => {
  const { service, baseUrl } = server;
  const link = (await firstOperatorLink(service)) ?? "";
  await page.goto(link);
  await page.type("#email", "boss@service.example");
  await setPassword();
  expect(await textOf(page)).toContain("Operator console");
  // In the units of the page Disk and of doctor.
  expect(await textOf(page)).toMatch(/Disk free\s+\d+\.\d [MGT]B\s/);
  // The link made an operator and makes no other.
  expect((await fetch(link)).status).toBe(404);

  await page.goto(`${baseUrl}/console/operator/accounts`);
  expect(await textOf(page)).toContain("Create the first partner's account below");
  await page.type("#name", "Harbour Rovers");
  await page.type("#email", "ana@rovers.example");
  await submit(page, "main .row-form button[type=submit]");
  const ownerLink = await page.$eval("#fresh-link", (input) => (input as HTMLInputElement).value);
  await page.type("#amount", "250");
  await page.type("#top-up-reason", "Welcome");
  await submit(page, 'form[action$="/credits"] button');
  expect(await textOf(page)).toContain("1,250");

  const partner = await browser.open();
  const own = partner.page;
  await own.goto(ownerLink);
  await own.type("#password", PASSWORD);
  await own.type("#again", PASSWORD);
  await submit(own, "button[type=submit]");
  expect(await textOf(own)).toContain("First steps");
  await own.goto(`${baseUrl}/console/keys`);
  await own.type("#name", "Server");
  await submit(own, "main .row-form button[type=submit]");
  const key = await own.$eval("#fresh-key", (input) => (input as HTMLInputElement).value);
  expect((await post(baseUrl, key, imageRequest())).status).toBe(202);

  await page.click('[data-opens="suspend"]');
  await page.type("#reason", "Invoice unpaid");
  await submit(page, "dialog[open] .button-danger");
  expect((await post(baseUrl, key, imageRequest())).status).toBe(403);
  await own.goto(`${baseUrl}/console`);
  expect(await textOf(own)).toContain("Reason: Invoice unpaid");
  await submit(page, 'form[action$="/resume"] button');
  expect((await post(baseUrl, key, imageRequest())).status).toBe(202);

  // A look at the partner's console: seen, changed nothing, and written down for both.
  await submit(page, 'form[action$="/view"] button');
  expect(await textOf(page)).toContain("read-only");
  await page.goto(`${baseUrl}/console/keys`);
  expect(await textOf(page)).toContain("Server");
  expect(await page.$("main form")).not.toBeNull();
  expect(await page.$$eval("main form", (forms) => forms.map((form) => form.getAttribute("action")))).toEqual(
    ["/console/operator/leave"],
  );
  await own.goto(`${baseUrl}/console/activity`);
  const activity = await textOf(own);
  for (const text of ["Account viewed", "Operator of the service", "Invoice unpaid", "250 credits: Welcome"])
    expect(activity).toContain(text);
  expect(activity).not.toContain("boss@service.example");
  expect([...complaints, ...partner.complaints]).toEqual([]);
});

test("the gallery shows a card of every layout each template has", async () => {
  const { service, baseUrl } = server;
  await testOperator(service, "gallery@service.example");
  await signIn(page, baseUrl, "gallery@service.example");
  // Each that is in view is asked for until it is drawn.
  await page.setViewport({ width: 1440, height: 8000 });
  await page.goto(`${baseUrl}/console/operator/templates`);
  await page.waitForFunction(() => document.querySelectorAll(".samples img").length === 22);
  const sizes = await page.$$eval(".samples img", (images) =>
    Promise.all(
      images.map(async (img) => {
        await Object.assign(img, { loading: "eager" }).decode();
        return {
          of: new URL((img as HTMLImageElement).src).pathname,
          width: img.naturalWidth,
          height: img.naturalHeight,
        };
      }),
    ),
  );
  expect(sizes).toEqual([
    { of: "/console/operator/templates/action_card/print", width: 705, height: 960 },
    { of: "/console/operator/templates/action_card/screen", width: 705, height: 960 },
    { of: "/console/operator/templates/club_card/portrait", width: 768, height: 960 },
    { of: "/console/operator/templates/club_card/square", width: 960, height: 960 },
    { of: "/console/operator/templates/club_card/landscape", width: 960, height: 540 },
    { of: "/console/operator/templates/club_card/print", width: 705, height: 960 },
    { of: "/console/operator/templates/full_bleed/print", width: 705, height: 960 },
    { of: "/console/operator/templates/full_bleed/screen", width: 705, height: 960 },
    { of: "/console/operator/templates/full_bleed/story", width: 540, height: 960 },
    { of: "/console/operator/templates/holiday_card/card", width: 681, height: 960 },
    { of: "/console/operator/templates/holiday_card/post", width: 768, height: 960 },
    { of: "/console/operator/templates/holiday_card/square", width: 960, height: 960 },
    { of: "/console/operator/templates/match_day/story", width: 540, height: 960 },
    { of: "/console/operator/templates/match_day/square", width: 960, height: 960 },
    { of: "/console/operator/templates/match_day/wide", width: 960, height: 540 },
    { of: "/console/operator/templates/retro_sticker/sticker", width: 650, height: 839 },
    { of: "/console/operator/templates/retro_sticker/card", width: 705, height: 960 },
    { of: "/console/operator/templates/retro_sticker/screen", width: 744, height: 960 },
    { of: "/console/operator/templates/team_sheet/post", width: 768, height: 960 },
    { of: "/console/operator/templates/team_sheet/square", width: 960, height: 960 },
    { of: "/console/operator/templates/team_sheet/story", width: 540, height: 960 },
    { of: "/console/operator/templates/team_sheet/wide", width: 960, height: 540 },
  ]);
});

test("an operator can be removed, is signed out at once, and one who can sign in always stays", async () => {
  const { service, baseUrl } = server;
  const first = await client(service, baseUrl, await testOperator(service, "first@service.example"));
  const second = await testOperator(service, "second@service.example");
  const their = await client(service, baseUrl, second);
  expect((await their.get("/console/operator")).status).toBe(200);
  await first.post(`/console/operator/operators/${second.id}/remove`);
  expect((await their.get("/console/operator")).headers.get("location")).toStartWith("/console/sign-in");
  const { removeOperator } = await import("../../src/app/people/manage-users.ts");
  const { listOperators } = await import("../../src/store/people/users.ts");
  const operators = await listOperators(service.store.read);
  for (const { id } of operators.slice(1)) await removeOperator(service, { userId: id, by: null });
  await expect(removeOperator(service, { userId: operators[0]?.id ?? "", by: null })).rejects.toThrow(
    "needs an operator",
  );
});

test("the statement shows what every credit did, as a page and as a file that no spreadsheet takes for formulas", async () => {
  const { service, baseUrl } = server;
  const { account, liveKey } = await testAccount(service, { name: "Statement FC", credits: 40 });
  const { grantCredits } = await import("../../src/app/people/manage-account.ts");
  await grantCredits(service, { accountId: account.id, amount: 7, reason: '=HYPERLINK("x"), "Cup"' });
  const partner = await client(
    service,
    baseUrl,
    await testMember(service, account.id, "eve@statement.example"),
  );
  const file = await (await partner.get("/console/credits.csv")).bytes();
  // Without its mark, spreadsheets take UTF-8 for the letters of another alphabet.
  expect([...file.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const lines = new TextDecoder().decode(file).trim().split("\r\n");
  expect(lines[0]).toBe(
    "created_at,entry,kind,credits,period,amount,balance,reserved,image_id,reason,external_id,player",
  );
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/,grant,topup,\d{4}-\d\d,7,47,0,,"'=HYPERLINK\(""x""\), ""Cup""",,$/);
  expect(lines[2]).toMatch(/,grant,plan,\d{4}-\d\d,40,40,0,,/);
  const page = await (await partner.get("/console/credits?show=grants")).text();
  expect(page).toContain("+40");

  const photo = { player: { source_image_url: server.photos.url("astronaut.png") } };
  expect((await post(baseUrl, liveKey, imageRequest(photo))).status).toBe(202);
  // A number, which a spreadsheet can add up; a text of -1 it could not.
  expect(await (await partner.get("/console/credits.csv")).text()).toMatch(
    /,reserve,plan,\d{4}-\d\d,-1,46,1,img_/,
  );
  expect(await (await partner.get("/console/credits")).text()).toMatch(/>−1<.*?>46<.*?>1</s);
  expect(["-1", "@x", "+x", "plain, text"].map(csvField)).toEqual(["'-1", "'@x", "'+x", '"plain, text"']);
  // Some spreadsheets read the wide forms of Chinese and Japanese keyboards as the same signs.
  expect(["＝1", "＋1", "－1", "＠x"].map(csvField)).toEqual(["'＝1", "'＋1", "'－1", "'＠x"]);
});

test("after a change of plan, console and API show the credits granted for this month", async () => {
  const { service, baseUrl } = server;
  const { account, liveKey } = await testAccount(service, { name: "Upgrade FC", credits: 1000 });
  const operator = await client(service, baseUrl, await testOperator(service, "plans@service.example"));
  const partner = await client(
    service,
    baseUrl,
    await testMember(service, account.id, "max@upgrade.example"),
  );
  const path = `/console/operator/accounts/${account.id}`;
  await operator.post(`${path}/plan`, { tier: "scale", credits: "10000" });
  const pages = [
    await (await operator.get(path)).text(),
    ...(await Promise.all(
      ["", "/usage", "/credits"].map(async (page) => (await partner.get(`/console${page}`)).text()),
    )),
  ];
  expect(pages[0]).toContain("1,000 credits were granted for this month");
  for (const page of pages) {
    expect(page).toContain("100 % of this month's credits are left");
    expect(page).toContain("of 1,000 this month, 10,000 from the next one on");
    expect(page).not.toMatch(/meter-low|Credits are running low/);
  }
  const usage = await get(baseUrl, liveKey, "/v1/usage?period=current_month");
  expect(await usage.json()).toMatchObject({ data: { credits_remaining: 1000, credit_limit: 1000 } });
});
