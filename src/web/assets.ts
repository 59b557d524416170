import { readFileSync } from "node:fs";
import { sha256 } from "../core/sha256.ts";
import { namesVersion } from "./etag.ts";

/** A file loaded by pages. */
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

/**
 * `path`: of a file that is also embedded in the compiled program. It is kept in memory, a megabyte in all,
 * so that pages have their fonts and scripts also while no file can be opened.
 */
export function fileAsset(contentType: string, path: string): Asset {
  const bytes = readFileSync(path);
  return { contentType, body: new Blob([bytes]), version: versionOf(bytes) };
}

function versionOf(body: string | Uint8Array): string {
  return sha256(body).slice(0, 16);
}

export const CSS = "text/css; charset=utf-8";
export const SCRIPT = "text/javascript; charset=utf-8";
export const SVG = "image/svg+xml";
export const FONT = "font/woff2";
export const WEBP = "image/webp";

/** Files served under one directory of the service. */
export interface AssetFolder<Name extends string> {
  /** The URL of a file including its version, so that browsers can cache it permanently. */
  url(name: Name): string;
  /**
   * Answers a request for a file in this directory; undefined when there is none. `headers` are added to
   * every response.
   */
  answer(request: Request, url: URL, headers: Record<string, string>): Response | undefined;
}

/** `directory`: such as `/docs/assets/`. */
export function assetFolder<Name extends string>(
  directory: string,
  assets: Readonly<Record<Name, Asset>>,
): AssetFolder<Name> {
  const byPath = new Map(Object.entries<Asset>(assets).map(([name, asset]) => [directory + name, asset]));
  return {
    url: (name) => `${directory}${name}?v=${assets[name].version}`,
    answer: (request, { pathname, searchParams }, headers) => {
      const asset = byPath.get(pathname);
      if (!asset || request.method !== "GET") return undefined;
      return fileAnswer(request, asset, {
        ...headers,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": searchParams.get("v") === asset.version ? FOR_GOOD : "no-cache",
      });
    },
  };
}

/** A year, the usual value for immutable files. */
export const FOR_GOOD = `public, max-age=${365 * 86_400}, immutable`;

/** A file as a response; 304 when the reader has this version. */
export function fileAnswer(request: Request, asset: Asset, headers: Record<string, string>): Response {
  const etag = `"${asset.version}"`;
  const all = { ...headers, "Content-Type": asset.contentType, ETag: etag };
  const known = request.headers.get("if-none-match") ?? "";
  return namesVersion(known, etag)
    ? new Response(null, { status: 304, headers: all })
    : new Response(asset.body, { headers: all });
}
