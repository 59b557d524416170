import { isIP } from "node:net";

/** Names that no registry gives away: whoever is found under them is in the reader's own network. */
const LOCAL_DOMAINS = [".localhost", ".local", ".internal", ".home.arpa"];

/**
 * Whether a request was sent to a name that can be ours: the public address's, an IP address, or a name inside a
 * network, such as `localhost` or a container's. What remains are names of the public internet that somebody else may
 * own, and let point at this machine while their page is open in a browser that can reach us (DNS rebinding). Ports do
 * not matter here: proxies and containers change them.
 */
export function isOwnHost(request: Request, baseUrl: string): boolean {
  const given = request.headers.get("host") ?? URL.parse(request.url)?.host ?? "";
  const name = hostname(`http://${given}`);
  if (name === undefined) return false;
  const isLocal = !name.includes(".") || LOCAL_DOMAINS.some((domain) => name.endsWith(domain));
  return isLocal || isIP(name) !== 0 || name === hostname(baseUrl);
}

function hostname(address: string): string | undefined {
  // A dot at the end is the same name; brackets are an IPv6 address's.
  return URL.parse(address)?.hostname.replace(/\.$|^\[|\]$/g, "");
}
