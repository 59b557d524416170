import type { FetchGate } from "../app/images/fetch-gate.ts";
import type { RenderPool } from "../render/pool.ts";
import type { Loops } from "./loops.ts";

/** Stops the loops; what they had begun and cannot finish by `deadlineMs` goes back to the queue. */
export async function drain(
  { live, test, deliveries, photos, chores }: Loops,
  { gate, pool }: { gate: FetchGate; pool: RenderPool },
  deadlineMs: number,
): Promise<void> {
  // Creates that are fetching go on to their 202; those that only wait would keep the stop waiting too long.
  gate.close();
  const deadline = setTimeout(() => void pool.close(), deadlineMs);
  await Promise.all([live, test, deliveries, photos, ...chores].map((loop) => loop.stop()));
  clearTimeout(deadline);
}
