import { batches } from "./batches.ts";
import { consents } from "./consents.ts";
import { events, webhookEndpoints } from "./endpoints.ts";
import { images } from "./images.ts";
import type { UploadOptions } from "./options.ts";
import type { components, operations } from "./schema.d.ts";
import { sets } from "./sets.ts";
import { type CallOptions, type ClientOptions, transport } from "./transport.ts";

export type { AcceptedBatch, Batch, BatchDetail, BatchRequest, BatchWaitOptions } from "./batches.ts";
export type { PlayerConsent } from "./consents.ts";
export type {
  EndpointRequest,
  EventDetail,
  EventItem,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from "./endpoints.ts";
export * from "./errors.ts";
export type { AcceptedImage, CompletedImage, Image, ImageChanges, ImageListItem } from "./images.ts";
export type {
  CardRequest,
  CreateOptions,
  PreferOptions,
  RemakeRequest,
  UploadOptions,
  WaitOptions,
} from "./options.ts";
export type { CardSet, Checklist, PackQuery, Packs, SetChanges, SetRequest } from "./sets.ts";
export { type AddressCard, type AddressOptions, signedCardUrl } from "./signing.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export { readWebhook, type WebhookEvent, type WebhookRequest } from "./webhooks.ts";

type Schemas = components["schemas"];
type Period = NonNullable<operations["getUsage"]["parameters"]["query"]>["period"];

export type Photo = Schemas["Photo"];
export type Preset = Schemas["Preset"];
export type Usage = Schemas["Usage"];

/** The API of one cardpress service, with one key. */
export type Cardpress = ReturnType<typeof cardpress>;

/**
 * The API of the cardpress service at an address. Refusals are thrown as CardpressError; what may succeed
 * later (429, 5xx, broken connections) is repeated first, with the same idempotency key.
 */
export function cardpress(options: ClientOptions) {
  const calls = transport(options);
  return {
    images: images(calls),
    batches: batches(calls),
    sets: sets(calls),
    consents: consents(calls),
    webhookEndpoints: webhookEndpoints(calls),
    events: events(calls),
    photos: {
      /**
       * Sends a photo or badge that you do not host. `url` of the answer is its address for
       * `player.source_image_url` or `branding.club_badge_url`, until `expires_at`.
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
    usage: (period: Period, call: CallOptions = {}): Promise<Usage> =>
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
