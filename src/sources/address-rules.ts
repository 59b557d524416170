import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { MAX_OUTBOUND_URL_CHARS } from "../core/outbound-limits.ts";
import { GuardedHttpError, HOST_REFUSED_MESSAGE } from "./guarded-http-error.ts";

/** Addresses that public lists call ordinary, but that answer only inside a cloud: Azure's host agent. */
const CLOUD_INTERNAL_ADDRESSES = new Set(["168.63.129.16"]);

/**
 * The only IPv6 block IANA allocates for the public internet; tunnels, mappings and future uses lie outside
 * it.
 */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Names that have a meaning only inside a network, by RFC 6761, RFC 6762, RFC 8375, ICANN's reservation or
 * custom.
 */
const PRIVATE_NAME_SUFFIXES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
];

/** A URL that may be requested. `trusted`: its origin is exempt from the https and public-address rules. */
export interface CheckedUrl {
  url: URL;
  /** The host as sockets expect it: a name without trailing dot, or an address without brackets. */
  host: string;
  trusted: boolean;
}

/**
 * Whether an IPv4 or IPv6 address in canonical form is public. Refuses everything IANA's registries list as
 * special (RFC 6890), every IPv6 address that embeds an IPv4 address (mapped, compatible, NAT64, 6to4,
 * Teredo), because it can lead to any IPv4 address, zone ids, and other spellings.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes("%")) return false;
  const address = ipaddr.parse(ip);
  if (address.range() !== "unicast" || CLOUD_INTERNAL_ADDRESSES.has(ip)) return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST_V6);
}

/**
 * Parses `url` as browsers do and refuses what must not be asked: anything but https, addresses and names
 * that are not public, credentials, and spellings that two parsers could read differently. Any port but 0 is
 * allowed. Origins in `allowedOrigins` (`scheme://host:port`) are exempt from the https and public-address
 * rules only. A name is still to be looked up by the caller. Throws GuardedHttpError: bad_url, not_https or
 * address_refused.
 */
export function checkUrl(url: string, allowedOrigins: ReadonlySet<string>): CheckedUrl {
  const parsed = parse(url);
  parsed.hash = "";
  // TLS and the rules below compare names without the root dot.
  parsed.hostname = parsed.hostname.replace(/\.+$/, "");
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  const trusted = isAllowedOrigin(parsed, allowedOrigins);
  if (!trusted && parsed.protocol !== "https:") {
    throw new GuardedHttpError(
      "not_https",
      "The address, or one it redirects to, does not begin with https://. Use one that does.",
    );
  }
  if (parsed.username || parsed.password) {
    throw badUrl("it holds a user name or password. Remove them");
  }
  if (parsed.port === "0") throw badUrl("port 0 does not exist. Remove or correct the port");
  if (!trusted && (isIP(host) ? !isPublicAddress(host) : isPrivateName(host))) {
    throw new GuardedHttpError("address_refused", HOST_REFUSED_MESSAGE);
  }
  return { url: parsed, host, trusted };
}

function parse(url: string): URL {
  if (url.length > MAX_OUTBOUND_URL_CHARS) {
    throw badUrl(`it is longer than ${MAX_OUTBOUND_URL_CHARS} characters. Use a shorter one`);
  }
  const parsed = URL.parse(url);
  if (parsed === null) throw badUrl("it cannot be read. Copy it from the address bar of a browser");
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    throw new GuardedHttpError(
      "not_https",
      "The address, or one it redirects to, does not begin with https://. Use one that does.",
    );
  }
  // Browsers repair these; other programs read a different host from them.
  if (!/^ *https?:\/\/[^/?#]/i.test(url) || /[\\\p{Cc}]/u.test(url)) {
    throw badUrl(
      "it has a misplaced slash, a backslash or a control character. Copy it from the address bar of a browser",
    );
  }
  return parsed;
}

function badUrl(reason: string): GuardedHttpError {
  return new GuardedHttpError("bad_url", `The address is not usable: ${reason}.`);
}

function isAllowedOrigin(url: URL, allowedOrigins: ReadonlySet<string>): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return allowedOrigins.has(url.origin) || allowedOrigins.has(`${url.protocol}//${url.hostname}:${port}`);
}

function isPrivateName(name: string): boolean {
  // A name without a dot could only be completed by the operator's own search domains.
  if (!name.includes(".")) return true;
  return PRIVATE_NAME_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
