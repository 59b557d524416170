import type { Environment } from "../core/account.ts";
import type { QueuePosition } from "../store/engine/postgres-jobs.ts";
import type { Image, Lease } from "../store/images/images.ts";
import type { Tx } from "../store/store.ts";

/**
 * The queue of renders: who works on which image, in which order, and who comes next when a worker died. What
 * becomes of an image is in its row, which partners see; both change in one transaction, so that they
 * never disagree.
 */
export interface Jobs {
  /** In the transaction that queues these images; their turns say in which order they are served. */
  enqueue(tx: Tx, images: readonly QueuedImage[]): Promise<void>;
  /**
   * Whether something waits to be claimed: a look before claiming, so that an idle service opens no
   * transaction.
   */
  isWaiting(environment: Environment, now: number): Promise<boolean>;
  /** Claims the next image for one render: it is `rendering` under a lease. Undefined when nothing waits. */
  claim(tx: Tx, claim: Claim): Promise<Claimed | undefined>;
  /** Shows others that this process works on a claimed image, until the returned function is called. */
  heartbeat(lease: Lease): () => void;
  /**
   * In the transaction that ends an image. False when the lease was lost, and then nothing may be changed.
   */
  end(tx: Tx, lease: Lease): Promise<boolean>;
  /**
   * In the transaction that queues an image again, to be claimed after a pause. False when the lease was
   * lost.
   */
  requeue(tx: Tx, lease: Lease, pauseMs: number): Promise<boolean>;
  /**
   * In a transaction that is about to end images for other reasons, before it locks any: nobody claims one of
   * them until it is over. A job is locked before its image everywhere, or two that meet would wait for each
   * other.
   */
  lock(tx: Tx, imageIds: readonly string[]): Promise<void>;
  /**
   * In the transaction that ends images for other reasons, claimed or not. A renderer then finds its lease
   * lost.
   */
  cancel(tx: Tx, images: readonly Pick<Image, "id" | "environment">[]): Promise<void>;
  /** Moves all waiting images of an account's lane back by one turn. See postponeTurns. */
  postpone(tx: Tx, lane: AccountLane): Promise<void>;
  /**
   * Looks at the next unfinished images behind `after`, and queues those that should wait here and do not,
   * such as copied ones. Returns the last it has looked at; undefined: there were none.
   */
  enqueueMissing(tx: Tx, after: QueuePosition | undefined): Promise<QueuePosition | undefined>;
  /**
   * Has what dead workers held claimed by others; to be called by a service every JOB_SUPERVISION_MS.
   * Several do it for one queue no more often than one. Absent where requeueAbandoned does it all.
   */
  supervise?: () => Promise<void>;
}

export interface OpenJobs extends Jobs {
  close(): Promise<void>;
}

export type QueuedImage = Pick<Image, "id" | "environment" | "turn">;

export type AccountLane = Pick<Image, "accountId" | "environment" | "lane">;

export interface Claim {
  environment: Environment;
  /** Begins the token of the lease. */
  token: string;
  now: number;
  leaseExpiresAt: number;
}

/**
 * A claimed image; its lease token is set. `isSpent`: its workers died until no render was left, so it is to
 * fail.
 */
export type Claimed = Image & { leaseToken: string; isSpent?: boolean };

/**
 * Queues the unfinished images that the queue does not know: those from before it, or copied from elsewhere.
 */
export async function enqueueAllMissing(
  next: (after?: QueuePosition) => ReturnType<Jobs["enqueueMissing"]>,
): Promise<void> {
  for (let after = await next(); after; ) after = await next(after);
}
