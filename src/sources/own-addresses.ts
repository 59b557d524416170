import { networkInterfaces } from "node:os";

/**
 * The current addresses of this machine's network interfaces, which come and go. Services listening on a
 * public one often trust requests from the machine itself, and no firewall is in between. Spelled the way the
 * system's resolver spells them.
 */
export function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((ips = []) => ips.map(({ address }) => address)));
}
