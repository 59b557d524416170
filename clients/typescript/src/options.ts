import type { components } from "./schema.d.ts";
import type { CallOptions } from "./transport.ts";

type Schemas = components["schemas"];

/** What a card is made of; `type` may be left out. */
export type CardRequest = Omit<Schemas["CreateImageRequest"], "type"> & { type?: "player_card" };
/** The fields to change in a card that is made again. */
export type RemakeRequest = Schemas["RemakeImageRequest"];

export interface CreateOptions extends CallOptions {
  /**
   * Unique for each card or batch you want, and stored with your job: sent again, it gives the first answer
   * instead of a second card. One is made for the call and its repetitions by default.
   */
  idempotencyKey?: string;
}

export interface UploadOptions extends CallOptions {
  /** A badge may be smaller than a photo; a photo by default. */
  use?: "photo" | "badge";
}

export interface WaitOptions extends CallOptions {
  /**
   * How long to wait at most, in milliseconds; five minutes for an image and an hour for a batch by default.
   */
  waitMs?: number;
}

/** The service asks not to be polled more often. */
export const POLL_MS = 1_000;

export function idempotencyHeader(key: string | undefined): Record<string, string> {
  return { "Idempotency-Key": key ?? crypto.randomUUID() };
}

/** The card as the API takes it. */
export function typed(card: CardRequest): Schemas["CreateImageRequest"] {
  return { ...card, type: "player_card" };
}
