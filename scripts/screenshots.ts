import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { createAccount, grantCredits, suspendAccount } from "../src/app/manage-account.ts";
import { sendTest } from "../src/app/manage-deliveries.ts";
import { addMember } from "../src/app/manage-users.ts";
import { createEndpoint } from "../src/app/manage-webhooks.ts";
import type { Service } from "../src/deps.ts";
import { countUsage } from "../src/store/usage.ts";
import { testBrowser } from "../test/console/browser.ts";
import { signIn, testMember, testOperator } from "../test/console/sessions.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  testAccount,
  testServer,
  untilEnded,
} from "../test/harness.ts";

// Takes the pictures of every page of the console for the documentation: bun scripts/screenshots.ts
// A real service makes real cards from the test photos; only the past month's usage is made up.

const OUT = join(import.meta.dir, "../docs/screenshots");
const DAY_MS = 86_400_000;

const SQUAD = [
  { name: "Amina Yusuf", position: "GK", file: "coffee.png", theme: "rain" },
  { name: "Eileen Carter", position: "CB", file: "astronaut.png", theme: "galaxy" },
  { name: "Saoirse Ní Bhriain", position: "LW", file: "skier.jpg", theme: "ice" },
  { name: "Rafael Oliveira", position: "CAM", file: "yoga.jpg", theme: "fire" },
  { name: "Łukasz Wójcik", position: "RB", file: "unsplash_man.jpg", theme: "neon night" },
  { name: "Maya Okafor", position: "ST", file: "astronaut.png", theme: "stadium night" },
] as const;

const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
const hooks = `http://127.0.0.1:${receiver.port}`;
const server = await testServer({ env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: hooks } });
const { service, baseUrl } = server;
const browser = await testBrowser();

const rovers = await testAccount(service, { name: "Harbour Rovers", tier: "growth", credits: 5_000 });
await testMember(service, rovers.account.id, "ana@rovers.example");
await testMember(service, rovers.account.id, "tom@rovers.example", "developer");
await testOperator(service, "operator@cardpress.example");
await pastUsage(service, rovers);
const { endpointId, deliveryId } = await webhooks(service, rovers);
const ids = await squad(rovers);
const fresh = await createAccount(service, { name: "Northgate Academy", tier: "starter", credits: 200 });
await testMember(service, fresh.id, "new@northgate.example");
const suspended = await createAccount(service, { name: "Old Quay FC", tier: "scale", credits: 20_000 });
await suspendAccount(service, suspended.id, "Invoice 2031 unpaid for 60 days");
await grantCredits(service, { accountId: rovers.account.id, amount: 500, reason: "Cup final campaign" });

const { page } = await browser.open();
await mkdir(OUT, { recursive: true });
const invited = {
  accountId: fresh.id,
  email: "kim@northgate.example",
  role: "developer",
  vouched: true,
} as const;
const { setupUrl } = await addMember(service, invited);
await shoot({ "sign-in": "/console/sign-in", setup: new URL(setupUrl ?? "").pathname });
await signIn(page, baseUrl, "new@northgate.example");
await shoot({ "first-steps": "/console", "images-empty": "/console/images" });
await signIn(page, baseUrl, "ana@rovers.example");
await shoot({
  overview: "/console",
  images: "/console/images",
  "images-table": "/console/images?view=table",
  image: `/console/images/${ids.at(-1)}`,
  "image-failed": `/console/images/${ids[0]}`,
  keys: "/console/keys",
  usage: "/console/usage",
  webhooks: "/console/webhooks",
  "webhook-endpoint": `/console/webhooks/${endpointId}`,
  "webhook-delivery": `/console/deliveries/${deliveryId}`,
  members: "/console/members",
  profile: "/console/profile",
});
await shoot({ playground: "/console/playground" }, async () => {
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome img");
  await page.$eval("#outcome img", (img) => (img as HTMLImageElement).decode());
});
await signIn(page, baseUrl, "operator@cardpress.example");
await shoot({
  operator: "/console/operator",
  "operator-accounts": "/console/operator/accounts",
  "operator-account": `/console/operator/accounts/${rovers.account.id}`,
  "operator-templates": "/console/operator/templates",
  "operator-operators": "/console/operator/operators",
  "operator-audit": "/console/operator/audit",
});
await Promise.all([server.close(), browser.close(), receiver.stop(true)]);

async function shoot(pages: Record<string, string>, prepare?: (page: Page) => Promise<void>): Promise<void> {
  for (const [name, path] of Object.entries(pages)) {
    for (const { suffix, theme, width } of [
      { suffix: "", theme: "light", width: 1280 },
      { suffix: "-dark", theme: "dark", width: 1280 },
      { suffix: "-phone", theme: "light", width: 360 },
      { suffix: "-phone-dark", theme: "dark", width: 360 },
    ]) {
      await page.setViewport({ width, height: width < 500 ? 780 : 860 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.goto(baseUrl + path, { waitUntil: "networkidle2" });
      await prepare?.(page);
      // One picture a page at the desk; a phone's screen is as long as its first look.
      const height = Math.min(1500, await page.evaluate(() => document.documentElement.scrollHeight));
      const clip = { x: 0, y: 0, width, height };
      await page.screenshot({
        path: join(OUT, `${name}${suffix}.webp`) as `${string}.webp`,
        quality: 78,
        clip,
      });
    }
    console.log(name);
  }
}

/** Live cards of the squad, and one test image; returns their ids, oldest first. */
async function squad({ liveKey, testKey }: TestAccount): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, { name, position, file, theme }] of SQUAD.entries()) {
    const request = imageRequest({
      player: {
        name,
        position,
        number: i + 4,
        skill_level: 78 + 3 * i,
        external_id: `rovers-${i + 4}`,
        source_image_url: server.photos.url(file),
      },
      style: { background_theme: theme },
      branding: { primary_color: "#0B3D91", secondary_color: "#F2C14E" },
    });
    const accepted = (await (await post(baseUrl, liveKey, request)).json()) as { data: { image_id: string } };
    await untilEnded(baseUrl, liveKey, accepted.data.image_id);
    ids.push(accepted.data.image_id);
  }
  await post(baseUrl, testKey, imageRequest({ player: { external_id: "test_fail_no_player" } }));
  return ids;
}

async function pastUsage({ store, clock }: Service, { account }: TestAccount): Promise<void> {
  for (let day = 1; day < 45; day++) {
    const requested = Math.round(70 + 45 * Math.sin(day / 4) + ((day * 37) % 17));
    const failed = day % 7 === 0 ? Math.round(requested / 11) : day % 3 === 0 ? 2 : 0;
    const counts = { requested, failed, completed: requested - failed, creditsUsed: requested - failed };
    const scope = { accountId: account.id, environment: "live" } as const;
    await store.write((tx) => countUsage(tx, scope, clock.now() - day * DAY_MS, counts));
  }
}

async function webhooks(parts: Service, { account }: TestAccount) {
  const { endpoint } = await createEndpoint(parts, {
    accountId: account.id,
    environment: "live",
    url: `${hooks}/cardpress`,
  });
  const delivery = await sendTest(parts, { endpointId: endpoint.id });
  return { endpointId: endpoint.id, deliveryId: delivery.id };
}
