/**
 * Takes pictures of every page of the console, light and dark, on a desktop and a phone: bun run screenshots
 * [FOLDER] Those that the README shows are also written to docs/screenshots.
 */

import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { addMember } from "../src/app/people/manage-users.ts";
import { testBrowser } from "../test/console/browser.ts";
import { signIn, submit } from "../test/console/sessions.ts";
import { closeSharedBrowsers } from "../test/shared-browser.ts";
import { offerHelp } from "./help.ts";
import { openShowcase } from "./showcase.ts";

offerHelp(import.meta);

const OUT = process.argv[2] ?? join(import.meta.dir, "../screenshots");
const README_PICTURES = join(import.meta.dir, "../docs/screenshots");
const IN_README = ["overview", "image-dark", "playground", "operator-dark"];
const DESKTOP_WIDTH = 1280;
const PHONE_WIDTH = 390;
const PHONE_HEIGHT = 780;
/** Longer pages are cut off here. */
const MAX_HEIGHT = { desktop: 1500, phone: 1700 };
const QUALITY = 74;

/** Pages that are also captured dark on a phone; only some, to keep the folder small. */
const DARK_PHONES = new Set([
  "sign-in",
  "overview",
  "images",
  "image",
  "keys",
  "usage",
  "playground",
  "operator",
]);

const showcase = await openShowcase();
const { server, accounts, images, healthy, failing, retried } = showcase;
const { service, baseUrl } = server;
const browser = await testBrowser();
const { page } = await browser.open();
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });

await beforeSignIn();
await newPartner();
await partner();
await partnerWithSecrets();
await operator();
await Promise.all([showcase.close(), closeSharedBrowsers()]);
for (const name of IN_README)
  await copyFile(join(OUT, `${name}.webp`), join(README_PICTURES, `${name}.webp`));

async function beforeSignIn(): Promise<void> {
  await shoot("sign-in", "/console/sign-in");
  await shoot("sign-in-refused", "/console/sign-in", async () => {
    await page.type("#email", "ana@rovers.example");
    await page.type("#password", "not the password");
    await submit(page, "main form button[type=submit]");
  });
  const member = {
    accountId: accounts.academy.id,
    email: "kim@northgate.example",
    role: "developer",
    vouched: true,
  } as const;
  const { setupUrl } = await addMember(service, member);
  await shoot("setup", new URL(setupUrl ?? "").pathname);
  await shoot("setup-spent", `/console/setup/${"A".repeat(43)}`);
}

/** What a new partner sees: every page says what to do first. */
async function newPartner(): Promise<void> {
  await signIn(page, baseUrl, "new@northgate.example");
  await shoot("first-steps", "/console");
  for (const name of ["images", "keys", "webhooks", "usage"])
    await shoot(`${name}-empty`, `/console/${name}`);
  await shoot("not-found", "/console/no-such-page");
  await signIn(page, baseUrl, "lee@quay.example");
  await shoot("suspended", "/console");
}

async function partner(): Promise<void> {
  await signIn(page, baseUrl, "ana@rovers.example");
  // Drawn from the local photo, before its address is replaced by a partner's.
  await shoot("playground", "/console/playground", async () => {
    await fill("#source_image_url", showcase.photoUrl);
    await fill("#name", "Jonas Lindqvist");
    await page.click('.send input[value="live"]');
    await page.click(".send button[type=submit]");
    await page.waitForSelector("#outcome img");
    await page.$eval("#outcome img", (img) => (img as HTMLImageElement).decode());
    await fill("#source_image_url", "https://media.rovers.example/players/lindqvist.jpg");
    await page.waitForFunction(() => document.querySelector("#curl")?.textContent?.includes("lindqvist.jpg"));
  });
  await shoot("playground-refused", "/console/playground", async () => {
    await fill("#number", "100");
    await page.click(".send button[type=submit]");
    await page.waitForSelector("#outcome .notice");
  });
  await showcase.disguise();
  await shoot("overview", "/console");
  await shootMenu("menu", "/console");
  await shoot("images", "/console/images");
  await shoot("images-table", "/console/images?view=table");
  await shoot("images-test", "/console/images?environment=test");
  await shoot("image", `/console/images/${images.finished}`);
  await shoot("image-failed", `/console/images/${images.failed}`);
  await shoot("keys", "/console/keys");
  await shoot("usage", "/console/usage");
  await shoot("credits", "/console/credits");
  await shoot("webhooks", "/console/webhooks");
  await shoot("webhook-endpoint", `/console/webhooks/${healthy.id}`);
  await shoot("webhook-failing", `/console/webhooks/${failing.id}`);
  await shoot("webhook-delivery", `/console/deliveries/${retried.id}`);
  await shoot("members", "/console/members");
  await shoot("activity", "/console/activity");
  await shoot("profile", "/console/profile");
}

