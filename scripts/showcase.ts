import { eq } from "drizzle-orm";
import { createAccount, createKey, grantCredits, suspendAccount } from "../src/app/people/manage-account.ts";
import { addMember } from "../src/app/people/manage-users.ts";
import { type Delivery, listDeliveries, sendTest } from "../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint, type Endpoint } from "../src/app/webhooks/manage-webhooks.ts";
import type { Clock } from "../src/core/ports.ts";
import { freePort } from "../src/service/free-port.ts";
import type { Service } from "../src/service/start.ts";
import { countUsage } from "../src/store/credits/usage.ts";
import type { Account } from "../src/store/people/accounts.ts";
import { testMember, testOperator } from "../test/console/sessions.ts";
import { imageRequest, post, type TestServer, testServer, untilEnded } from "../test/harness.ts";

// A service with something to show: real cards from the test photos, webhooks that succeed and fail, members
// with both roles. Only the usage of past days is invented, and local addresses are displayed as a partner's
// would be.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Displayed in place of the photo server's address. */
const PHOTOS = "https://media.rovers.example/players";

const SQUAD = [
  { name: "Amina Yusuf", position: "GK", file: "coffee.png", theme: "rain" },
  { name: "Eileen Carter", position: "CB", file: "astronaut.png", theme: "galaxy" },
  { name: "Tariq Haddad", position: "LB", file: "cyclists.jpg", theme: "city at dusk" },
  { name: "Saoirse Ní Bhriain", position: "LW", file: "skier.jpg", theme: "ice" },
  { name: "Rafael Oliveira", position: "CAM", file: "yoga.jpg", theme: "fire" },
  { name: "Noor van Dijk", position: "CDM", file: "solvay.jpg", theme: "stadium" },
  { name: "Łukasz Wójcik", position: "RB", file: "unsplash_man.jpg", theme: "neon night" },
  { name: "Maya Okafor", position: "ST", file: "astronaut.png", theme: "stadium night" },
] as const;

export interface Showcase {
  server: TestServer;
  /** A busy account, a new one, and a suspended one. */
  accounts: { rovers: Account; academy: Account; quay: Account };
  images: { failed: string; finished: string };
  healthy: Endpoint;
  failing: Endpoint;
  /** A delivery that was attempted several times. */
  retried: Delivery;
  photoUrl: string;
  /** Displays local addresses as a partner's; cards made before keep working. */
  disguise(): Promise<void>;
  close(): Promise<void>;
}

/** A partner's webhook receiver with one working and one failing path. */
function startReceiver() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/ok"
        ? new Response(null, { status: 204 })
        : new Response('{"error":"upstream connect error: connection refused"}', { status: 503 }),
  });
}

async function startServer(hooks: string, clock: Clock): Promise<TestServer> {
  const port = await freePort("127.0.0.1");
  return testServer({
    clock,
    env: {
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: hooks,
      CARDPRESS_PORT: String(port),
      // A host name, because browsers create no passkeys for bare IP addresses.
      CARDPRESS_BASE_URL: `http://localhost:${port}`,
      CARDPRESS_CDN_BASE_URL: "https://cards.cardpress.example",
    },
  });
}

