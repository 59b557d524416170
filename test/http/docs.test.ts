import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { consoleRoutes } from "../../src/console/routes.ts";
import { changelogPage } from "../../src/http/docs/changelog.tsx";
import { GUIDES as ALL_GUIDES } from "../../src/http/docs/guides.ts";
import { docsSite } from "../../src/http/docs/site.tsx";
import { ERROR_STATUS } from "../../src/http/http-refusal.ts";
import { expectStandardHeaders, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const GUIDES = [...ALL_GUIDES.map(({ path }) => path), "/docs/errors", "/docs/reference", "/docs/changelog"];
test("the changelog lists what is unreleased only where there is something", () => {
  const headings = (unreleased: string) =>
    changelogPage(`# Changelog\n\n## Unreleased\n\n${unreleased}## 1.0.0 - 2026-12-01\n\n- First.\n`)
      .headings ?? [];
  expect(headings("").map(({ text }) => text)).toEqual(["1.0.0 - 2026-12-01"]);
  expect(headings("- Next.\n\n").map(({ text }) => text)).toEqual(["Unreleased", "1.0.0 - 2026-12-01"]);
});

const CODES = [...Object.keys(ERROR_STATUS), "IMAGE_PROCESSING_FAILED"].map((code) => `/docs/errors/${code}`);
const PAGES = [...GUIDES, ...CODES];

for (const path of PAGES) {
  test(`${path} is a whole page under a strict policy`, async () => {
    const response = await send(api, path);
    expect(response.status).toBe(200);
    expectStandardHeaders(response);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    const page = await response.text();
    expect(page.match(/<h1/g)).toHaveLength(1);
    expect(page).not.toMatch(/\{\{|undefined|\[object Object\]|NaN/);
    expect(page).not.toMatch(/ style=|<style| on\w+=|<script>|javascript:/);
  });
}

test("every page is there as Markdown for programs, with the reference in every language", async () => {
  for (const path of PAGES) {
    const response = await send(api, `${path === "/docs" ? "/docs/overview" : path}.md`);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await response.text();
    expect(text).toMatch(/^#+ /m);
    expect(text).not.toMatch(/undefined|\[object Object\]|NaN/);
  }
  const reference = await (await send(api, "/docs/reference.md")).text();
  for (const part of ["-X PATCH ", "cards.images.create(", "cards.create_image(", "$cards->createImage("])
    expect(reference).toContain(part);
  const whole = await (await send(api, "/docs/llms-full.txt")).text();
  for (const part of [
    "PATCH /v1/webhook_endpoints/",
    "photo_unreachable",
    "source_image_url",
    "## INVALID_REQUEST",
  ])
    expect(whole).toContain(part);
});

test("every link and anchor of every page leads somewhere, and nothing is loaded from elsewhere", async () => {
  const texts = new Map<string, string>();
  const load = async (path: string) => {
    if (!texts.has(path)) {
      const response = await send(api, path);
      texts.set(path, response.status === 200 ? await response.text() : "");
    }
    return texts.get(path) ?? "";
  };
  const broken: string[] = [];
  let checked = 0;
  for (const page of PAGES) {
    const text = await load(page);
    for (const [, attribute, target = ""] of text.matchAll(/ (href|src)="([^"]*)"/g)) {
      checked += 1;
      if (/^https?:/.test(target)) {
        if (attribute === "src") broken.push(`${page} loads ${target}`);
        continue;
      }
      const [path = "", anchor] = target.split("#");
      if (consoleRoutes.some((route) => route.path === path)) continue;
      const found = await load(path || page);
      if (!found) broken.push(`${page} -> ${target}`);
      else if (anchor && !found.includes(`id="${anchor}"`)) broken.push(`${page} -> ${target}`);
    }
  }
  expect(broken).toEqual([]);
  expect(checked).toBeGreaterThan(500);
});

for (const path of [
  "/docs/errors/NOPE",
  "/docs/errors/invalid_request",
  "/docs/nothing",
  "/docs/assets/x.css",
  "/docs/errors/<script>alert(1)<%2Fscript>",
]) {
  test(`${path} is a 404 page that helps`, async () => {
    const response = await send(api, path);
    expect(response.status).toBe(404);
    expectStandardHeaders(response);
    const page = await response.text();
    expect(page).toContain('href="/docs/errors"');
    expect(page).not.toContain("<script>alert");
  });
}

test("a page a reader has is answered with 304, and assets never change under their address", async () => {
  for (const path of ["/docs", "/docs/openapi.json", "/docs/assets/docs.css", "/assets/inter.woff2"]) {
    const first = await send(api, path);
    await first.bytes();
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await send(api, path, { headers: { "If-None-Match": `"other", W/${etag}` } });
    expect({ path, status: again.status, body: await again.text() }).toEqual({ path, status: 304, body: "" });
    expect(again.headers.get("etag")).toBe(etag);
  }
  const page = await (await send(api, "/docs")).text();
  expect(page).toMatch(/docs\.css\?v=[0-9a-f]{16}/);
});

test("an address of the service with markup in it does no harm", () => {
  const site = docsSite({
    baseUrl: "https://example.org/%22%3E<b>",
    cdnBaseUrl: "https://example.org/cdn",
    presets: ["club_card"],
  });
  expect(String(site.find("/docs/quickstart")?.body)).not.toContain("<b>");
});

test("the search's index has every page, and all it has leads to a place that is there", async () => {
  const index: { path: string; page: string; heading: string; text: string }[] = await (
    await send(api, "/docs/search.json")
  ).json();
  const pages = new Map<string, string>();
  for (const path of new Set(index.map((entry) => entry.path.split("#")[0] ?? "")))
    pages.set(path, await (await send(api, path)).text());
  expect([...pages.keys()].sort()).toEqual([...PAGES].sort());
  const broken = index.filter(({ path }) => {
    const [page = "", anchor] = path.split("#");
    return anchor !== undefined && !pages.get(page)?.includes(`id="${anchor}"`);
  });
  expect(broken).toEqual([]);
  expect(index.filter(({ text }) => /[<>]\w+ |&\w+;|\{\{/.test(text)).map(({ path }) => path)).toEqual([]);
});

test("programs that read get the documentation as text, and every address named there is one", async () => {
  const index = await send(api, "/llms.txt");
  expect(index.headers.get("content-type")).toStartWith("text/plain");
  const text = await index.text();
  expect(text).toStartWith("# cardpress\n");
  const addresses = [...text.matchAll(/\]\((https:\/\/cards\.example\.org[^)]*)\)/g)].map(
    ([, to = ""]) => to,
  );
  expect(addresses.length).toBeGreaterThan(GUIDES.length - 2);
  for (const address of addresses) {
    const found = await send(api, new URL(address).pathname);
    expect({ address, status: found.status }).toEqual({ address, status: 200 });
    expect(await found.text()).not.toContain("{{");
  }
  const whole = await (await send(api, "/docs/llms-full.txt")).text();
  for (const words of ["POST /v1/images", "INSUFFICIENT_CREDITS", "# Webhooks", "hmac.new("])
    expect(whole).toContain(words);
});

test("a text of ours never brings markup of a request into a page", async () => {
  const response = await send(api, "/docs/errors/%3Cimg%20src=x%3E?q=<b>");
  expect(await response.text()).not.toMatch(/<img src=x|<b>/);
});

test("the guides name every script a font comes with, and promise nothing of a photo that is not so", async () => {
  const guide = (name: string) =>
    Bun.file(join(import.meta.dir, `../../src/http/docs/guides/${name}.md`)).text();
  const names: Record<string, string> = { jp: "Japanese", kr: "Korean", sc: "Chinese", tc: "Chinese" };
  const options = await guide("card-options");
  const fonts = [...new Bun.Glob("noto-sans-*.ts").scanSync(join(import.meta.dir, "../../src/render/fonts"))];
  const scripts = fonts.map((file) => file.slice("noto-sans-".length, -".ts".length));
  expect(scripts.length).toBeGreaterThan(15);
  const missing = scripts.filter((name) => !new RegExp(names[name] ?? name, "i").test(options));
  expect(missing).toEqual([]);
  expect(options).not.toContain("any script");
  expect(await guide("photos")).not.toMatch(/are removed|need not|straighten/);
});

test("the guide for several machines says what a failover may lose, and what loses nothing", async () => {
  const guide = await (await send(api, "/docs/operating/several-machines")).text();
  expect(guide).toContain("Failover");
  expect(guide).toContain("synchronous_standby_names");
  expect(guide).toMatch(/With asynchronous replication a failover may lose/);
});
