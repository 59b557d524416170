// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
import sans from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import { type Asset, CSS, FONT, fileAsset, SCRIPT, SVG, textAsset } from "../../web/assets.ts";
import highlight from "../../web/highlight.css" with { type: "text" };
import icon from "../../web/icon.svg" with { type: "text" };
import theme from "../../web/theme.js" with { type: "text" };
import card from "./client/card.webp" with { type: "file" };
import style from "./client/docs.css" with { type: "text" };
import script from "./client/docs.js" with { type: "text" };
import blurredPhoto from "./client/photos/blurred.webp" with { type: "file" };
import cutPhoto from "./client/photos/cut.webp" with { type: "file" };
import severalPhoto from "./client/photos/several.webp" with { type: "file" };
import sidewaysPhoto from "./client/photos/sideways.webp" with { type: "file" };
import smallPhoto from "./client/photos/small.webp" with { type: "file" };
import waistUpPhoto from "./client/photos/waist-up.webp" with { type: "file" };
import wholeBodyPhoto from "./client/photos/whole-body.webp" with { type: "file" };

/** What the pages load, by name. */
export const ASSETS: Record<string, Asset> = {
  "docs.css": textAsset(CSS, style, highlight),
  "docs.js": textAsset(SCRIPT, script),
  "theme.js": textAsset(SCRIPT, theme),
  "icon.svg": textAsset(SVG, icon),
  "inter.woff2": fileAsset(FONT, sans),
  "jetbrains-mono.woff2": fileAsset(FONT, mono),
  "card.webp": fileAsset("image/webp", card),
  "photo-blurred.webp": fileAsset("image/webp", blurredPhoto),
  "photo-cut.webp": fileAsset("image/webp", cutPhoto),
  "photo-several.webp": fileAsset("image/webp", severalPhoto),
  "photo-sideways.webp": fileAsset("image/webp", sidewaysPhoto),
  "photo-small.webp": fileAsset("image/webp", smallPhoto),
  "photo-waist-up.webp": fileAsset("image/webp", waistUpPhoto),
  "photo-whole-body.webp": fileAsset("image/webp", wholeBodyPhoto),
};
