/** Every address of the API begins with it. */
export const API_PREFIX = "/v1/";

/**
 * The API's addresses, with `{name}` for what is given, as OpenAPI writes them. Routing, answers,
 * documentation and samples all read them from here.
 */
export const API_PATHS = {
  images: "/v1/images",
  image: "/v1/images/{image_id}",
  imageRemake: "/v1/images/{image_id}/remake",
  imagePrint: "/v1/images/{image_id}/print",
  player: "/v1/players/{external_id}",
  consents: "/v1/consents",
  playerConsent: "/v1/players/{external_id}/consent",
  batches: "/v1/batches",
  batch: "/v1/batches/{batch_id}",
  batchRemake: "/v1/batches/{batch_id}/remake",
  batchPrint: "/v1/batches/{batch_id}/print",
  batchPictures: "/v1/batches/{batch_id}/pictures.zip",
  sets: "/v1/sets",
  set: "/v1/sets/{set_id}",
  setChecklist: "/v1/sets/{set_id}/checklist",
  setChecklistPages: "/v1/sets/{set_id}/checklist.pdf",
  setAlbum: "/v1/sets/{set_id}/album.pdf",
  setCards: "/v1/sets/{set_id}/cards",
  setManifest: "/v1/sets/{set_id}/manifest",
  setPacks: "/v1/sets/{set_id}/packs",
  photos: "/v1/photos",
  /** Names an uploaded photo as a source. Nothing answers it: photos are read, never handed out. */
  photo: "/v1/photos/{photo_id}",
  /** A card by a signed address, made when it is first asked for. */
  render: "/v1/render/{preset}",
  presets: "/v1/presets",
  usage: "/v1/usage",
  webhookEndpoints: "/v1/webhook_endpoints",
  webhookEndpoint: "/v1/webhook_endpoints/{endpoint_id}",
  webhookSecret: "/v1/webhook_endpoints/{endpoint_id}/rotate_secret",
  webhookTest: "/v1/webhook_endpoints/{endpoint_id}/test",
  events: "/v1/events",
  event: "/v1/events/{event_id}",
  eventRedeliver: "/v1/events/{event_id}/redeliver",
} as const;

/** Pages for readers who have no key: anyone who knows the name in their address may open them. */
export const SHARED_PATHS = {
  card: "/share/{card}",
  /** The card alone, for a frame in another's page. */
  cardFrame: "/share/{card}/embed",
  oembed: "/oembed",
  gallery: "/gallery/{gallery}",
} as const;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** `path` with its `{name}`s filled in, such as `/v1/images/img_5mJd`. */
export function fillPath<Path extends string>(path: Path, values: Record<NamesIn<Path>, string>): string {
  const byName: Record<string, string> = values;
  const parts = PARTS.get(path) ?? path.split(/\{(\w+)\}/);
  PARTS.set(path, parts);
  return parts
    .map((part, place) => (place % 2 === 0 ? part : encodeURIComponent(byName[part] ?? "")))
    .join("");
}

/** Each path as text, name, text and so on, found once. */
const PARTS = new Map<string, string[]>();