export async function openShowcase(): Promise<Showcase> {
  const receiver = startReceiver();
  const hooks = `http://127.0.0.1:${receiver.port}`;
  let offsetMs = -3 * DAY_MS;
  const server = await startServer(hooks, {
    now: () => Date.now() + offsetMs,
    elapsed: () => performance.now() + offsetMs,
  });
  const { service } = server;
  const later = (ms: number) => {
    offsetMs = Math.min(0, offsetMs + ms);
  };

  const rovers = await createAccount(service, { name: "Harbour Rovers", tier: "growth", credits: 5_000 });
  const ana = await testMember(service, rovers.id, "ana@rovers.example");
  await testMember(service, rovers.id, "tom@rovers.example", "developer");
  await addMember(service, {
    accountId: rovers.id,
    email: "kit@rovers.example",
    role: "developer",
    vouched: true,
  });
  await testOperator(service, "operator@cardpress.example");
  await pastUsage(service, rovers);
  const key = (environment: "live" | "test", name: string) =>
    createKey(service, { accountId: rovers.id, environment, name, by: ana.id });
  const live = await key("live", "Production server");
  const test = await key("test", "Staging server");
  await key("test", "Tom's laptop");
  later(HOUR_MS);
  const endpoint = async (environment: "live" | "test", path: string) =>
    (await createEndpoint(service, { accountId: rovers.id, environment, url: hooks + path })).endpoint;
  const healthy = await endpoint("live", "/ok");
  const failing = await endpoint("test", "/down");

  const images: string[] = [];
  for (const [i, player] of SQUAD.entries()) {
    images.push(await make(server, live.key, player, i));
    later(i < SQUAD.length - 1 ? 9 * HOUR_MS : 0);
  }
  for (const id of ["academy-21", "test_fail_no_player", "academy-23"])
    await post(server.baseUrl, test.key, imageRequest({ player: { external_id: id, name: "Robin Vale" } }));
  await sendTest(service, { endpointId: healthy.id });
  const retried = await manyAttempts(service, failing, later);
  offsetMs = 0;

  const academy = await createAccount(service, { name: "Northgate Academy", tier: "starter", credits: 200 });
  await testMember(service, academy.id, "new@northgate.example");
  const quay = await createAccount(service, { name: "Old Quay FC", tier: "scale", credits: 20_000 });
  await testMember(service, quay.id, "lee@quay.example");
  await suspendAccount(service, quay.id, "Invoice 2031 is unpaid for 60 days");
  await grantCredits(service, { accountId: rovers.id, amount: 500, reason: "Cup final campaign" });
  return {
    server,
    accounts: { rovers, academy, quay },
    images: { failed: images[0] ?? "", finished: images.at(-1) ?? "" },
    healthy,
    failing,
    retried,
    photoUrl: server.photos.url("unsplash_man.jpg"),
    disguise: () => disguise(server, { healthy, failing }),
    close: async () => {
      await Promise.all([server.close(), receiver.stop(true)]);
    },
  };
}

type Player = (typeof SQUAD)[number];

async function make(server: TestServer, key: string, player: Player, i: number): Promise<string> {
  const request = imageRequest({
    player: {
      name: player.name,
      position: player.position,
      number: i + 2,
      skill_level: 79 + 2 * i,
      external_id: `rovers-${i + 2}`,
      source_image_url: server.photos.url(player.file),
    },
    style: { background_theme: player.theme },
    branding: { primary_color: "#0B3D91", secondary_color: "#F2C14E" },
    metadata: { season: "2026-27" },
  });
  const headers = { "Idempotency-Key": `season-2026-rovers-${i + 2}` };
  const accepted = (await (await post(server.baseUrl, key, request, headers)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, key, accepted.data.image_id);
  return accepted.data.image_id;
}

/** Advances time until a delivery to a failing endpoint has been attempted four times. */
async function manyAttempts(
  service: Service,
  failing: Endpoint,
  later: (ms: number) => void,
): Promise<Delivery> {
  for (;;) {
    const { accountId } = failing;
    const { items } = await listDeliveries(service, { accountId, endpointId: failing.id, limit: 10 });
    const [first] = items.toReversed();
    if (first && first.attempts >= 4) return first;
    if (first?.state === "pending" && (first.nextAttemptAt ?? 0) > service.clock.now())
      later((first.nextAttemptAt ?? 0) - service.clock.now() + 1);
    service.wakeDeliveries();
    await Bun.sleep(50);
  }
}

async function pastUsage({ store }: Service, account: Account): Promise<void> {
  const today = Date.now();
  for (let day = 1; day < 60; day++) {
    const requested = Math.round(70 + 45 * Math.sin(day / 4) + ((day * 37) % 17));
    const failed = day % 7 === 0 ? Math.round(requested / 11) : day % 3 === 0 ? 2 : 0;
    const counts = { requested, failed, completed: requested - failed, creditsUsed: requested - failed };
    const scope = { accountId: account.id, environment: "live", keyId: null } as const;
    await store.write("showcase", (tx) => countUsage(tx, scope, today - day * DAY_MS, counts));
  }
}

async function disguise(
  { service, photos }: TestServer,
  endpoints: { healthy: Endpoint; failing: Endpoint },
): Promise<void> {
  await service.store.write("showcase", async ({ db, t }) => {
    const name = (id: string, url: string) =>
      db.update(t.webhookEndpoints).set({ url }).where(eq(t.webhookEndpoints.id, id));
    await name(endpoints.healthy.id, "https://api.rovers.example/hooks/cardpress");
    await name(endpoints.failing.id, "https://staging.rovers.example/hooks/cardpress");
    for (const image of await db.select().from(t.images)) {
      const request = JSON.parse(JSON.stringify(image.request).replaceAll(photos.origin, PHOTOS));
      await db.update(t.images).set({ request }).where(eq(t.images.id, image.id));
    }
  });
}
