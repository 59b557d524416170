/**
 * Writes the documentation as files, for any web server or pages host and under any address: its links are
 * relative. What needs a running service, such as trying a call, is left out.
 *
 *     bun run docs                   into dist/docs
 *     bun run docs --service https://cards.example.com --out DIR  with a service's address in the samples
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { parseArgs } from "node:util";
import { readConfig } from "../src/config.ts";
import { docsHandler } from "../src/http/docs.ts";
import { KIT } from "../src/web/kit.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({
  options: {
    service: { type: "string", default: "https://cards.example.com" },
    out: { type: "string", default: join(import.meta.dir, "../dist/docs") },
  },
});
const config = readConfig({ CARDPRESS_BASE_URL: options.service });
const docs = docsHandler(config, { listed: async () => config.presets });

/** What no page leads to, and programs ask for. */
const FOR_PROGRAMS = ["/llms.txt", "/docs/llms-full.txt", "/docs/search.json", "/docs/clients/packages.json"];
/** Parts of a page that only a running service can answer. */
const NEEDS_SERVICE = ".key-bar, .try, .console-link, script[src*='try-it.js']";
/** The attributes of pages that hold one address. */
const ADDRESSES = ["href", "src", "poster", "back", "layers", "foil-mask"];

/** What the service answers a reader of its documentation; undefined for the rest of the service. */
async function ask(path: string): Promise<Response | undefined> {
  const url = new URL(path, "http://docs.invalid");
  const request = new Request(url);
  const file = KIT.answer(request, url, {});
  if (file || !/^\/(docs|llms\.txt)(\/|$)/.test(url.pathname)) return file;
  const rate = { limit: 0, remaining: 0, resetAtMs: 0, exceeded: false };
  const exchange = { request, url, route: "/docs", requestId: "", clientAddress: "", basePath: "", rate };
  return docs(exchange);
}

/** Where a file is kept. Servers answer the address of a folder with its index.html. */
function fileOf(path: string, type: string): string {
  return type.startsWith("text/html") ? `${path}/index.html` : path;
}

/** A page's address with the slash that servers would otherwise add by a redirect. */
function inFolder(address: string): string {
  return address.replace(/^([^?#]*\/[^./?#]+)(?=$|[?#])/, "$1/");
}

/** A page with links from its own folder, which leads to all that belongs to the documentation. */
function withRelativeLinks(page: string, path: string, leadTo: (address: string) => boolean): string {
  const root = posix.relative(path, "/");
  return new HTMLRewriter()
    .on(NEEDS_SERVICE, { element: (element) => void element.remove() })
    .on("html", { element: (element) => void element.setAttribute("data-base", root) })
    .on("*", {
      element: (element) => {
        for (const name of ADDRESSES) {
          const address = element.getAttribute(name);
          if (!address?.startsWith("/")) continue;
          element.setAttribute(name, leadTo(address) ? root + inFolder(address) : config.baseUrl + address);
        }
      },
    })
    .transform(page);
}

/** Walks from the first page to every other and to all that they load, and writes each once. */
async function writeSite(out: string): Promise<number> {
  const wanted = new Set(["/docs", ...FOR_PROGRAMS]);
  const leadTo = (address: string) => {
    const { pathname } = new URL(address, "http://docs.invalid");
    if (!/^\/(docs|assets)(\/|$)/.test(pathname)) return false;
    wanted.add(pathname);
    return true;
  };
  for (const path of wanted) {
    const answer = await ask(path);
    if (!answer?.ok) throw new Error(`${path} is linked to, and answers ${answer?.status ?? "nothing"}.`);
    const type = answer.headers.get("Content-Type") ?? "";
    const bytes = await answer.bytes();
    const text = () => new TextDecoder().decode(bytes);
    if (type.startsWith("text/css"))
      for (const [, url = ""] of text().matchAll(/url\("([^"]+)"\)/g))
        if (!url.startsWith("data:")) leadTo(new URL(url, `http://docs.invalid${path}`).pathname);
    const content = type.startsWith("text/html") ? withRelativeLinks(text(), path, leadTo) : bytes;
    const file = join(out, fileOf(path, type));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const first =
    '<!doctype html><meta http-equiv="refresh" content="0; url=docs/"><a href="docs/">Documentation</a>';
  await writeFile(join(out, "index.html"), `${first}\n`);
  return wanted.size;
}

await rm(options.out, { recursive: true, force: true });
const files = await writeSite(options.out);
console.log(`${options.out}: ${files} files, with ${config.baseUrl} in the samples`);
