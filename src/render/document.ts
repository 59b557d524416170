import type { Browser } from "puppeteer-core";
import { writeWhole } from "../system/write-whole.ts";
import { openSealedPage, type PageFile } from "./browser/browser.ts";
import { libraryFonts } from "./card/card-fill.ts";
import { FONT_LIBRARY_CSS, fontLibraryFile } from "./fonts/fonts.ts";
import type { DocumentJob } from "./protocol.ts";

/** Nothing runs in a document, and it loads the bundled fonts alone. */
const POLICY = "default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'";

const LIBRARY = `${FONT_LIBRARY_CSS} :root { --fonts: ${libraryFonts("en", "latin")} }`;

/**
 * Prints an HTML document as a PDF with its fonts embedded, on pages of the size that its style sheet says.
 * It may link `/library.css`, whose `--fonts` draw all scripts.
 */
export async function printDocument(browser: Browser, { html, outputPath }: DocumentJob): Promise<void> {
  const files = (path: string): PageFile | undefined => {
    if (path === "/") return page(html);
    if (path === "/library.css") return { body: LIBRARY, contentType: "text/css; charset=utf-8" };
    return path.startsWith("/library/") ? fontLibraryFile(path) : undefined;
  };
  const opened = await openSealedPage(browser, files, "/");
  try {
    // Without a timeout: the pool ends what takes too long, and counts only the time a worker was given.
    const pdf = await opened.pdf({ preferCSSPageSize: true, printBackground: true, timeout: 0 });
    await writeWhole(outputPath, pdf);
  } finally {
    await opened.close();
  }
}

const page = (body: string): PageFile => ({
  body,
  contentType: "text/html; charset=utf-8",
  headers: { "Content-Security-Policy": POLICY },
});
