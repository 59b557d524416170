// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.

import { assetFolder, CSS, SCRIPT, textAsset } from "../web/assets.ts";
import compare from "./client/compare.ts" with { type: "text" };
import data from "./client/data.ts" with { type: "text" };
import dom from "./client/dom.ts" with { type: "text" };
import form from "./client/form.ts" with { type: "text" };
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
import wait from "./client/wait.ts" with { type: "text" };
import wall from "./client/wall.ts" with { type: "text" };

const SCRIPTS = {
  compare,
  data,
  dom,
  form,
  keys,
  main,
  overlays,
  pane,
  panel,
  rail,
  server,
  stage,
  state,
  wait,
  wall,
};

/** Browsers cannot run types; stripping them takes a few milliseconds, once. */
const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });

/** What only the studio's page loads; its icon and fonts are shared with all pages. */
export const STUDIO_ASSETS = assetFolder("/assets/", {
  "studio.css": textAsset(CSS, studioCss, pictureCss),
  ...Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, source]) => [
      `${name}.ts`,
      textAsset(SCRIPT, transpiler.transformSync(source)),
    ]),
  ),
});
