import type { Random } from "./ports.ts";

/** Who holds leases: one process of the service, from start to exit. */
export interface LeaseHolder {
  /** A unique name for this process, chosen at start. */
  node: string;
  random: Random;
}

/**
 * A token for a new lease. It carries the holder's name, so that others can tell whose lease it was after the
 * process is gone.
 */
export function leaseToken({ node, random }: LeaseHolder): string {
  return `${leasesOf(node)}${random.id("lease")}`;
}

/** The prefix shared by all lease tokens of a process. */
export function leasesOf(node: string): string {
  return `${node}.`;
}
