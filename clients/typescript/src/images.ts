import { ImageFailedError, NoAnswerError } from "./errors.ts";
import {
  type CardRequest,
  type CreateOptions,
  idempotencyHeader,
  POLL_MS,
  type PreferOptions,
  preferHeader,
  type RemakeRequest,
  typed,
  type WaitOptions,
} from "./options.ts";
import type { components, operations } from "./schema.d.ts";
import type { Call, CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];
type Query = Omit<NonNullable<operations["listImages"]["parameters"]["query"]>, "after" | "metadata.KEY"> & {
  /** Your own key of the metadata and its value, such as `"metadata.season": "2026"`. */
  [key: `metadata.${string}`]: string;
};

export type AcceptedImage = Schemas["AcceptedImage"];
export type CompletedImage = Schemas["CompletedImage"];
export type Image = Schemas["Image"];
export type ImageChanges = Schemas["ChangeImageRequest"];
export type ImageListItem = Schemas["ImageListItem"];

const WAIT_MS = 300_000;

/** Makes cards, and asks for them. */
function making(calls: Transport) {
  function get(imageId: string, options: CallOptions & Partial<PreferOptions> = {}): Promise<Image> {
    const { wait: seconds, ...call } = options;
    const headers = preferHeader(seconds);
    return calls.call({
      method: "GET",
      path: "/v1/images/{image_id}",
      params: { image_id: imageId },
      headers,
      ...call,
    });
  }

  function make<Made>(
    call: Pick<Call, "path" | "params" | "body">,
    { idempotencyKey, wait: seconds, ...rest }: CreateOptions & Partial<PreferOptions>,
  ): Promise<Made> {
    const headers = { ...idempotencyHeader(idempotencyKey), ...preferHeader(seconds) };
    return calls.call({ method: "POST", headers, ...call, ...rest });
  }

  /**
   * Makes a card, and answers with its id; with `wait`, with the card itself when it has ended by then.
   * `replayed` says that it is the answer to an earlier create with the same key.
   */
  function create(
    request: CardRequest,
    options: CreateOptions & PreferOptions,
  ): Promise<AcceptedImage | Image>;
  function create(request: CardRequest, options?: CreateOptions): Promise<AcceptedImage>;
  function create(
    request: CardRequest,
    options: CreateOptions & Partial<PreferOptions> = {},
  ): Promise<AcceptedImage | Image> {
    return make({ path: "/v1/images", body: typed(request) }, options);
  }

  /**
   * Makes a new image of what an earlier one was made of, with what is given otherwise; it costs its own
   * credit.
   */
  function remake(
    imageId: string,
    change: RemakeRequest,
    options: CreateOptions & PreferOptions,
  ): Promise<AcceptedImage | Image>;
  function remake(imageId: string, change?: RemakeRequest, options?: CreateOptions): Promise<AcceptedImage>;
  function remake(
    imageId: string,
    change: RemakeRequest = {},
    options: CreateOptions & Partial<PreferOptions> = {},
  ): Promise<AcceptedImage | Image> {
    const path = "/v1/images/{image_id}/remake";
    return make({ path, params: { image_id: imageId }, body: change }, options);
  }

  return { create, get, remake };
}

/** The calls of single images. */
export function images(calls: Transport) {
  const { create, get, remake } = making(calls);

  /** Waits until an image is made. Throws an ImageFailedError where it could not be. */
  async function wait(
    imageId: string,
    { waitMs = WAIT_MS, ...call }: WaitOptions = {},
  ): Promise<CompletedImage> {
    const ends = calls.now() + waitMs;
    for (;;) {
      const began = calls.now();
      const image = await get(imageId, { wait: Math.min(calls.maxWaitS, (ends - began) / 1000), ...call });
      if (image.status !== "processing") return finished(image);
      if (calls.now() >= ends)
        throw new NoAnswerError(`${imageId} is not ready after ${waitMs / 1000} s; ask for it later`);
      // A busy service may answer at once.
      await calls.sleep(Math.max(0, POLL_MS - (calls.now() - began)), call.signal);
    }
  }

  return {
    create,
    get,
    wait,
    /** Makes a card and waits for it: `result.image_url` is its address. */
    createAndWait: async (
      request: CardRequest,
      { idempotencyKey, waitMs = WAIT_MS, ...call }: CreateOptions & WaitOptions = {},
    ): Promise<CompletedImage> => {
      const ends = calls.now() + waitMs;
      const key = idempotencyKey === undefined ? {} : { idempotencyKey };
      const seconds = Math.min(calls.maxWaitS, waitMs / 1000);
      const first = await create(request, { ...key, wait: seconds, ...call });
      if (first.status !== "processing") return finished(first);
      const image = await wait(first.image_id, { waitMs: Math.max(0, ends - calls.now()), ...call });
      return first.replayed === undefined ? image : { ...image, replayed: first.replayed };
    },
    remake,
    /** Every image, newest first, page by page as you walk. */
    list: (query: Query = {}, call: CallOptions = {}) =>
      walk(
        calls,
        { path: "/v1/images", query, ...call },
        (page: Schemas["ImageList"]): ImageListItem[] => page.images,
      ),
    /** A finished card with its back as a PDF for a printer, as the service writes it. */
    print: (imageId: string, wishes: Schemas["PrintRequest"] = {}, call: CallOptions = {}) =>
      calls.stream({
        method: "POST",
        path: "/v1/images/{image_id}/print",
        params: { image_id: imageId },
        body: wishes,
        ...call,
      }),
    /** Moves the time at which it is published until that has come; `null` publishes it at once. */
    change: (imageId: string, changes: ImageChanges, call: CallOptions = {}): Promise<Image> =>
      calls.call({
        method: "PATCH",
        path: "/v1/images/{image_id}",
        params: { image_id: imageId },
        body: changes,
        ...call,
      }),
    /** Deletes an image with all that belongs to it. */
    delete: (imageId: string, call: CallOptions = {}): Promise<Schemas["DeletedImage"]> =>
      calls.call({ method: "DELETE", path: "/v1/images/{image_id}", params: { image_id: imageId }, ...call }),
  };
}

function finished(image: Exclude<Image, { status: "processing" }>): CompletedImage {
  if (image.status === "failed") throw new ImageFailedError(image);
  return image;
}
