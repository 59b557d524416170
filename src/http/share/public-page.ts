import type { JSX } from "preact";
import { documentText } from "../../web/page.tsx";
import { PAGE_HEADERS } from "../../web/policy.ts";
import { standardHeaders } from "../envelope.ts";
import type { Exchange } from "../exchange.ts";

export interface PublicPage {
  status?: number;
  /** Whether any site may frame it. */
  isFrame: boolean;
  /** The text of its one inline style. */
  style?: string | undefined;
  /** The address of a picture, for where pictures are served from. */
  picture?: string | undefined;
  /** Whether a video from there plays on it. */
  hasVideo?: boolean;
}

/** A page for readers without a key: found by nobody who was not given its address, and kept nowhere. */
export function publicPage(exchange: Exchange, body: JSX.Element, page: PublicPage): Response {
  const headers = new Headers({ ...standardHeaders(exchange), ...PAGE_HEADERS });
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", policy(page));
  headers.set("X-Robots-Tag", "noindex");
  // What is deleted is gone at the next look.
  headers.set("Cache-Control", "no-cache");
  if (page.isFrame) headers.delete("X-Frame-Options");
  return new Response(documentText(body, exchange.basePath), { status: page.status ?? 200, headers });
}

/** The page's own files, and the pictures from wherever they are served; nothing inline but its one style. */
function policy({ isFrame, style, picture, hasVideo = false }: PublicPage): string {
  const hash = style && new Bun.CryptoHasher("sha256").update(style).digest("base64");
  const pictures = `'self'${picture && !picture.startsWith("/") ? ` ${new URL(picture).origin}` : ""}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${hash ? ` 'sha256-${hash}'` : ""}`,
    `img-src ${pictures}`,
    ...(hasVideo ? [`media-src ${pictures}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${isFrame ? "*" : "'none'"}`,
  ].join("; ");
}
