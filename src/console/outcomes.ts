/** How many failed by a fault, of the photo or ours: those that were canceled are not among them. */
export function faultsOf({ failed, canceled }: { failed: number; canceled: number }): number {
  return failed - canceled;
}
