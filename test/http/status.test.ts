import { afterAll, beforeAll, expect, test } from "bun:test";
import { availability, statusBeat, statusReports } from "../../src/app/operations/status.ts";
import { StorageUnavailable } from "../../src/core/storage-unavailable.ts";
import { DAY_MS, MINUTE_MS } from "../../src/core/time.ts";
import { statusFeed } from "../../src/http/status/status-feed.ts";
import { statusPage } from "../../src/http/status/status-page.tsx";
import { daysSince } from "../../src/store/overviews/status.ts";
import { client, testOperator } from "../console/sessions.ts";
import {
  imageRequest,
  post,
  type TestServer,
  testAccount,
  testServer,
  testWorkspace,
  untilEnded,
} from "../harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ env: { CARDPRESS_STATUS_PAGE: "on" }, renders: false });
});
afterAll(() => server.close());

/** Reports are kept for ten seconds: this one is made anew. */
const fresh = (checks: Record<string, boolean> = {}, deps: TestServer["service"] = server.service) =>
  statusReports({ ...deps, checks: async () => checks })();

test("without the setting there is no page, no JSON and no feed, and nothing is recorded", async () => {
  const off = await testServer({ renders: false });
  for (const path of ["/status", "/status.json", "/status.atom"])
    expect([path, (await fetch(off.baseUrl + path)).status]).toEqual([path, 404]);
  await off.close();
});

test("it says what holds, with nothing of any account, and may be kept by a proxy for ten seconds", async () => {
  const { account, testKey, liveKey } = await testAccount(server.service, { name: "Secret Rovers" });
  const body = imageRequest({ player: { source_image_url: server.photos.url("astronaut.png") } });
  const { data } = await (await post(server.baseUrl, testKey, body)).json();
  await untilEnded(server.baseUrl, testKey, data.image_id);
  for (const path of ["/status", "/status.json", "/status.atom"]) {
    const answer = await fetch(server.baseUrl + path);
    expect([path, answer.status, answer.headers.get("cache-control")]).toEqual([
      path,
      200,
      "public, max-age=10",
    ]);
    const text = await answer.text();
    for (const secret of [account.id, account.name, data.image_id, liveKey, "Maya"])
      expect([path, text.includes(secret)]).toEqual([path, false]);
  }
  const report = await (await fetch(`${server.baseUrl}/status.json`)).json();
  expect(report.components.map(({ id }: { id: string }) => id)).toEqual([
    "creates",
    "cards",
    "webhooks",
    "pictures",
  ]);
  expect(report.availability.days).toHaveLength(90);
});

test("however many ask, the database is asked once in ten seconds", async () => {
  const workspace = await testWorkspace();
  let asked = 0;
  const checks = async () => {
    asked++;
    return {};
  };
  const reports = statusReports({ ...workspace, checks });
  await Promise.all(Array.from({ length: 50 }, reports));
  workspace.clock.advance(9_999);
  await reports();
  expect(asked).toBe(1);
  workspace.clock.advance(1);
  await reports();
  expect(asked).toBe(2);
  await workspace.close();
});

test("creates that are refused are an outage, also when the database is out of reach, and a long wait is slow", async () => {
  expect((await fresh({ disk: false })).status).toBe("outage");
  const broken = {
    ...server.service,
    store: {
      ...server.service.store,
      get read(): never {
        throw new StorageUnavailable(new Error("gone"));
      },
    },
  };
  expect(await fresh({}, broken)).toMatchObject({ status: "outage", components: [{ id: "creates" }] });
  const { liveKey } = await testAccount(server.service);
  const body = imageRequest({ player: { source_image_url: server.photos.url("astronaut.png") } });
  expect((await post(server.baseUrl, liveKey, body)).status).toBe(202);
  const { clock } = server.service;
  const later = { ...server.service, clock: { ...clock, now: () => clock.now() + 5 * MINUTE_MS } };
  const report = await fresh({ disk: true }, later);
  expect(report.components.find(({ id }) => id === "cards")?.status).toBe("degraded");
  expect(report.waitingSeconds).toBeGreaterThan(290);
});

