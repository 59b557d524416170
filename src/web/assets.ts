import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A file that pages load. */
export interface Asset {
  contentType: string;
  body: string | Blob;
  /** Changes with the content: 16 hex digits of its SHA-256. */
  version: string;
}

export function textAsset(contentType: string, ...texts: string[]): Asset {
  const body = texts.join("\n");
  return { contentType, body, version: versionOf(body) };
}

/** `path`: of a file that the compiled program carries as well. */
export function fileAsset(contentType: string, path: string): Asset {
  return { contentType, body: Bun.file(path), version: versionOf(readFileSync(path)) };
}

function versionOf(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

export const CSS = "text/css; charset=utf-8";
export const SCRIPT = "text/javascript; charset=utf-8";
export const SVG = "image/svg+xml";
export const FONT = "font/woff2";
