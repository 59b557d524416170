import { readPageScripts } from "../../system/page-scripts.ts" with { type: "macro" };

/** The page's own modules by name: their text. */
export const PAGE_MODULES: Record<string, string> = readPageScripts("render/photo/page");
