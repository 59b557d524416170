// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.

import interExt from "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2" with {
  type: "file",
};
import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import { type Asset, CSS, FONT, fileAsset, SCRIPT, SVG, textAsset } from "../web/assets.ts";
import icon from "../web/icon.svg" with { type: "text" };
import compare from "./client/compare.ts" with { type: "text" };
import data from "./client/data.ts" with { type: "text" };
import dom from "./client/dom.ts" with { type: "text" };
import keys from "./client/keys.ts" with { type: "text" };
import main from "./client/main.ts" with { type: "text" };
import overlays from "./client/overlays.ts" with { type: "text" };
import pane from "./client/pane.ts" with { type: "text" };
import panel from "./client/panel.ts" with { type: "text" };
import pictureCss from "./client/pictures.css" with { type: "text" };
import rail from "./client/rail.ts" with { type: "text" };
import server from "./client/server.ts" with { type: "text" };
import stage from "./client/stage.ts" with { type: "text" };
import state from "./client/state.ts" with { type: "text" };
import studioCss from "./client/studio.css" with { type: "text" };
import wall from "./client/wall.ts" with { type: "text" };

const SCRIPTS = { compare, data, dom, keys, main, overlays, pane, panel, rail, server, stage, state, wall };

/** Browsers do not read types; taking them out takes a few milliseconds, once. */
const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });

const ASSETS: Record<string, Asset> = {
  "studio.css": textAsset(CSS, studioCss, pictureCss),
  "icon.svg": textAsset(SVG, icon),
  "inter.woff2": fileAsset(FONT, inter),
  "inter-ext.woff2": fileAsset(FONT, interExt),
  "mono.woff2": fileAsset(FONT, mono),
  ...Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, source]) => [
      `${name}.ts`,
      textAsset(SCRIPT, transpiler.transformSync(source)),
    ]),
  ),
};

/** Answers the name of a file that the page loads; undefined where there is none. */
export function serveAsset(name: string): Response | undefined {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (!asset) return undefined;
  return new Response(asset.body, {
    headers: {
      "Content-Type": asset.contentType,
      "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
