import { networkInterfaces } from "node:os";

/**
 * The addresses of this machine's network interfaces, as of now: they come and go. Services that listen on a public one
 * often trust whoever asks from the machine itself, and its firewall stands not between. Spelled as the system's
 * resolver spells them.
 */
export function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((ips = []) => ips.map(({ address }) => address)));
}
