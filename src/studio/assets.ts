import { readPageScripts } from "../system/page-scripts.ts" with { type: "macro" };
import { assetFolder, CSS, SCRIPT, textAsset } from "../web/assets.ts";
// Static, so that a compiled cardpress carries them with it.
import pictureCss from "./client/pictures.css" with { type: "text" };
import studioCss from "./client/studio.css" with { type: "text" };

const SCRIPTS: Record<string, string> = readPageScripts("studio/client");

/** What only the studio's page loads; its icon and fonts are shared with all pages. */
export const STUDIO_ASSETS = assetFolder("/assets/", {
  "studio.css": textAsset(CSS, studioCss, pictureCss),
  ...Object.fromEntries(Object.entries(SCRIPTS).map(([name, source]) => [name, textAsset(SCRIPT, source)])),
});
