import ipaddr from "ipaddr.js";

/** What a key may be allowed to do; a key without scopes may do all of it. */
export const KEY_SCOPES = ["create", "read", "delete", "webhooks"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** What each scope allows, for people. */
export const SCOPE_MEANINGS: Record<KeyScope, string> = {
  create: "create images, batches and sets, cancel batches, send photos",
  read: "get and list images, batches, sets and pictures, presets and usage",
  delete: "delete images, players and sets, record and withdraw consents",
  webhooks: "manage webhook endpoints, read events and send them again",
};

/** Addresses and networks from which a key may be used: with more, the list is not what protects it. */
export const MAX_KEY_ADDRESSES = 20;

/** An address or a network, such as 203.0.113.7 or 2001:db8::/48, as it is stored; null for anything else. */
export function readKeyAddress(text: string): string | null {
  const [address = "", bits, ...more] = text.trim().split("/");
  if (more.length > 0 || !ipaddr.isValid(address)) return null;
  // Short forms such as 10.1 are read in more than one way.
  if (!address.includes(":") && address.split(".").length !== 4) return null;
  const parsed = ipaddr.process(address);
  const most = parsed.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return parsed.toString();
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? `${parsed.toString()}/${Number(bits)}` : null;
}

/** Whether a client's address is one of those listed, or in one of the networks. */
export function isAmong(address: string, listed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const client = ipaddr.process(address);
  return listed.some((one) => {
    const [text = "", bits] = one.split("/");
    const network = ipaddr.process(text);
    if (network.kind() !== client.kind()) return false;
    return client.match(network, bits === undefined ? (client.kind() === "ipv4" ? 32 : 128) : Number(bits));
  });
}
