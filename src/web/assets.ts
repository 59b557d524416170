import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { namesVersion } from "./etag.ts";

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
export const WEBP = "image/webp";

/** Files under one address of the service. */
export interface AssetFolder<Name extends string> {
  /** The address of a file, with its version: browsers may keep what is there for good. */
  url(name: Name): string;
  /** Answers an address of this folder, undefined where there is no such file. `headers` go with every answer. */
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

/** A year, as usual for what never changes under its address. */
const FOR_GOOD = `public, max-age=${365 * 86_400}, immutable`;

/** A file as an answer; 304 without it where the reader has this very version. */
export function fileAnswer(request: Request, asset: Asset, headers: Record<string, string>): Response {
  const etag = `"${asset.version}"`;
  const all = { ...headers, "Content-Type": asset.contentType, ETag: etag };
  const known = request.headers.get("if-none-match") ?? "";
  return namesVersion(known, etag)
    ? new Response(null, { status: 304, headers: all })
    : new Response(asset.body, { headers: all });
}
