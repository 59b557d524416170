import { MAX_PREFERRED_WAIT_S } from "../core/picture-limits.ts";

/**
 * In seconds; longer than the slowest create, whose photo takes the full 10 s, and which then waits for its
 * image.
 */
export const IDLE_SECONDS = 30 + MAX_PREFERRED_WAIT_S;
/**
 * The same for a file: it may wait for others to be written, and a client that reads a gigabyte may stop for
 * longer. What is cut off must begin anew. Bun allows 255 at most.
 */
export const FILE_IDLE_SECONDS = 240;

/**
 * How long the connection of a request may be silent. By the address, since a file's connection is silent
 * before the answer begins, too.
 */
export const idleSecondsOf = (url: string): number =>
  // Not parsed: with a broken Host header it is no address at all.
  /^[^?]*(\.(zip|pdf|csv)|\/(print|manifest))(\?|$)/.test(url) ? FILE_IDLE_SECONDS : IDLE_SECONDS;
