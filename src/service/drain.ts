import type { Endings } from "../app/images/endings.ts";
import type { FetchGate } from "../app/images/fetch-gate.ts";
import type { RenderPool } from "../render/pool.ts";
import type { Loops } from "./loops.ts";

/** Stops the loops; work that cannot finish by `deadlineMs` returns to the queue. */
export async function drain(
  { live, test, deliveries, photos, chores, beat }: Loops,
  { gate, pool, endings }: { gate: FetchGate; pool: RenderPool; endings: Endings },
  deadlineMs: number,
): Promise<void> {
  // Creates that are fetching continue to their 202; those only waiting for a slot would delay the stop too
  // long.
  gate.close();
  endings.close();
  const deadline = setTimeout(() => void pool.close(), deadlineMs);
  await Promise.all([live, test, deliveries, photos, ...chores].map((loop) => loop.stop()));
  clearTimeout(deadline);
  // The last to stop: nobody shall take over what is just being finished.
  await beat?.stop();
}
