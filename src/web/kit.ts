// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import sansMore from "@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2" with {
  type: "file",
};
import sans from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import {
  type Asset,
  type AssetFolder,
  assetFolder,
  CSS,
  FONT,
  fileAsset,
  SCRIPT,
  SVG,
  textAsset,
} from "./assets.ts";
import base from "./css/base.css" with { type: "text" };
import code from "./css/code.css" with { type: "text" };
import elements from "./css/elements.css" with { type: "text" };
import highlight from "./css/highlight.css" with { type: "text" };
import notices from "./css/notices.css" with { type: "text" };
import shell from "./css/shell.css" with { type: "text" };
import tokens from "./css/tokens.css" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import script from "./kit.js" with { type: "text" };
import theme from "./theme.js" with { type: "text" };

const FONTS: Record<string, Asset> = {
  "inter.woff2": fileAsset(FONT, sans),
  "inter-ext.woff2": fileAsset(FONT, sansMore),
  "mono.woff2": fileAsset(FONT, mono),
};

/** Font URLs in the style sheet carry their versions, like all other URLs. */
const versioned = Object.entries(FONTS).reduce(
  (style, [name, { version }]) => style.replaceAll(`"${name}"`, `"${name}?v=${version}"`),
  tokens,
);

export type KitFile = "kit.css" | "kit.js" | "theme.js" | "icon.svg";

/** What every page of the service loads: style, script, icon, fonts. */
export const KIT: AssetFolder<KitFile> = assetFolder("/assets/", {
  "kit.css": textAsset(CSS, versioned, base, shell, elements, notices, code, highlight),
  "kit.js": textAsset(SCRIPT, script),
  "theme.js": textAsset(SCRIPT, theme),
  "icon.svg": textAsset(SVG, icon),
  ...FONTS,
});
