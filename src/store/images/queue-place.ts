import { and, asc, eq, inArray, lte, max, type SQL, sql } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import { type ImageState, UNFINISHED_STATES } from "../../core/image-state.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";
import { unfinished } from "./images.ts";

/** The place an image accepted now would get. */
export interface QueuePlace {
  turn: number;
  /** Unfinished images that are served before it, at most as many as were asked for. */
  ahead: number;
  /** All unfinished single images of the environment, likewise. */
  total: number;
}

/** An account's single images and those of its batches are served in parallel. */
export const LANES = { single: 0, batch: 1 } as const;
export type Lane = keyof typeof LANES;

/** How far to count: the caller knows from which number on it makes no difference. */
export type CountLimits = Pick<QueuePlace, "ahead" | "total">;

interface Asked extends CountLimits {
  accountId: string;
  environment: Environment;
  lane: number;
}

/**
 * The next place in the fair order. Each account's images take consecutive turns, and a newcomer starts at
 * the turn being served, so that an account with a thousand waiting images delays another's first image by
 * one render only (start-time fair queueing: Goyal, Vin and Cheng, 1996). One statement, which reads no more
 * of a queue than `most`.
 */
export async function nextPlace(
  tx: Tx,
  { accountId, environment }: Pick<Asked, "accountId" | "environment">,
  { lane = "single", most }: { lane?: Lane; most: CountLimits },
): Promise<QueuePlace> {
  const [found] = await place(tx, { accountId, environment, lane: LANES[lane], ...most });
  if (!found) throw new Error("the queue has no next place");
  return found;
}

const place = prepared("queue place", (tx, asked: Parameters<Asked>) => {
  const { environment } = asked;
  const turn = sql<number>`turns.turn`.mapWith(Number);
  const isAhead = and(inArray(tx.t.images.state, UNFINISHED_STATES), lte(tx.t.images.turn, turn));
  // Written out, as the index of them is.
  const isSingle = sql`${tx.t.images.lane} = 0`;
  return tx.db
    .select({
      turn,
      ahead: counted(tx, environment, isAhead, asked.ahead),
      total: counted(tx, environment, isSingle, asked.total),
    })
    .from(sql`(${nextTurn(tx, asked)}) AS turns`);
});

/** How many unfinished images fit, found by a walk along an index that ends after `most`. */
function counted(
  tx: Tx,
  environment: Parameters<Asked>["environment"],
  which: SQL | undefined,
  most: Parameters<Asked>["ahead"],
) {
  const i = tx.t.images;
  const fitting = tx.db
    .select({ id: i.environment })
    .from(i)
    .where(and(open(tx, environment), which))
    .limit(most);
  return sql<number>`(SELECT count(*) FROM ${fitting} AS counted)`.mapWith(Number);
}

/** The turn being served, or the one after the account's last in this lane where that is later. */
function nextTurn(tx: Tx, { accountId, environment, lane }: Parameters<Asked>): SQL {
  const i = tx.t.images;
  const last = tx.db
    .select({ turn: max(i.turn) })
    .from(i)
    .where(and(eq(i.accountId, accountId), eq(i.lane, lane), open(tx, environment)));
  return sql`SELECT max(turn) AS turn FROM
    (SELECT coalesce(${last} + 1, 0) AS turn UNION ALL SELECT ${servedTurn(tx, environment)}) AS later`;
}

/**
 * The turn being served: the lowest among untried images. An image waiting for a retry keeps its old, low
 * turn and must not pull newcomers down to it, past everyone waiting; when no image is untried, the order
 * continues from the highest turn assigned. A card whose photo is still being fetched also keeps its batch's
 * place.
 */
function servedTurn(tx: Tx, environment: Parameters<Asked>["environment"]): SQL {
  const i = tx.t.images;
  const lowest = (state: ImageState) => {
    const first = tx.db
      .select({ turn: i.turn })
      .from(i)
      .where(and(open(tx, environment), eq(i.state, state), eq(i.renders, 0)))
      .orderBy(asc(i.turn))
      .limit(1);
    return sql`SELECT turn FROM ${first} AS lowest`;
  };
  const untried = sql`SELECT min(turn) FROM (${lowest("waiting")} UNION ALL ${lowest("queued")}) AS untried`;
  const highest = tx.db
    .select({ turn: max(i.turn) })
    .from(i)
    .where(open(tx, environment));
  return sql`coalesce((${untried}), ${highest}, 0)`;
}

function open({ t }: Tx, environment: Parameters<Asked>["environment"]) {
  return and(eq(t.images.environment, environment), unfinished(t));
}
