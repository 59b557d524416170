import { afterAll, beforeAll, expect, test } from "bun:test";
import { imageRequest, testAccount } from "../harness.ts";
import { tamper } from "../postgres.ts";
import { expectError, expectStandardHeaders, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await testApi();
  key = (await testAccount(api)).testKey;
});
afterAll(() => api.close());

const UNKNOWN = [
  "/",
  "/v1",
  "/v1/",
  "/v2/images",
  "/v1/image",
  "/v1/Images",
  "/v1/images/img_x/cancel",
  "/v1//images",
  "/v1/usage/today",
  "/favicon.ico",
  "/%",
  "/%zz/%00",
  "/..%2f..%2fetc/passwd",
  "/cdn/",
  "/cdn/nothing.png",
  "/cdn/img_x-y.png",
  "/cdn/..%2f..%2fcardpress.sqlite",
  `/${"a".repeat(4000)}`,
];
for (const path of UNKNOWN) {
  for (const method of ["GET", "POST", "DELETE"]) {
    const isPicture = path.startsWith("/cdn/") && path.length > 5;
    test(`${method} ${path.slice(0, 40)} is ${isPicture && method !== "GET" ? 405 : 404} in the envelope`, async () => {
      const response = await send(api, path, { method, headers: { "X-API-Key": key } });
      await expectError(response, isPicture && method !== "GET" ? "METHOD_NOT_ALLOWED" : "NOT_FOUND");
    });
  }
}

const ROUTES: [string, string][] = [
  ["/v1/images", "GET, POST, HEAD"],
  ["/v1/images/img_x", "DELETE, GET, PATCH, HEAD"],
  ["/v1/players/x", "DELETE"],
  ["/v1/photos", "POST"],
  ["/v1/batches", "GET, POST, HEAD"],
  ["/v1/batches/bat_x", "DELETE, GET, HEAD"],
  ["/v1/batches/bat_x/pictures.zip", "GET, HEAD"],
  ["/v1/presets", "GET, HEAD"],
  ["/v1/usage", "GET, HEAD"],
  ["/cdn/img_x-y.png", "GET, HEAD"],
  ["/docs", "GET, HEAD"],
  ["/docs/errors", "GET, HEAD"],
  ["/docs/openapi.json", "GET, HEAD"],
  ["/live", "GET, HEAD"],
  ["/ready", "GET, HEAD"],
  ["/metrics", "GET, HEAD"],
];
for (const [path, allow] of ROUTES) {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
    if (allow.includes(method)) continue;
    test(`${method} ${path} is 405 and says what is allowed`, async () => {
      const response = await send(api, path, { method });
      await expectError(response, "METHOD_NOT_ALLOWED");
      expect(response.headers.get("allow")).toBe(allow);
    });
  }
}

for (const path of [
  "/v1/images",
  "/v1/images/img_x",
  "/v1/presets",
  "/v1/usage?period=current_month",
  "/v1/nothing",
  "/docs",
  "/live",
]) {
  test(`HEAD ${path} is GET without its body`, async () => {
    const headers = { "X-API-Key": key };
    const got = await send(api, path, { headers });
    const head = await send(api, path, { method: "HEAD", headers });
    expect(head.status).toBe(got.status);
    expect(head.headers.get("content-type")).toBe(got.headers.get("content-type"));
    expect(await head.text()).toBe("");
    expectStandardHeaders(head);
  });
}

test("a part of a path that is no UTF-8 names nothing", async () => {
  const headers = { "X-API-Key": key };
  for (const [method, path, code] of [
    ["GET", "/v1/images/%ff", "IMAGE_NOT_FOUND"],
    ["GET", "/v1/batches/%ff", "NOT_FOUND"],
    ["GET", "/cdn/%ff", "NOT_FOUND"],
    ["DELETE", "/v1/images/%ff", "IMAGE_NOT_FOUND"],
    ["DELETE", "/v1/players/%ff", "INVALID_REQUEST"],
  ] as const) {
    await expectError(await send(api, path, { method, headers }), code);
  }
  expect((await send(api, "/docs/presets/%ff", { headers })).status).toBe(404);
});

test("a path is read after a host name of any length", async () => {
  for (const host of ["x", "ab", "cardpress", "cards.example.org", "[::1]:80"]) {
    const response = await send(api, "/v1/usage?period=current_month", {
      headers: { "X-API-Key": key, Host: host },
    });
    expect({ host, status: response.status }).toEqual({ host, status: 200 });
  }
});

test("an answer is never stored by a cache, and never read as another type", async () => {
  for (const path of ["/v1/images", "/v1/usage", "/v1/nothing"]) {
    const { headers } = await send(api, path, { headers: { "X-API-Key": key } });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("request ids never repeat", async () => {
  const ids = await Promise.all(
    [...Array(50)].map(async () => (await send(api, "/v1/nothing")).headers.get("x-request-id")),
  );
  expect(new Set(ids).size).toBe(50);
});

test("a fault inside is 500 with an id, and reveals nothing about its cause", async () => {
  const broken = await testApi();
  try {
    const { testKey } = await testAccount(broken);
    await tamper(broken.folder.database, "DROP TABLE usage_days");
    const response = await send(broken, "/v1/usage?period=current_month", {
      headers: { "X-API-Key": testKey },
    });
    const error = await expectError(response, "INTERNAL_ERROR");
    expect(JSON.stringify(error)).not.toMatch(/usage_days|sqlite|select|\.ts/i);
    expect(
      broken.lines.some((line) => line.includes(error.request_id) && line.includes("usage_days")),
    ).toBeTrue();
  } finally {
    await broken.close();
  }
});

test("an overloaded service says when to come back, and reserves nothing", async () => {
  const full = await testApi();
  try {
    const { liveKey } = await testAccount(full);
    // One worker at the typical 1.5 s has two minutes of work with 80 images.
    for (let i = 0; i < 80; i++) {
      const response = await send(full, "/v1/images", create(liveKey, `fill-${i}`, full.photo));
      expect(response.status).toBe(202);
    }
    const response = await send(full, "/v1/images", create(liveKey, "one-too-many", full.photo));
    const error = await expectError(response, "SERVICE_OVERLOADED");
    const logged = full.lines
      .filter((line) => line.includes(error.request_id))
      .map((line) => JSON.parse(line));
    expect(logged).toMatchObject([{ event: "request", status: 503 }]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const usage = await send(full, "/v1/usage?period=current_month", { headers: { "X-API-Key": liveKey } });
    const { data } = (await usage.json()) as { data: object };
    expect(data).toMatchObject({ images_requested: 80, credits_remaining: 20 });
  } finally {
    await full.close();
  }
});

function create(apiKey: string, idempotencyKey: string, photo: string): RequestInit {
  return {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Idempotency-Key": idempotencyKey, "Content-Type": "application/json" },
    body: JSON.stringify(imageRequest({ player: { source_image_url: photo } })),
  };
}
