import { afterAll, beforeAll, expect, test } from "bun:test";
import { METRICS } from "../../src/core/metrics.ts";
import { listenForMetrics } from "../../src/http/metrics-listener.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { send, testApi } from "./api.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

test("/metrics counts requests by route, and the work that waits", async () => {
  const { testKey } = await testAccount(server.service);
  const { data } = (await (await post(server.baseUrl, testKey, imageRequest())).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, testKey, data.image_id);
  await get(server.baseUrl, testKey, "/v1/images/img_unknown");
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  expect(text).toContain('cardpress_http_requests_total{method="POST",route="/v1/images",status="202"} 1');
  expect(text).toContain('cardpress_http_requests_total{method="GET",route="/v1/images/:id",status="404"} 1');
  expect(text).toContain('cardpress_render_workers{state="wanted"} 1');
  expect(text).not.toContain(data.image_id);
});

/** There was no backup, and the disk is measured while the service runs. */
const NOT_YET = ["cardpress_backup_time_seconds", "cardpress_folder_bytes"];

test("every number of the list is exported, with its help and its type", async () => {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  for (const [name, { type }] of Object.entries(METRICS)) {
    expect(text).toContain(`# TYPE ${name} ${type}\n`);
    // What was counted never, or was never made, has no number yet.
    if (type === "gauge" && !NOT_YET.includes(name))
      expect(text).toMatch(new RegExp(`^${name}(\\{.*\\})? [\\d.e+]+$`, "m"));
  }
  expect(text).toContain('cardpress_ready{check="database"} 1');
  expect(text).toMatch(/^cardpress_wal_bytes [1-9]/m);
  expect(text).toMatch(/^cardpress_render_worker_memory_bytes [1-9]\d{7}/m);
});

test.skipIf(Bun.which("promtool") === null)("Prometheus' own checker finds nothing to say", async () => {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  const { stdout, stderr } = Bun.spawnSync(["promtool", "check", "metrics"], { stdin: Buffer.from(text) });
  expect(`${stdout}${stderr}`).toBe("");
});

test("a render is counted by its stages, its end and the wait before it", async () => {
  const { liveKey } = await testAccount(server.service);
  const body = imageRequest({ player: { source_image_url: server.photos.url("yoga.jpg") } });
  const { data } = (await (await post(server.baseUrl, liveKey, body)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, liveKey, data.image_id);
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  for (const stage of ["decode", "cut_out", "compose", "capture", "store"])
    expect(text).toContain(`cardpress_stage_seconds_count{stage="${stage}"} 1`);
  expect(text).toContain('cardpress_render_seconds_count{end="completed"} 1');
  expect(text).toContain("cardpress_image_wait_seconds_count 1");
  expect(text).toContain('cardpress_source_fetch_seconds_count{end="fetched"} 1');
  expect(text).toContain("cardpress_credits_used_total 1");
  expect(text).toContain('cardpress_render_worker_starts_total{end="warm"} 1');
});

const status = async (headers: Record<string, string>) =>
  (await fetch(`${server.baseUrl}/metrics`, { headers })).status;

for (const header of [
  "X-Forwarded-For",
  "X-Forwarded-Proto",
  "Forwarded",
  "Via",
  "X-Real-IP",
  "CF-Connecting-IP",
])
  test(`/metrics does not answer what a proxy passes on with ${header}`, async () => {
    expect(await status({ [header]: "203.0.113.9" })).toBe(404);
  });

test("/metrics does not answer a page that lets its own name point at this machine", async () => {
  expect(await status({ Host: "evil.example" })).toBe(404);
  expect(await status({ Host: "localhost:3000" })).toBe(200);
});

const TOKEN = "a-token-of-thirty-characters--";

test("with a token /metrics answers whoever shows it, from anywhere, and nobody else", async () => {
  const api = await testApi({ env: { CARDPRESS_METRICS_TOKEN: TOKEN } });
  const ask = (headers: Record<string, string>) =>
    send(api, "/metrics", { headers }).then(async (answer) => [
      answer.status,
      (await answer.text()).length > 1000,
    ]);
  expect(await ask({})).toEqual([404, false]);
  expect(await ask({ Authorization: `Bearer ${TOKEN.slice(1)}` })).toEqual([404, false]);
  expect(await ask({ Authorization: `Bearer ${TOKEN}`, "X-Forwarded-For": "203.0.113.9" })).toEqual([
    200,
    true,
  ]);
  await api.close();
});

test("the second address answers /metrics, /ready and /live, and the token holds there too", async () => {
  const api = await testApi();
  const open = listenForMetrics(api, { host: "127.0.0.1", port: 0 });
  const guarded = listenForMetrics(
    { ...api, config: { ...api.config, metricsToken: TOKEN } },
    { host: "127.0.0.1", port: 0 },
  );
  const status = async (port: number, path: string, headers: Record<string, string> = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
  for (const path of ["/metrics", "/ready", "/live"]) expect(await status(open.port, path)).toBe(200);
  expect(await status(open.port, "/v1/images")).toBe(404);
  expect(await status(open.port, "/metrics", { Host: "evil.example" })).toBe(404);
  expect(await status(guarded.port, "/metrics")).toBe(404);
  expect(await status(guarded.port, "/metrics", { Authorization: `Bearer ${TOKEN}` })).toBe(200);
  expect(await status(guarded.port, "/ready")).toBe(200);
  await Promise.all([open.stop(), guarded.stop(), api.close()]);
});
