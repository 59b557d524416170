// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text.
import { assetFolder, CSS, SCRIPT, textAsset } from "../../web/assets.ts";
import film from "./client/film.js" with { type: "text" };
import style from "./client/share.css" with { type: "text" };
import script from "./client/share.js" with { type: "text" };

/** What only the pages of shared cards load. */
export const SHARE_ASSETS = assetFolder("/share/assets/", {
  "film.js": textAsset(SCRIPT, film),
  "share.css": textAsset(CSS, style),
  "share.js": textAsset(SCRIPT, script),
});
