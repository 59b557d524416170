// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
import sans from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import highlight from "../../web/highlight.css" with { type: "text" };
import icon from "../../web/icon.svg" with { type: "text" };
import theme from "../../web/theme.js" with { type: "text" };
import card from "./client/card.webp" with { type: "file" };
import style from "./client/docs.css" with { type: "text" };
import script from "./client/docs.js" with { type: "text" };

/** The texts the pages load, by name. */
export const TEXT_ASSETS: Record<string, { body: string; contentType: string }> = {
  "docs.css": { body: `${style}\n${highlight}`, contentType: "text/css; charset=utf-8" },
  "docs.js": { body: script, contentType: "text/javascript; charset=utf-8" },
  "theme.js": { body: theme, contentType: "text/javascript; charset=utf-8" },
  "icon.svg": { body: icon, contentType: "image/svg+xml" },
};

/** Fonts and pictures, as paths to read them from. Their names stand for their content: a new one gets a new name. */
export const FILE_ASSETS: Record<string, { path: string; contentType: string }> = {
  "inter.woff2": { path: sans, contentType: "font/woff2" },
  "jetbrains-mono.woff2": { path: mono, contentType: "font/woff2" },
  "card.webp": { path: card, contentType: "image/webp" },
};
