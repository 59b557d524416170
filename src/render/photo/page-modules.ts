import { readPageModules } from "./read-page-modules.ts" with { type: "macro" };

/**
 * The page's own modules by name: their text. A macro, so Bun reads them as it compiles this line, and a
 * compiled cardpress carries them with it.
 */
export const PAGE_MODULES: Record<string, string> = readPageModules();
