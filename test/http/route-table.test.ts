import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { FILE_IDLE_SECONDS, IDLE_SECONDS, idleSecondsOf } from "../../src/http/idle-time.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { ROUTES, type Route } from "../../src/http/route-table.ts";
import { expectError, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

test("every partner route is published as an operation of its name, and asks for a key", async () => {
  const { paths } = openApiDocument(api.config);
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    if (route.access !== "partner") continue;
    expect(paths[route.path][route.method.toLowerCase()].operationId).toBe(name);
    const response = await send(api, route.path.replace(/\{\w+\}/, "nothing"), { method: route.method });
    await expectError(response, "INVALID_API_KEY");
  }
});

test("requests are counted under their route's label, whatever it is given, and what is no route as other", async () => {
  const asked = [
    "/v1/images/img_x",
    "/v1/images/img_x/more",
    "/v1/usage/",
    "/docs/errors/NOPE",
    "/cdn/x.png",
    "/x",
  ];
  for (const path of asked) await send(api, path, { method: "OPTIONS" });
  const lines = await (await send(api, "/metrics")).text();
  const labels = [...lines.matchAll(/requests_total\{method="OPTIONS",route="(.*?)"/g)].map(
    ([, label]) => label,
  );
  expect(new Set(labels)).toEqual(new Set(["/v1/images/:id", "other", "/v1/usage", "/docs", "/cdn"]));
});

test("addresses of the API are written once, and taken from there by whatever answers, samples or calls", async () => {
  const src = join(import.meta.dir, "../../src");
  const written: string[] = [];
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(src)) {
    // A published sample is read and run on its own.
    if (file === "core/api-paths.ts" || file.startsWith("http/docs/samples/")) continue;
    const code = (await Bun.file(join(src, file)).text()).replace(/^\s*(\/?\*|\/\/).*$/gm, "");
    if (/["'`}]\/v1\//.test(code)) written.push(file);
  }
  expect(written).toEqual([]);
});

test("a file's connection may be silent for minutes from the start of its request, any other for less", () => {
  const { paths } = openApiDocument(api.config);
  const files: string[] = [];
  for (const { path, method, access } of Object.values<Route>(ROUTES)) {
    if (access !== "partner") continue;
    const types = Object.keys(paths[path][method.toLowerCase()].responses["200"]?.content ?? {});
    const isFile = types.some((type) => /^(application\/(zip|pdf)|text\/csv)$/.test(type));
    if (isFile) files.push(path);
    const seconds = idleSecondsOf(`http://127.0.0.1${path}?sheet=a4&x=/v1/images`);
    expect([path, seconds]).toEqual([path, isFile ? FILE_IDLE_SECONDS : IDLE_SECONDS]);
  }
  expect(files).toHaveLength(6);
});
