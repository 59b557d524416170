// @ts-nocheck The compiler reads this import as a module; the runtime gives its text.
import source from "../../clients/card/cardpress-card.js" with { type: "text" };
import { FOR_GOOD, fileAnswer, SCRIPT, textAsset } from "./assets.ts";

// <cardpress-card> for any page: at an address that changes with its content, and at one that leads there.

const FILE = textAsset(SCRIPT, source);

/** Kept by browsers for good. `/elements/cardpress-card.js`, for pages that are written once, leads to it. */
export const CARD_ELEMENT_VERSION = `/elements/cardpress-card-${FILE.version}.js`;

/** Another's page may load it, also as a module and with a check of its integrity. */
const FOR_ANYONE: Record<string, string> = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
};
/** How long browsers keep where the newest is: an upgrade of the service reaches readers within an hour. */
const REDIRECT_SECONDS = 3_600;

/** Answers what is asked below /elements; undefined for a file that never was there. */
export function answerCardElement(
  request: Request,
  { pathname }: URL,
  headers: Record<string, string>,
): Response | undefined {
  if (pathname === CARD_ELEMENT_VERSION)
    return fileAnswer(request, FILE, { ...headers, ...FOR_ANYONE, "Cache-Control": FOR_GOOD });
  // A page that names a version this service had before gets the one it has now.
  if (!/^\/elements\/cardpress-card(-[0-9a-f]{16})?\.js$/.test(pathname)) return undefined;
  return new Response(null, {
    status: 302,
    headers: {
      ...headers,
      ...FOR_ANYONE,
      Location: CARD_ELEMENT_VERSION,
      "Cache-Control": `public, max-age=${REDIRECT_SECONDS}`,
    },
  });
}
