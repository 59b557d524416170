import ipaddr from "ipaddr.js";
import { MAX_KNOWN_NETWORKS } from "../core/limits.ts";

/** Where a proxy can be: on this machine or in its own network, never on the public internet. */
const PROXY_RANGES = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

/**
 * The client address used for limits. With an https base URL there must be a proxy, since we speak plain
 * HTTP; it appends its client's address to X-Forwarded-For. Only the last entry is the proxy's own, and only
 * a neighbour is believed, so a direct client cannot choose its address.
 */
export function clientAddress(request: Request, peer: string, baseUrl: string): string {
  if (!baseUrl.startsWith("https://") || !isNeighbour(peer)) return peer;
  const last = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  return ipaddr.isValid(last) ? ipaddr.process(last).toString() : peer;
}

function isNeighbour(address: string): boolean {
  return ipaddr.isValid(address) && PROXY_RANGES.has(ipaddr.process(address).range());
}

/**
 * The key by which limits count an address. An IPv6 customer gets at least a /64, which is 2^64 addresses, so
 * a /64 counts as one. IPv4 addresses count individually, even when a socket shows them as ::ffff:a.b.c.d.
 */
export function networkOf(address: string): string {
  const known = networks.get(address);
  if (known !== undefined) return known;
  if (networks.size >= MAX_KNOWN_NETWORKS) networks.clear();
  const network = readNetwork(address);
  networks.set(address, network);
  return network;
}

/** A cache of recent addresses: parsing one costs more than looking up a key. */
const networks = new Map<string, string>();

function readNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
