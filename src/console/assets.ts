// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.

import interExt from "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2" with {
  type: "file",
};
import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import htmx from "htmx.org/dist/htmx.min.js" with { type: "file" };
import highlight from "../web/highlight.css" with { type: "text" };
import icon from "../web/icon.svg" with { type: "text" };
import theme from "../web/theme.js" with { type: "text" };
import base from "./assets/base.css" with { type: "text" };
import code from "./assets/code.css" with { type: "text" };
import script from "./assets/console.js" with { type: "text" };
import notices from "./assets/notices.css" with { type: "text" };
import pages from "./assets/pages.css" with { type: "text" };
import parts from "./assets/parts.css" with { type: "text" };
import passkeys from "./assets/passkeys.js" with { type: "text" };
import tables from "./assets/tables.css" with { type: "text" };

interface Asset {
  type: string;
  bytes: () => Promise<Uint8Array>;
}

const SCRIPT = "text/javascript; charset=utf-8";
const text = (type: string, ...content: string[]): Asset => ({
  type,
  bytes: async () => new TextEncoder().encode(content.join("\n")),
});
const file = (type: string, path: string): Asset => ({ type, bytes: () => Bun.file(path).bytes() });

const ASSETS: Record<string, Asset> = {
  "console.css": text("text/css; charset=utf-8", base, parts, tables, notices, code, highlight, pages),
  "icon.svg": text("image/svg+xml", icon),
  "console.js": text(SCRIPT, theme, script),
  "passkeys.js": text(SCRIPT, passkeys),
  "htmx.js": file(SCRIPT, htmx),
  "inter.woff2": file("font/woff2", inter),
  "inter-ext.woff2": file("font/woff2", interExt),
  "mono.woff2": file("font/woff2", mono),
};

const DIR = "/console/assets/";

/** The address of an asset; it changes with its content, so that browsers may keep it for good. */
export function assetUrl(
  name: "console.css" | "console.js" | "passkeys.js" | "htmx.js" | "icon.svg",
): string {
  return `${DIR}${name}?v=${VERSIONS[name]}`;
}

const VERSIONS: Record<string, string> = Object.fromEntries(
  await Promise.all(
    Object.entries(ASSETS).map(async ([name, asset]) => [name, Bun.hash(await asset.bytes()).toString(36)]),
  ),
);

/** Answers an asset's address, undefined for every other. */
export async function serveAsset(exchange): Promise<Response | undefined> {
  const { pathname, searchParams } = exchange.url;
  if (!pathname.startsWith(DIR)) return undefined;
  const name = pathname.slice(DIR.length);
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (!asset || exchange.request.method !== "GET") return undefined;
  const forGood = searchParams.get("v") === VERSIONS[name] || asset.type === "font/woff2";
  return new Response(await asset.bytes(), {
    headers: {
      "Content-Type": asset.type,
      "Cache-Control": forGood ? "public, max-age=31536000, immutable" : "no-cache",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": exchange.requestId,
    },
  });
}
