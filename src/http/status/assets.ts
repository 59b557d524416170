// @ts-nocheck The compiler reads this import as a module; the runtime gives its text.
import { assetFolder, CSS, textAsset } from "../../web/assets.ts";
import style from "./status.css" with { type: "text" };

export const STATUS_ASSETS = assetFolder("/status/assets/", { "status.css": textAsset(CSS, style) });
