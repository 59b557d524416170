// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import htmx from "htmx.org/dist/htmx.min.js" with { type: "file" };
import { type AssetFolder, assetFolder, CSS, fileAsset, SCRIPT, textAsset, WEBP } from "../web/assets.ts";
import script from "./assets/console.js" with { type: "text" };
import kits from "./assets/kits.webp" with { type: "file" };
import lists from "./assets/lists.css" with { type: "text" };
import looked from "./assets/looked.js" with { type: "text" };
import make from "./assets/make.css" with { type: "text" };
import oneCard from "./assets/one-card.webp" with { type: "file" };
import pages from "./assets/pages.css" with { type: "text" };
import paletteStyle from "./assets/palette.css" with { type: "text" };
import palette from "./assets/palette.js" with { type: "text" };
import passkeys from "./assets/passkeys.js" with { type: "text" };
import photos from "./assets/photos.js" with { type: "text" };
import points from "./assets/points.js" with { type: "text" };
import sheet from "./assets/sheet.css" with { type: "text" };
import squad from "./assets/squad.webp" with { type: "file" };
import tables from "./assets/tables.css" with { type: "text" };

export type ConsoleFile =
  | "console.css"
  | "console.js"
  | "looked.js"
  | "passkeys.js"
  | "photos.js"
  | "points.js"
  | "palette.js"
  | "htmx.js"
  | "kits.webp"
  | "one-card.webp"
  | "squad.webp";

/** Files for the console's pages only. */
export const CONSOLE_ASSETS: AssetFolder<ConsoleFile> = assetFolder("/console/assets/", {
  "console.css": textAsset(CSS, tables, pages, lists, make, sheet, paletteStyle),
  "console.js": textAsset(SCRIPT, script),
  "looked.js": textAsset(SCRIPT, looked),
  "passkeys.js": textAsset(SCRIPT, passkeys),
  "photos.js": textAsset(SCRIPT, photos),
  "points.js": textAsset(SCRIPT, points),
  "palette.js": textAsset(SCRIPT, palette),
  "htmx.js": fileAsset(SCRIPT, htmx),
  "kits.webp": fileAsset(WEBP, kits),
  "one-card.webp": fileAsset(WEBP, oneCard),
  "squad.webp": fileAsset(WEBP, squad),
});
