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
  return `${node}.${random.id("lease")}`;
}

/** The process that took a lease. */
export function leaseHolderOf(token: string): string {
  return token.slice(0, token.indexOf("."));
}
