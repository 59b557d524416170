import { ImageFailedError, NoAnswerError } from "./errors.ts";
import type { components, operations } from "./schema.d.ts";
import { type CallOptions, type ClientOptions, type Transport, transport } from "./transport.ts";

export * from "./errors.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export { readWebhook, type WebhookEvent, type WebhookRequest } from "./webhooks.ts";

type Schemas = components["schemas"];
type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

export type AcceptedImage = Schemas["AcceptedImage"];
export type CompletedImage = Schemas["CompletedImage"];
export type Image = Schemas["Image"];
export type ImageListItem = Schemas["ImageListItem"];
export type Photo = Schemas["Photo"];
export type Preset = Schemas["Preset"];
export type Usage = Schemas["Usage"];
/** What a card is made of; `type` may be left out. */
export type CardRequest = Omit<Schemas["CreateImageRequest"], "type"> & { type?: "player_card" };

export interface CreateOptions extends CallOptions {
  /**
   * Unique for each card you want, and stored with your job: sent again, it gives the first answer instead of a second
   * card. One is made for the call and its repetitions unless told.
   */
  idempotencyKey?: string;
}

export interface UploadOptions extends CallOptions {
  /** A badge may be smaller than a photo; a photo unless told. */
  use?: "photo" | "badge";
}

export interface WaitOptions extends CallOptions {
  /** How long to wait at most, in milliseconds; five minutes unless told. */
  waitMs?: number;
}

const WAIT_MS = 300_000;
/** The service asks not to be polled more often. */
const POLL_MS = 1_000;

/** The API of one cardpress service, with one key. */
export type Cardpress = ReturnType<typeof cardpress>;

/**
 * The API of the cardpress service at an address. Refusals are thrown as CardpressError; what may succeed later (429, 5xx,
 * broken connections) is repeated first, with the same idempotency key.
 */
export function cardpress(options: ClientOptions) {
  const calls = transport(options);
  return {
    images: images(calls),
    photos: {
      /**
       * Sends a photo or badge that you do not host. `url` of the answer is its address for `player.source_image_url` or
       * `branding.club_badge_url`, until `expires_at`.
       */
      upload: (file: Blob, { use = "photo", ...call }: UploadOptions = {}): Promise<Photo> => {
        const form = new FormData();
        form.set("use", use);
        form.set("file", file, "name" in file ? String(file.name) : "photo");
        return calls.call({ method: "POST", path: "/v1/photos", body: form, ...call });
      },
    },
    /** The card templates that `style.preset` can name. */
    presets: async (call: CallOptions = {}): Promise<Preset[]> => {
      const { presets } = await calls.call<Schemas["PresetList"]>({
        method: "GET",
        path: "/v1/presets",
        ...call,
      });
      return presets;
    },
    /** Images and credits of a period. */
    usage: (period: Query<"getUsage">["period"], call: CallOptions = {}): Promise<Usage> =>
      calls.call({ method: "GET", path: "/v1/usage", query: { period }, ...call }),
    /** Deletes every image of a player, with all that belongs to them. */
    deletePlayer: (externalId: string, call: CallOptions = {}): Promise<Schemas["DeletedPlayer"]> =>
      calls.call({
        method: "DELETE",
        path: "/v1/players/{external_id}",
        params: { external_id: externalId },
        ...call,
      }),
  };
}

function images(calls: Transport) {
  const get = (imageId: string, call: CallOptions = {}): Promise<Image> =>
    calls.call({ method: "GET", path: "/v1/images/{image_id}", params: { image_id: imageId }, ...call });

  const create = (
    request: CardRequest,
    { idempotencyKey, ...call }: CreateOptions = {},
  ): Promise<AcceptedImage> =>
    calls.call({
      method: "POST",
      path: "/v1/images",
      headers: { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() },
      body: { ...request, type: "player_card" },
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
      const key = idempotencyKey === undefined ? {} : { idempotencyKey };
      const accepted = await create(request, { ...key, signal: rest.signal });
      return wait(accepted.image_id, rest);
    },
    /** Every image, newest first, page by page as you walk. */
    list: (query: Omit<Query<"listImages">, "after"> = {}, call: CallOptions = {}) =>
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

async function* walk<Item>(
  page: (after: string | undefined) => Promise<{ items: Item[]; next: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    yield* items;
    after = next ?? undefined;
  } while (after !== undefined);
}
