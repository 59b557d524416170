import type { Random } from "./ports.ts";

/** Who takes leases: one process of the service, from its start to its end. */
export interface LeaseHolder {
  /** A name of its own for this process, made at its start. */
  node: string;
  random: Random;
}

/** A token for a new lease. It carries the holder's name, so that others can tell whose it is when that process is gone. */
export function leaseToken({ node, random }: LeaseHolder): string {
  return `${leasesOf(node)}${random.id("lease")}`;
}

/** What the tokens of all leases of a process begin with. */
export function leasesOf(node: string): string {
  return `${node}.`;
}
