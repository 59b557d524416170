// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
import sans from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2" with {
  type: "file",
};
import card from "./client/card.webp" with { type: "file" };
import style from "./client/docs.css" with { type: "text" };
import script from "./client/docs.js" with { type: "text" };
import icon from "./client/icon.svg" with { type: "text" };
import blurredPhoto from "./client/photos/blurred.webp" with { type: "file" };
import cutPhoto from "./client/photos/cut.webp" with { type: "file" };
import severalPhoto from "./client/photos/several.webp" with { type: "file" };
import sidewaysPhoto from "./client/photos/sideways.webp" with { type: "file" };
import smallPhoto from "./client/photos/small.webp" with { type: "file" };
import waistUpPhoto from "./client/photos/waist-up.webp" with { type: "file" };
import wholeBodyPhoto from "./client/photos/whole-body.webp" with { type: "file" };
import theme from "./client/theme.js" with { type: "text" };

/** The texts the pages load, by name. */
export const TEXT_ASSETS: Record<string, { body: string; contentType: string }> = {
  "docs.css": { body: style, contentType: "text/css; charset=utf-8" },
  "docs.js": { body: script, contentType: "text/javascript; charset=utf-8" },
  "theme.js": { body: theme, contentType: "text/javascript; charset=utf-8" },
  "icon.svg": { body: icon, contentType: "image/svg+xml" },
};

/** Fonts and pictures, as paths to read them from. Their names stand for their content: a new one gets a new name. */
export const FILE_ASSETS: Record<string, { path: string; contentType: string }> = {
  "inter.woff2": { path: sans, contentType: "font/woff2" },
  "jetbrains-mono.woff2": { path: mono, contentType: "font/woff2" },
  "card.webp": { path: card, contentType: "image/webp" },
  "photo-blurred.webp": { path: blurredPhoto, contentType: "image/webp" },
  "photo-cut.webp": { path: cutPhoto, contentType: "image/webp" },
  "photo-several.webp": { path: severalPhoto, contentType: "image/webp" },
  "photo-sideways.webp": { path: sidewaysPhoto, contentType: "image/webp" },
  "photo-small.webp": { path: smallPhoto, contentType: "image/webp" },
  "photo-waist-up.webp": { path: waistUpPhoto, contentType: "image/webp" },
  "photo-whole-body.webp": { path: wholeBodyPhoto, contentType: "image/webp" },
};
