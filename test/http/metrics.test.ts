import { afterAll, beforeAll, expect, test } from "bun:test";
import { get, imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";

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
