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
import { type Asset, CSS, FONT, fileAsset, SCRIPT, SVG, textAsset } from "../web/assets.ts";
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

const ASSETS: Record<string, Asset> = {
  "console.css": textAsset(CSS, base, parts, tables, notices, code, highlight, pages),
  "icon.svg": textAsset(SVG, icon),
  "console.js": textAsset(SCRIPT, theme, script),
  "passkeys.js": textAsset(SCRIPT, passkeys),
  "htmx.js": fileAsset(SCRIPT, htmx),
  "inter.woff2": fileAsset(FONT, inter),
  "inter-ext.woff2": fileAsset(FONT, interExt),
  "mono.woff2": fileAsset(FONT, mono),
};

const DIR = "/console/assets/";

/** The address of an asset; it changes with its content, so that browsers may keep it for good. */
export function assetUrl(
  name: "console.css" | "console.js" | "passkeys.js" | "htmx.js" | "icon.svg",
): string {
  return `${DIR}${name}?v=${ASSETS[name].version}`;
}

/** Answers an asset's address, undefined for every other. */
export function serveAsset(exchange): Response | undefined {
  const { pathname, searchParams } = exchange.url;
  if (!pathname.startsWith(DIR)) return undefined;
  const name = pathname.slice(DIR.length);
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (!asset || exchange.request.method !== "GET") return undefined;
  const forGood = searchParams.get("v") === asset.version || asset.contentType === FONT;
  return new Response(asset.body, {
    headers: {
      "Content-Type": asset.contentType,
      "Cache-Control": forGood ? "public, max-age=31536000, immutable" : "no-cache",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": exchange.requestId,
    },
  });
}
