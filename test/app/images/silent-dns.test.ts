import { afterAll, beforeAll, expect, test } from "bun:test";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import { type RunningServer, startServer } from "../../../src/service/server.ts";
import { createNameLookup, type NameLookup } from "../../../src/sources/name-lookup.ts";
import {
  imageRequest,
  photoServer,
  post,
  silentLog,
  testAccount,
  testConfig,
  testFolder,
} from "../../harness.ts";
import { type DnsServer, dnsServer } from "../../sources/dns-server.ts";

const folder = testFolder();
const photos = photoServer();
/** Answers every query at first, later only those for the root. */
let isSilent = false;
/** However slow this machine is, no silent lookup ends before everybody else was answered. */
const answered = Promise.withResolvers<void>();
let dns: DnsServer;
let server: RunningServer;
beforeAll(async () => {
  dns = await dnsServer((name) => (isSilent && name !== "" ? undefined : { a: ["93.184.216.34"] }));
  const config = testConfig(folder.dir, { CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin });
  const lookUp = createNameLookup({ servers: [dns.address] });
  const resolve: NameLookup = (...asked) =>
    lookUp(...asked).finally(() => (isSilent ? answered.promise : undefined));
  const outbound = { resolve };
  server = await startServer(config, silentLog, { outbound });
});
afterAll(async () => {
  dns.close();
  await photos.stop();
  await folder.remove();
});

test("fifty photo and webhook hosts with silent DNS hold up nobody else, nor the stop", async () => {
  const { service, config } = server;
  const slow = await testAccount(service, { name: "Slow", tier: "starter", credits: 1 });
  const other = await testAccount(service, { name: "Other" });
  for (let n = 0; n < 10; n++) {
    const input = {
      accountId: slow.account.id,
      environment: "test",
      url: `https://hook${n}.example/`,
    } as const;
    const context = { ...service, outbound: { resolve: async () => ["93.184.216.34"] } };
    await createEndpoint(context, input);
  }
  while ((await fetch(`${config.baseUrl}/ready`)).status !== 200) await Bun.sleep(25);
  isSilent = true;

  const hanging = Array.from({ length: 40 }, async (_, n) => {
    const photo = imageRequest({ player: { source_image_url: `https://photo${n}.example/a.jpg` } });
    const response = await post(config.baseUrl, slow.liveKey, photo);
    return response.status;
  });
  await dns.got(4);
  const events = Array.from({ length: 10 }, () => post(config.baseUrl, slow.testKey, imageRequest()));
  expect((await Promise.all(events)).map(({ status }) => status)).toEqual(Array(10).fill(202));
  await dns.got(10, "A hook");

  // All of this is answered while the names are still being looked up: what waited for them would wait for
  // good.
  for (let n = 0; n < 5; n++) {
    const ready = await fetch(`${config.baseUrl}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: "ready" }]);
    const page = await (await fetch(`${config.baseUrl}/console/sign-in`)).text();
    const asset = /(?:src|href)="(\/console\/assets\/[^"]+)"/.exec(page)?.[1] ?? "";
    const script = await fetch(config.baseUrl + asset);
    expect([script.status, (await script.bytes()).length > 0]).toEqual([200, true]);
    const image = imageRequest({ player: { source_image_url: photos.url("yoga.jpg") } });
    expect((await post(config.baseUrl, other.liveKey, image)).status).toBe(202);
  }

  answered.resolve();
  await server.stop();
  // Begun lookups are refused because of the photo, waiting ones because of the load; no connection is cut.
  const statuses = await Promise.all(hanging);
  expect(statuses).toHaveLength(40);
  expect(new Set(statuses)).toEqual(new Set([422, 503]));
});
