import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { testBrowser } from "../console/browser.ts";
import { testFolder } from "../harness.ts";

const folder = testFolder();
/** A host of pages that gives the site a path of its own, and answers a folder with its index.html. */
let host: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  const script = join(import.meta.dir, "../../scripts/docs-site.ts");
  const child = Bun.spawn([process.execPath, script, "--out", folder.dir], { stderr: "pipe" });
  const problem = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(problem);
  host = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url);
      const path = join(folder.dir, pathname.replace(/^\/handbook/, ""));
      const found = statSync(path, { throwIfNoEntry: false });
      if (!pathname.startsWith("/handbook/") || !found) return new Response("", { status: 404 });
      if (!found.isDirectory()) return new Response(Bun.file(path));
      if (!pathname.endsWith("/")) return Response.redirect(`${pathname}/`, 301);
      return new Response(Bun.file(join(path, "index.html")));
    },
  });
});
afterAll(async () => {
  await host?.stop(true);
  await folder.remove();
});

test("the written documentation is whole under any path: no link leads out or nowhere", async () => {
  const seen = new Set([new URL("/handbook/docs/", host.url).href]);
  const faults: string[] = [];
  for (const address of seen) {
    const answer = await fetch(address);
    if (!answer.ok) faults.push(`${address} answers ${answer.status}`);
    if (!answer.headers.get("content-type")?.startsWith("text/html")) continue;
    const lead = (value: string | null) => {
      const url = value === null ? null : URL.parse(value, address);
      if (url?.origin !== host.url.origin) return;
      if (!url.pathname.startsWith("/handbook/")) faults.push(`${address} leads to ${value}`);
      else seen.add(url.origin + url.pathname);
    };
    const read = new HTMLRewriter().on("[href]", { element: (it) => lead(it.getAttribute("href")) });
    read.on("[src]", { element: (it) => lead(it.getAttribute("src")) });
    await read.transform(answer).text();
  }
  expect(faults).toEqual([]);
  expect(seen.size).toBeGreaterThan(60);
});

test("the written documentation offers nothing that only a service answers, and names the example's address", async () => {
  const reference = await fetch(new URL("/handbook/docs/reference/", host.url)).then((answer) =>
    answer.text(),
  );
  expect(reference).not.toMatch(/data-try|data-make-key|try-it\.js/);
  const quickstart = await fetch(new URL("/handbook/docs/quickstart/", host.url)).then((answer) =>
    answer.text(),
  );
  expect(quickstart).toContain("https://cards.example.com/v1/images");
  expect(quickstart).toContain('href="https://cards.example.com/console"');
});

test("the search of the written documentation leads to the place it found", async () => {
  const browser = await testBrowser();
  const { page } = await browser.open();
  await page.goto(new URL("/handbook/docs/errors/PARALLEL_FULL/", host.url).href);
  await page.keyboard.press("/");
  await page.keyboard.type("idempotency");
  await page.waitForSelector(".search-results a");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  expect(page.url()).toContain("/handbook/docs/idempotency/");
  expect(await page.$eval("h1", (heading) => heading.textContent)).toBe("Idempotency");
  await browser.close();
});
