import { NoAnswerError } from "./errors.ts";
import {
  type CardRequest,
  type CreateOptions,
  idempotencyHeader,
  POLL_MS,
  typed,
  type WaitOptions,
} from "./options.ts";
import type { components } from "./schema.d.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];

export type AcceptedBatch = Schemas["AcceptedBatch"];
/** A batch with its cards. */
export type BatchDetail = Schemas["BatchDetail"];
/** A batch as lists and webhooks tell it. */
export type Batch = Schemas["Batch"];
export interface BatchRequest {
  /** Shown in the console. */
  name?: string;
  /** Up to 1,000, with external ids that differ. */
  cards: CardRequest[];
}

export interface BatchWaitOptions extends WaitOptions {
  /** Told of the batch each time it was asked for: `progress` goes from 0 to 1. */
  onProgress?: (batch: BatchDetail) => void;
}

const WAIT_MS = 7_200_000;

/** The calls of batches: many cards, all accepted or none. */
export function batches(calls: Transport) {
  const get = (batchId: string, call: CallOptions = {}): Promise<BatchDetail> =>
    calls.call({ method: "GET", path: "/v1/batches/{batch_id}", params: { batch_id: batchId }, ...call });

  return {
    /**
     * All cards are accepted or none: the refusal's `details` name the place of each fault, as
     * `cards[17].player.number`.
     */
    create: (
      { cards, ...rest }: BatchRequest,
      { idempotencyKey, ...call }: CreateOptions = {},
    ): Promise<AcceptedBatch> =>
      calls.call({
        method: "POST",
        path: "/v1/batches",
        headers: idempotencyHeader(idempotencyKey),
        body: { ...rest, cards: cards.map(typed) },
        ...call,
      }),
    get,
    /**
     * Asks until each card has ended. Those that could not be made have a `failure` in `images`; nothing is
     * thrown.
     */
    wait: async (
      batchId: string,
      { waitMs = WAIT_MS, onProgress, ...call }: BatchWaitOptions = {},
    ): Promise<BatchDetail> => {
      const ends = calls.now() + waitMs;
      for (;;) {
        const batch = await get(batchId, call);
        onProgress?.(batch);
        // A canceled batch may still have cards that are being rendered.
        if (batch.processing === 0) return batch;
        if (calls.now() >= ends)
          throw new NoAnswerError(`${batchId} is not finished after ${waitMs / 1000} s; ask for it later`);
        await calls.sleep(POLL_MS, call.signal);
      }
    },
    /**
     * Makes cards of a batch again in their places: all that `failed`, or some players' with changes. Sent
     * again it makes and costs nothing new. Wait for the batch afterwards.
     */
    remake: (
      batchId: string,
      change: Schemas["RemakeBatchRequest"],
      call: CallOptions = {},
    ): Promise<AcceptedBatch> =>
      calls.call({
        method: "POST",
        path: "/v1/batches/{batch_id}/remake",
        params: { batch_id: batchId },
        body: change,
        ...call,
      }),
    /** What nobody has begun is not made, and its credits come back. */
    cancel: (batchId: string, call: CallOptions = {}): Promise<BatchDetail> =>
      calls.call({
        method: "DELETE",
        path: "/v1/batches/{batch_id}",
        params: { batch_id: batchId },
        ...call,
      }),
    ...files(calls),
    /** Every batch without its cards, newest first, page by page as you walk. */
    list: (call: CallOptions = {}) =>
      walk(calls, { path: "/v1/batches", ...call }, (page: Schemas["BatchList"]): Batch[] => page.batches),
  };
}

/** The files of a batch. */
function files(calls: Transport) {
  return {
    /**
     * The finished pictures by `external_id` and `cards.csv` with all cards, as the bytes of a ZIP archive
     * while the service writes it. A connection that breaks throws where you read.
     */
    pictures: (batchId: string, call: CallOptions = {}) =>
      calls.stream({
        method: "GET",
        path: "/v1/batches/{batch_id}/pictures.zip",
        params: { batch_id: batchId },
        ...call,
      }),
    /** Its cards with their backs as one PDF for a printer, as the service writes it: pages or sheets. */
    print: (batchId: string, wishes: Schemas["PrintRequest"] = {}, call: CallOptions = {}) =>
      calls.stream({
        method: "POST",
        path: "/v1/batches/{batch_id}/print",
        params: { batch_id: batchId },
        body: wishes,
        ...call,
      }),
  };
}
