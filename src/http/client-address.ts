import ipaddr from "ipaddr.js";
import { MAX_KNOWN_NETWORKS } from "../core/limits.ts";

/** Where a proxy in front of us can stand: on this machine or in its own network, never out on the internet. */
const PROXY_RANGES = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

/**
 * The address a request comes from, for limits. With an https base URL there is a proxy in front of us, since we speak
 * plain HTTP; it appends the address it was called from to X-Forwarded-For. Only the last entry is the proxy's own word,
 * and only a neighbour is believed: whoever calls us directly cannot choose an address.
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
 * What limits count an address by. The smallest network an IPv6 customer gets is a /64, so one client has 2^64 addresses
 * of it; they are one to us. IPv4 stays as it is, also where a socket shows it as ::ffff:a.b.c.d.
 */
export function networkOf(address: string): string {
  const known = networks.get(address);
  if (known !== undefined) return known;
  if (networks.size >= MAX_KNOWN_NETWORKS) networks.clear();
  const network = readNetwork(address);
  networks.set(address, network);
  return network;
}

/** Of addresses that called lately: reading one costs more than looking up a key. */
const networks = new Map<string, string>();

function readNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
