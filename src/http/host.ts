import { isIP } from "node:net";

/** Suffixes that no registry sells: hosts under them are in the reader's own network. */
const LOCAL_DOMAINS = [".localhost", ".local", ".internal", ".home.arpa"];

/**
 * Whether the Host can be ours: the public address's name, an IP address, or a name inside a network, such as
 * `localhost` or a container's. Any other public name may belong to somebody who points it at this machine
 * while their page is open in a browser that can reach us (DNS rebinding). Ports are ignored: proxies and
 * containers change them.
 */
export function isOwnHost(request: Request, baseUrl: string): boolean {
  const given = request.headers.get("host") ?? URL.parse(request.url)?.host ?? "";
  const name = hostname(`http://${given}`);
  if (name === undefined) return false;
  const isLocal = !name.includes(".") || LOCAL_DOMAINS.some((domain) => name.endsWith(domain));
  return isLocal || isIP(name) !== 0 || name === hostname(baseUrl);
}

function hostname(address: string): string | undefined {
  // A trailing dot is the same name; brackets belong to IPv6 addresses.
  return URL.parse(address)?.hostname.replace(/\.$|^\[|\]$/g, "");
}
