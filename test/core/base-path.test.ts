import { expect, test } from "bun:test";
import {
  basePathOf,
  faultOfBasePath,
  insideBasePath,
  OWN_NAMES,
  pageUnderBasePath,
  underBasePath,
  withoutBasePath,
} from "../../src/core/base-path.ts";
import { CONSOLE_PATH, ROUTES } from "../../src/http/route-table.ts";

test("the base path is the path of the public address", () => {
  for (const [baseUrl, basePath] of [
    ["https://cards.example", ""],
    ["http://127.0.0.1:3000", ""],
    ["https://club.example/cards", "/cards"],
    ["https://club.example/a/b", "/a/b"],
  ] as const)
    expect([baseUrl, basePathOf(baseUrl)]).toEqual([baseUrl, basePath]);
});

test("every first name of the service's own paths is refused as a base path, and no other", () => {
  const names = [CONSOLE_PATH, ...Object.values(ROUTES).map(({ path }) => path)].map(
    (path) => path.split("/")[1] ?? "",
  );
  expect([...OWN_NAMES].toSorted()).toEqual([...new Set(names)].toSorted());
  for (const name of names) expect(faultOfBasePath(`/${name}/cards`)).toContain(`/${name}`);
  for (const path of ["/cards", "/club/cards", "/club/docs", "/~club/v1.2_x", "/docsx"])
    expect([path, faultOfBasePath(path)]).toEqual([path, undefined]);
});

test("what a cookie, a header or a page could read as more than a path is refused as a base path", () => {
  for (const path of ["/", "/a/", "/a//b", "//a", "/a;b", "/a%2fb", '/a"b', "/a b", "/a$&", "/a:b", "/a*"])
    expect([path, faultOfBasePath(path)]).not.toEqual([path, undefined]);
});

test("a path loses the base path once, and only where it is below it", () => {
  for (const [path, inside] of [
    ["/cards/", "/"],
    ["/cards/console", "/console"],
    ["/cards/cards/x", "/cards/x"],
    ["/cards//evil.example/x", "//evil.example/x"],
    ["/cards", undefined],
    ["/cardsx", undefined],
    ["/cardsx/console", undefined],
    ["/Cards/console", undefined],
    ["/cards%2fconsole", undefined],
    ["//cards/console", undefined],
    ["/console", undefined],
  ] as const)
    expect([path, withoutBasePath(path, "/cards")]).toEqual([path, inside]);
});

test("an address keeps its host and its query, however its path is written", () => {
  for (const [asked, inside] of [
    ["http://h/cards/console?next=%2Fcards%2Fx#y", "http://h/console?next=%2Fcards%2Fx#y"],
    ["http://h/cards//evil.example", "http://h//evil.example"],
    ["http://h/cards/a%2F..%2Fb", "http://h/a%2F..%2Fb"],
    ["http://h/cards/../console", "http://h/console"],
    ["http://h/cards/%2e%2e/console", "http://h/console"],
    ["http://h/cards/\\evil.example", "http://h//evil.example"],
    ["http://h/console", "http://h/console"],
  ] as const)
    expect([asked, insideBasePath(new URL(asked), "/cards").href]).toEqual([asked, inside]);
});

test("only a path of ours is put under the base path", () => {
  for (const [address, under] of [
    ["/", "/cards/"],
    ["/console?x=/y", "/cards/console?x=/y"],
    ["//evil.example/x", "//evil.example/x"],
    ["https://other.example/x", "https://other.example/x"],
    ["#main", "#main"],
    ["", ""],
  ] as const)
    expect([address, underBasePath(address, "/cards")]).toEqual([address, under]);
});

test("a page has its addresses under the base path, and nothing else of it is changed", () => {
  const page = (base: string, html = '<html lang="en">') =>
    `${html}<a href="${base}/docs" title="/docs">/docs</a><img src="${base}/a" srcset="${base}/a 1x, ${base}/b 2x"/>` +
    `<cardpress-card layers="${base}/cdn/a ${base}/cdn/b"></cardpress-card><input value="/console"/>` +
    `<a href="//other.example/x">a</a><a href="https://x.example/y">b</a><p>&quot; href=&quot;/x</p>`;
  expect(pageUnderBasePath(page(""), "")).toBe(page(""));
  expect(pageUnderBasePath(page(""), "/cards")).toBe(page("/cards", '<html data-base="/cards" lang="en">'));
});