test("each minute in which creates are taken is marked once, and none in which they are refused", async () => {
  const workspace = await testWorkspace();
  let ok = true;
  const beat = statusBeat({ ...workspace, checks: async () => ({ disk: ok }) });
  for (const takes of [true, true, false, true]) {
    ok = takes;
    await beat();
    await beat();
    workspace.clock.advance(MINUTE_MS);
  }
  const now = workspace.clock.now();
  const rows = await daysSince(workspace.store.read, "2026-01-01");
  expect(availability(rows, now).share).toBe(3 / 4);
  // Days on which nothing ran, and those before the first record, are not known; the rest of it was down.
  const { days, share } = availability(rows, now + 2 * DAY_MS);
  expect(days.slice(-4).map((day) => day.share)).toEqual([null, 3 / 720, null, null]);
  expect(share).toBeCloseTo(3 / 720);
  // Of a day ninety days ago nothing is kept.
  workspace.clock.advance(91 * DAY_MS);
  await statusBeat({ ...workspace, checks: async () => ({}) })();
  expect(await daysSince(workspace.store.read, "2026-01-01")).toHaveLength(1);
  await workspace.close();
});

test("a day on which a server ran and took nothing was down, and one on which none ran has no data", async () => {
  const workspace = await testWorkspace();
  await statusBeat({ ...workspace, checks: async () => ({ disk: true }) })();
  workspace.clock.advance(2 * DAY_MS);
  const refusing = statusBeat({ ...workspace, checks: async () => ({ disk: false }) });
  await refusing();
  await refusing();
  workspace.clock.advance(DAY_MS);
  const rows = await daysSince(workspace.store.read, "2026-01-01");
  const { days } = availability(rows, workspace.clock.now());
  expect(days.slice(-4).map((day) => day.share)).toEqual([1 / 720, null, 0, null]);
  await workspace.close();
});

test("two servers keep each other's minutes", async () => {
  const workspace = await testWorkspace();
  const beats = [1, 2].map(() => statusBeat({ ...workspace, checks: async () => ({}) }));
  for (let minute = 0; minute < 4; minute++) {
    await beats[minute % 2]?.();
    workspace.clock.advance(MINUTE_MS);
  }
  const rows = await daysSince(workspace.store.read, "2026-01-01");
  expect(availability(rows, workspace.clock.now())).toMatchObject({ share: 1 });
  await workspace.close();
});

test("an operator's notice is on page, JSON and feed until two weeks after it is resolved, escaped, and in the audit log", async () => {
  const { service, baseUrl } = server;
  const operator = await client(service, baseUrl, await testOperator(service, "op@status.example"));
  const path = "/console/operator/status";
  const message = "From 14:00.\r\n\r\nNothing & <nobody> is lost.";
  expect((await operator.post(path, { title: "Upgrade", message })).status).toBe(303);
  const [notice] = (await fresh()).notices;
  expect(notice).toMatchObject({ title: "Upgrade", resolvedAt: null });
  expect(await (await operator.get(path)).text()).toContain("Nothing &amp; &lt;nobody> is lost.");
  expect((await operator.post(path, { title: "", message })).status).toBe(422);
  expect((await fresh()).notices).toHaveLength(1);
  const page = statusPage(await fresh(), "");
  expect(page).toContain("<p>Nothing &amp; &lt;nobody> is lost.</p>");
  const feed = statusFeed(await fresh(), "https://cards.example.com");
  expect(feed).toContain("Nothing &#38; &#60;nobody&#62; is lost.");
  const resolving = `${path}/${notice?.id}/resolve`;
  expect((await operator.post(resolving)).status).toBe(303);
  expect((await operator.post(resolving)).status).toBe(404);
  expect((await fresh()).notices[0]?.resolvedAt).toBeGreaterThan(0);
  const { clock } = service;
  const later = { ...service, clock: { ...clock, now: () => clock.now() + 15 * DAY_MS } };
  expect((await fresh({}, later)).notices).toEqual([]);
  const log = await (await operator.get("/console/operator/audit")).text();
  for (const words of ["Status posted", "Status resolved"]) expect(log).toContain(words);
});
