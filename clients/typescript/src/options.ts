import type { components } from "./schema.d.ts";
import type { CallOptions } from "./transport.ts";

type Schemas = components["schemas"];

/** What a card is made of; `type` may be left out. */
export type CardRequest = Schemas["CreateImageRequest"];
/** The fields to change in a card that is made again. */
export type RemakeRequest = Schemas["RemakeImageRequest"];

export interface CreateOptions extends CallOptions {
  /**
   * Unique for each card, batch or set you want, and stored with your job: sent again, it gives the first
   * answer instead of a second one. One is made for the call and its repetitions by default.
   */
  idempotencyKey?: string;
}

export interface PreferOptions {
  /**
   * For how many seconds the service may wait for the card before it answers; 15 at most by default, which is
   * half of what an attempt may take. The answer is the finished card, if it is ready by then.
   */
  wait: number;
}

export interface UploadOptions extends CallOptions {
  /** A badge may be smaller than a photo; a photo by default. */
  use?: "photo" | "badge";
}

export interface WaitOptions extends CallOptions {
  /**
   * How long to wait at most, in milliseconds; five minutes for an image and two hours for a batch by
   * default.
   */
  waitMs?: number;
}

/** The service asks not to be polled more often. */
export const POLL_MS = 1_000;

/** The header that asks the service to wait, none for less than a second. */
export function preferHeader(seconds: number | undefined): Record<string, string> {
  const whole = Math.floor(seconds ?? 0);
  return whole > 0 ? { Prefer: `wait=${whole}` } : {};
}

export function idempotencyHeader(key: string | undefined): Record<string, string> {
  return { "Idempotency-Key": key ?? crypto.randomUUID() };
}

/** The card as the API takes it. */
export function typed(card: CardRequest): CardRequest {
  return { ...card, type: "player_card" };
}
