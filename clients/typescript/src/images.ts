import { ImageFailedError, NoAnswerError } from "./errors.ts";
import {
  type CardRequest,
  type CreateOptions,
  idempotencyHeader,
  POLL_MS,
  type RemakeRequest,
  typed,
  type WaitOptions,
} from "./options.ts";
import type { components, operations } from "./schema.d.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];
type Query = Omit<NonNullable<operations["listImages"]["parameters"]["query"]>, "after" | "metadata.KEY"> & {
  /** Your own key of the metadata and its value, such as `"metadata.season": "2026"`. */
  [key: `metadata.${string}`]: string;
};

export type AcceptedImage = Schemas["AcceptedImage"];
export type CompletedImage = Schemas["CompletedImage"];
export type Image = Schemas["Image"];
export type ImageListItem = Schemas["ImageListItem"];

const WAIT_MS = 300_000;
/** What the service waits with its answer: with the photo's host less than an attempt may take. */
const PREFERRED_WAIT_S = 15;

/** The calls of single images. */
export function images(calls: Transport) {
  const get = (imageId: string, call: CallOptions = {}): Promise<Image> =>
    calls.call({ method: "GET", path: "/v1/images/{image_id}", params: { image_id: imageId }, ...call });

  const create = (
    request: CardRequest,
    { idempotencyKey, ...call }: CreateOptions = {},
  ): Promise<AcceptedImage> =>
    calls.call({
      method: "POST",
      path: "/v1/images",
      headers: idempotencyHeader(idempotencyKey),
      body: typed(request),
      ...call,
    });

  /** Asks until an image is made. Throws an ImageFailedError where it could not be. */
  const wait = async (
    imageId: string,
    { waitMs = WAIT_MS, ...call }: WaitOptions = {},
  ): Promise<CompletedImage> => {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const image = await get(imageId, call);
      if (image.status === "completed") return image;
      if (image.status === "failed") throw new ImageFailedError(image);
      if (waitedMs >= waitMs)
        throw new NoAnswerError(`${imageId} is not ready after ${waitMs / 1000} s; ask for it later`);
      await calls.sleep(POLL_MS, call.signal);
    }
  };

  return {
    create,
    get,
    wait,
    /** Makes a card and waits for it: `result.image_url` is its address. */
    createAndWait: async (
      request: CardRequest,
      { idempotencyKey, ...rest }: CreateOptions & WaitOptions = {},
    ): Promise<CompletedImage> => {
      const { waitMs = WAIT_MS, signal } = rest;
      const seconds = Math.min(PREFERRED_WAIT_S, Math.floor(waitMs / 1000));
      const first = await calls.call<AcceptedImage | Image>({
        method: "POST",
        path: "/v1/images",
        headers: { ...idempotencyHeader(idempotencyKey), Prefer: `wait=${seconds}` },
        body: typed(request),
        signal,
      });
      if (first.status === "completed") return first;
      if (first.status === "failed") throw new ImageFailedError(first);
      return wait(first.image_id, rest);
    },
    /**
     * Makes a new image of what an earlier one was made of, with what is given otherwise; it costs its own
     * credit.
     */
    remake: (
      imageId: string,
      change: RemakeRequest = {},
      { idempotencyKey, ...call }: CreateOptions = {},
    ): Promise<AcceptedImage> =>
      calls.call({
        method: "POST",
        path: "/v1/images/{image_id}/remake",
        params: { image_id: imageId },
        headers: idempotencyHeader(idempotencyKey),
        body: change,
        ...call,
      }),
    /** Every image, newest first, page by page as you walk. */
    list: (query: Query = {}, call: CallOptions = {}) =>
      walk<ImageListItem>(async (after) => {
        const page = await calls.call<Schemas["ImageList"]>({
          method: "GET",
          path: "/v1/images",
          query: { ...query, ...(after === undefined ? {} : { after }) },
          ...call,
        });
        return { items: page.images, next: page.next_cursor };
      }),
    /** Deletes an image with all that belongs to it. */
    delete: (imageId: string, call: CallOptions = {}): Promise<Schemas["DeletedImage"]> =>
      calls.call({ method: "DELETE", path: "/v1/images/{image_id}", params: { image_id: imageId }, ...call }),
  };
}
