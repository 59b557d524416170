import { and, asc, eq, sql } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import type { ImageState } from "../../core/image-state.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";
import { MAX_COUNTED } from "./image-reads.ts";
import { unfinished } from "./images.ts";

/** What waits, and what is being rendered, in one environment. */
export interface QueueDepth {
  /**
   * At most MAX_COUNTED, as of those being rendered: what is asked every few seconds must not count a long
   * queue.
   */
  queued: number;
  rendering: number;
  /** When the image that has waited longest was created, epoch ms; null while none waits. */
  oldestQueuedAt: number | null;
}

/**
 * The oldest is looked for among so many that are rendered next. An account's images are rendered in the
 * order they came, so the oldest of all is some account's next one: it is found unless more accounts than
 * these wait.
 */
const MAX_NEXT = 1_000;

const depth = prepared("queue depth", (tx, { environment }: Parameters<{ environment: Environment }>) => {
  const i = tx.t.images;
  const inState = (state: ImageState) =>
    and(eq(i.environment, environment), unfinished(tx.t), eq(i.state, state));
  const counted = (state: ImageState) => {
    const some = tx.db.select({ state: i.state }).from(i).where(inState(state)).limit(MAX_COUNTED);
    return sql<number>`(SELECT count(*) FROM ${some} AS counted)`.mapWith(Number);
  };
  const next = tx.db
    .select({ createdAt: i.createdAt })
    .from(i)
    .where(inState("queued"))
    .orderBy(asc(i.turn))
    .limit(MAX_NEXT);
  return tx.db
    .select({
      queued: counted("queued"),
      rendering: counted("rendering"),
      oldestQueuedAt: sql<number | null>`(SELECT min(created_at) FROM ${next} AS next)`.mapWith(Number),
    })
    .from(sql`(SELECT 1) AS one`);
});

/** How many images are waiting and being rendered, and how long the oldest has waited. */
export async function queueDepth(tx: Tx, environment: Environment): Promise<QueueDepth> {
  const [found] = await depth(tx, { environment });
  return found ?? { queued: 0, rendering: 0, oldestQueuedAt: null };
}
