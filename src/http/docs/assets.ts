// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
import { type Asset, assetFolder, CSS, fileAsset, SCRIPT, textAsset, WEBP } from "../../web/assets.ts";
import card from "./client/card.webp" with { type: "file" };
import style from "./client/docs.css" with { type: "text" };
import script from "./client/docs.js" with { type: "text" };
import blurredPhoto from "./client/photos/blurred.webp" with { type: "file" };
import brightPhoto from "./client/photos/bright.webp" with { type: "file" };
import coveredPhoto from "./client/photos/covered.webp" with { type: "file" };
import cutPhoto from "./client/photos/cut.webp" with { type: "file" };
import darkPhoto from "./client/photos/dark.webp" with { type: "file" };
import drawingPhoto from "./client/photos/drawing.webp" with { type: "file" };
import severalPhoto from "./client/photos/several.webp" with { type: "file" };
import sidewaysPhoto from "./client/photos/sideways.webp" with { type: "file" };
import smallPhoto from "./client/photos/small.webp" with { type: "file" };
import waistUpPhoto from "./client/photos/waist-up.webp" with { type: "file" };
import wholeBodyPhoto from "./client/photos/whole-body.webp" with { type: "file" };
import reference from "./client/reference.css" with { type: "text" };
import searchStyle from "./client/search.css" with { type: "text" };
import search from "./client/search.js" with { type: "text" };
import shapeSheet from "./client/sheets/shapes.webp" with { type: "file" };
import themeSheet from "./client/sheets/themes.webp" with { type: "file" };
import tierSheet from "./client/sheets/tiers.webp" with { type: "file" };
import studioCard from "./client/studio/card.webp" with { type: "file" };
import studioWall from "./client/studio/wall.webp" with { type: "file" };
import tryIt from "./client/try-it.js" with { type: "text" };

/** What only the documentation's pages load. */
const ASSETS: Record<string, Asset> = {
  "docs.css": textAsset(CSS, style, reference, searchStyle),
  "docs.js": textAsset(SCRIPT, script),
  "search.js": textAsset(SCRIPT, search),
  "try-it.js": textAsset(SCRIPT, tryIt),
  "card.webp": fileAsset(WEBP, card),
  "sheet-shapes.webp": fileAsset(WEBP, shapeSheet),
  "sheet-themes.webp": fileAsset(WEBP, themeSheet),
  "sheet-tiers.webp": fileAsset(WEBP, tierSheet),
  "studio-card.webp": fileAsset(WEBP, studioCard),
  "studio-wall.webp": fileAsset(WEBP, studioWall),
  "photo-blurred.webp": fileAsset(WEBP, blurredPhoto),
  "photo-bright.webp": fileAsset(WEBP, brightPhoto),
  "photo-covered.webp": fileAsset(WEBP, coveredPhoto),
  "photo-cut.webp": fileAsset(WEBP, cutPhoto),
  "photo-dark.webp": fileAsset(WEBP, darkPhoto),
  "photo-drawing.webp": fileAsset(WEBP, drawingPhoto),
  "photo-several.webp": fileAsset(WEBP, severalPhoto),
  "photo-sideways.webp": fileAsset(WEBP, sidewaysPhoto),
  "photo-small.webp": fileAsset(WEBP, smallPhoto),
  "photo-waist-up.webp": fileAsset(WEBP, waistUpPhoto),
  "photo-whole-body.webp": fileAsset(WEBP, wholeBodyPhoto),
};

export const DOCS_ASSETS = assetFolder("/docs/assets/", ASSETS);