/** What is shown only once, and what asks for confirmation. */
async function partnerWithSecrets(): Promise<void> {
  await shoot("key-new", "/console/keys", async () => {
    await page.type("#name", "Match-day worker");
    await page.click('main input[value="live"]');
    await submit(page, "main .row-form button[type=submit]");
  });
  await shoot("key-revoke", "/console/keys", () => page.click('[data-opens^="revoke-"]'));
  await shoot("webhook-recover", `/console/webhooks/${failing.id}`, () =>
    page.click('[data-opens="recover"]'),
  );
  await shoot("webhook-secret", `/console/webhooks/${failing.id}`, async () => {
    await page.click('[data-opens="rotate"]');
    await submit(page, "dialog[open] .button-primary");
  });
  await shoot("member-link", "/console/members", async () => {
    await page.type("#email", "zoe@rovers.example");
    await submit(page, "main .row-form button[type=submit]");
  });
}

async function operator(): Promise<void> {
  await signIn(page, baseUrl, "operator@cardpress.example");
  const account = `/console/operator/accounts/${accounts.rovers.id}`;
  await shoot("operator", "/console/operator");
  await shootMenu("operator-menu", "/console/operator");
  await shoot("operator-accounts", "/console/operator/accounts");
  await shoot("operator-account", account);
  await shoot("operator-suspend", account, () => page.click('[data-opens="suspend"]'));
  await shoot("operator-ledger", `${account}/ledger`);
  await shoot("operator-templates", "/console/operator/templates", async () => {
    await page.evaluate(() =>
      Promise.all([...document.images].map((img) => Object.assign(img, { loading: "eager" }).decode())),
    );
  });
  await shoot("operator-operators", "/console/operator/operators");
  await shoot("operator-audit", "/console/operator/audit");
  await shoot("operator-visit", account, async () => {
    await submit(page, '.page-head form[action$="/view"] button');
  });
}

/**
 * Opens a page, prepares it, and takes its four pictures without reloading, since some things are shown only
 * once.
 */
async function shoot(name: string, path: string, prepare?: (page: Page) => Promise<unknown>): Promise<void> {
  await page.setViewport({ width: DESKTOP_WIDTH, height: 860 });
  await page.goto(baseUrl + path, { waitUntil: "networkidle2" });
  await prepare?.(page);
  await inBothThemes(async (suffix) => {
    await take(name + suffix, DESKTOP_WIDTH, 860, MAX_HEIGHT.desktop);
    if (suffix === "" || DARK_PHONES.has(name))
      await take(`${name}-phone${suffix}`, PHONE_WIDTH, PHONE_HEIGHT, MAX_HEIGHT.phone);
  });
  console.log(name);
}

/** The open menu on a phone: it fills the window, however long the page behind it is. */
async function shootMenu(name: string, path: string): Promise<void> {
  await page.setViewport({ width: PHONE_WIDTH, height: PHONE_HEIGHT });
  await page.goto(baseUrl + path, { waitUntil: "networkidle2" });
  await page.click(".menu summary");
  await inBothThemes((suffix) => take(`${name}-phone${suffix}`, PHONE_WIDTH, PHONE_HEIGHT, PHONE_HEIGHT));
  console.log(name);
}

async function inBothThemes(work: (suffix: "" | "-dark") => Promise<void>): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: theme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    await work(theme === "dark" ? "-dark" : "");
  }
}

async function take(name: string, width: number, minHeight: number, maxHeight: number): Promise<void> {
  await page.setViewport({ width, height: minHeight });
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const height = Math.max(minHeight, Math.min(maxHeight, whole));
  await page.setViewport({ width, height });
  await page.evaluate(async () => {
    scrollTo(0, 0);
    await Promise.all([...document.images].filter((img) => !img.complete).map((img) => img.decode()));
  });
  await page.screenshot({ path: join(OUT, `${name}.webp`) as `${string}.webp`, quality: QUALITY });
}

async function fill(selector: string, text: string): Promise<void> {
  await page.$eval(
    selector,
    (input, value) => {
      (input as HTMLInputElement).value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    text,
  );
}
