// The service may have a path of a host instead of a host name of its own, such as /cards. Inside, every path
// is written as if it had the host to itself: this module takes the path from what comes in, and puts it
// before what goes out.

/** The path in the service's public URL, such as `/cards`; empty where it has the host to itself. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, "");
}

/**
 * The first names of the service's own paths. A base path begins with none of them: a proxy may take it from
 * the requests it passes on, and `/docs/docs` would then be read as `/docs` under `/docs`, which is `/`.
 */
export const OWN_NAMES: readonly string[] = [
  "assets",
  "cdn",
  "console",
  "docs",
  "elements",
  "gallery",
  "live",
  "llms.txt",
  "mcp",
  "metrics",
  "oembed",
  "ready",
  "share",
  "status",
  "status.atom",
  "status.json",
  "v1",
];

const BASE_PATH = /^(\/[\w.~-]+)+$/;

/** Why a path cannot be a base path; undefined for one that can. */
export function faultOfBasePath(path: string): string | undefined {
  if (!BASE_PATH.test(path))
    return "its path may have letters, digits, and - . _ ~ between single slashes, as in https://club.example/cards";
  const name = path.split("/")[1] ?? "";
  return OWN_NAMES.includes(name)
    ? `its path begins with /${name}, which the service has itself: choose another, such as /cards`
    : undefined;
}

/** A path without the base path; undefined where it is not below it, as `/cardsx` is not below `/cards`. */
export function withoutBasePath(path: string, basePath: string): string | undefined {
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}

/**
 * The address of a request as the service knows it. A proxy may pass on the base path or take it away, so
 * that an address without it is one too.
 */
export function insideBasePath(url: URL, basePath: string): URL {
  const path = basePath === "" ? undefined : withoutBasePath(url.pathname, basePath);
  if (path === undefined) return url;
  const inside = new URL(url);
  inside.pathname = path;
  return inside;
}

/** A path of ours as readers ask for it; an address of another host stays as it is. */
export function underBasePath(address: string, basePath: string): string {
  return /^\/(?!\/)/.test(address) ? basePath + address : address;
}

/**
 * Where the service finds itself in what partners send: on the machine itself people also use its local
 * names, whatever the public address is.
 */
export function ownAddresses({ baseUrl, port }: { baseUrl: string; port: number }): string[] {
  const local = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const basePath = basePathOf(baseUrl);
  return [baseUrl, ...local, ...(basePath === "" ? [] : local.map((origin) => origin + basePath))];
}

/** The attributes of our pages that hold addresses; some of them hold several, with spaces between. */
const ADDRESSES =
  /( (?:href|src|srcset|poster|action|formaction|hx-get|hx-post|data-href|data-photo|data-search|back|layers|foil-mask)=")(\/[^"]*)/g;

/**
 * A page that was rendered here, with its own addresses under the base path. Whatever people wrote has its
 * quotation marks escaped in it, and so looks like none of these attributes. Scripts read the base path from
 * the document itself.
 */
export function pageUnderBasePath(page: string, basePath: string): string {
  if (basePath === "") return page;
  return page
    .replace("<html ", `<html data-base="${basePath}" `)
    .replace(ADDRESSES, (_, name: string, given: string) => {
      const addresses = given.split(" ").map((address) => underBasePath(address, basePath));
      return name + addresses.join(" ");
    });
}
