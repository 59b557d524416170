import { API_PATHS, fillPath } from "../../core/api-paths.ts";
import { FAILURE_REASONS } from "../../core/failure-reasons.ts";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";

/** The examples of the documentation, written once. Tests validate them against the schemas. */

const IMAGE_ID = "img_5mJd0nV7rQe2TzXyB8kWc3Hs";
const CREATED_AT = "2026-11-21T10:00:00.000Z";
const COMPLETED_AT = "2026-11-21T10:00:03.412Z";

const PLAYER = {
  external_id: "player-10442",
  name: "Maya Okafor",
  position: "ST",
  number: 9,
  skill_level: 87,
  source_image_url: "https://images.example.org/players/10442.jpg",
};
const METADATA = { season: "2026", squad: "first team" };

const sent = {
  external_id: PLAYER.external_id,
  name: PLAYER.name,
  metadata: METADATA,
  batch_id: null,
  style: { preset: "club_card", width: 1024, height: 1280, background_theme: "stadium night" },
};
const completed = {
  image_id: IMAGE_ID,
  status: "completed",
  result: {
    image_url: `https://cdn.example.org/${IMAGE_ID}-Zq81LmB0xYtR4vNc.png`,
    back_url: null,
    share_url: `https://cards.example.org/share/${IMAGE_ID}-Zq81LmB0xYtR4vNc`,
    width: 1024,
    height: 1280,
    content_type: "image/png",
    composition: "photo",
    expires_at: "2026-12-21T10:00:03.412Z",
  },
  usage: { credits_used: 1 },
  created_at: CREATED_AT,
  completed_at: COMPLETED_AT,
  ...sent,
};
const failed = {
  image_id: IMAGE_ID,
  status: "failed",
  failure: {
    code: "IMAGE_PROCESSING_FAILED",
    message: PHOTO_REFUSALS.no_player,
    reason: "no_player",
    hint: FAILURE_REASONS.no_player.hint,
  },
  created_at: CREATED_AT,
  completed_at: COMPLETED_AT,
  ...sent,
};

const answer = (data: object) => ({ success: true, data, error: null });
const event = (type: string, data: object) => ({
  type,
  timestamp: COMPLETED_AT,
  environment: "live",
  data,
});

/** The create requests, for the first available template. */
export function createExamples([preset]: readonly string[]) {
  return {
    full: {
      type: "player_card",
      player: PLAYER,
      style: { preset, width: 1024, height: 1280, background_theme: "stadium night" },
      branding: {
        club_badge_url: "https://images.example.org/badges/rovers.png",
        primary_color: "#C8102E",
        secondary_color: "#F6EB61",
      },
      metadata: METADATA,
    },
    least: { type: "player_card", player: PLAYER, style: { preset } },
  };
}

/** The body of a batch, for a service with these presets. */
export function batchExample(presets: readonly string[]) {
  const { least } = createExamples(presets);
  const second = { ...least.player, external_id: "player-10443", name: "Ada Moreau", number: 10 };
  return { name: "First team 2026", cards: [least, { ...least, player: second }] };
}

const BATCH_ID = "bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9";
const batch = {
  batch_id: BATCH_ID,
  name: "First team 2026",
  status: "completed",
  total: 2,
  completed: 1,
  failed: 1,
  canceled: 0,
  processing: 0,
  progress: 1,
  created_at: CREATED_AT,
  updated_at: COMPLETED_AT,
  canceled_at: null,
  completed_at: COMPLETED_AT,
};
const processingBatch = {
  ...batch,
  status: "processing",
  completed: 0,
  failed: 0,
  canceled: 0,
  processing: 2,
  progress: 0,
  updated_at: CREATED_AT,
  completed_at: null,
};
const SECOND_ID = "img_8Yc0PqLw3NvT6sRkZ1mXb4Hd";
const batchPaths = {
  poll_url: fillPath(API_PATHS.batch, { batch_id: BATCH_ID }),
  pictures_url: fillPath(API_PATHS.batchPictures, { batch_id: BATCH_ID }),
};
const batchImage = (image_id: string, external_id: string, status: string) => ({
  image_id,
  external_id,
  status,
  image_url: status === "completed" ? completed.result.image_url : null,
  back_url: null,
  failure: status === "failed" ? failed.failure : null,
  change: null,
});
const batchImages = (first: string, second: string) => [
  batchImage(IMAGE_ID, "player-10442", first),
  batchImage(SECOND_ID, "player-10443", second),
];

const ENDPOINT_ID = "ep_3TqZ8rXm5dYE7Wc2Lk9VbTnX";
const endpoint = {
  endpoint_id: ENDPOINT_ID,
  url: "https://club.example.com/hooks/cards",
  events: ["image.completed", "image.failed"],
  environment: "live",
  state: "enabled",
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  last_success_at: COMPLETED_AT,
  old_secret_expires_at: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};
const greeting = { endpoint_id: ENDPOINT_ID, message: "This is a test. Webhooks arrive at this endpoint." };
const happened = (type: string, data: object) => ({
  event_id: "evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE",
  type,
  environment: "live",
  data,
  created_at: COMPLETED_AT,
});
const delivery = {
  delivery_id: "dlv_0Hq3ZrX9mLk2VbTnWc7YdE5s",
  endpoint_id: ENDPOINT_ID,
  state: "delivered",
  next_attempt_at: null,
  delivered_at: "2026-11-21T10:00:03.580Z",
  attempts: [{ started_at: "2026-11-21T10:00:03.498Z", duration_ms: 82, status: 200, error: null }],
};

const CONSENT = {
  external_id: "player-10442",
  status: "given",
  photo: true,
  full_name: false,
  until: "2027-06-30T23:59:59.999Z",
  withdrawn_at: null,
  recalled_at: null,
  updated_at: "2026-11-21T10:00:00.000Z",
};

export const EXAMPLES = {
  webhookEndpointRequest: { url: endpoint.url, events: endpoint.events },
  webhookEndpoint: answer(endpoint),
  webhookSecret: answer({ ...endpoint, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
  webhookEndpoints: answer({ webhook_endpoints: [endpoint] }),
  deletedWebhookEndpoint: answer({ endpoint_id: ENDPOINT_ID, deleted_at: "2026-11-28T09:15:00.000Z" }),
  event: answer({ ...happened("image.completed", completed), deliveries: [delivery] }),
  testEvent: answer({
    ...happened("webhook.test", greeting),
    deliveries: [
      { ...delivery, state: "pending", next_attempt_at: COMPLETED_AT, delivered_at: null, attempts: [] },
    ],
  }),
  events: answer({ events: [happened("image.completed", completed)], has_more: false, next_cursor: null }),
  acceptedBatch: answer({
    ...processingBatch,
    ...batchPaths,
    images: batchImages("processing", "processing"),
    eta_seconds: 12,
  }),
  batch: answer({ ...batch, ...batchPaths, images: batchImages("completed", "failed") }),
  canceledBatch: answer({
    ...batch,
    ...batchPaths,
    status: "canceled",
    canceled_at: COMPLETED_AT,
    images: batchImages("completed", "failed"),
  }),
  batchList: answer({ batches: [batch], has_more: false, next_cursor: null }),
  accepted: answer({
    image_id: IMAGE_ID,
    status: "processing",
    poll_url: fillPath(API_PATHS.image, { image_id: IMAGE_ID }),
    eta_seconds: 4,
    created_at: CREATED_AT,
  }),
  processing: answer({
    image_id: IMAGE_ID,
    status: "processing",
    progress: 0.35,
    created_at: CREATED_AT,
    updated_at: "2026-11-21T10:00:01.120Z",
    ...sent,
  }),
  completed: answer(completed),
  putOff: answer({ ...completed, publish_at: "2026-12-06T20:00:00.000Z" }),
  failed: answer(failed),
  photo: answer({
    photo_id: "pho_6TzXyB8kWc3Hs5mJd0nV7rQe",
    url: "https://cards.example.org/v1/photos/pho_6TzXyB8kWc3Hs5mJd0nV7rQe",
    content_type: "image/jpeg",
    width: 1600,
    height: 2000,
    bytes: 1_482_330,
    created_at: CREATED_AT,
    expires_at: "2026-11-28T10:00:00.000Z",
  }),
  deletedImage: answer({ image_id: IMAGE_ID, deleted_at: "2026-11-28T09:15:00.000Z" }),
  consent: answer(CONSENT),
  consentList: answer({ consents: [CONSENT], has_more: false, next_cursor: null }),
  withdrawnConsent: answer({
    ...CONSENT,
    status: "withdrawn",
    until: "2026-11-28T09:15:00.000Z",
    withdrawn_at: "2026-11-28T09:15:00.000Z",
    recalled_at: "2026-11-28T09:15:01.000Z",
    updated_at: "2026-11-28T09:15:00.000Z",
    images_deleted: 3,
  }),
  deletedPlayer: answer({ images_deleted: 3, deleted_at: "2026-11-28T09:15:00.000Z" }),
  list: answer({
    images: [
      {
        image_id: "img_8Yc0PqLw3NvT6sRkZ1mXb4Hd",
        status: "processing",
        type: "player_card",
        created_at: "2026-11-21T10:02:30.000Z",
        completed_at: null,
        external_id: "player-10443",
        name: "Ada Moreau",
        metadata: null,
        batch_id: BATCH_ID,
        style: { preset: "club_card" },
      },
      {
        image_id: IMAGE_ID,
        status: "completed",
        type: "player_card",
        created_at: CREATED_AT,
        completed_at: COMPLETED_AT,
        ...sent,
      },
    ],
    has_more: true,
    next_cursor: "MTc5NTI1NTIwMDAwMC5pbWdfNW1KZDBuVjdyUWUyVHpYeUI4a1djM0hzLjlmMmI0YzFkMGUzYQ",
  }),
  presets: answer({
    presets: [
      {
        name: "club_card",
        version: "1.0.0",
        title: "Club card",
        description: "A cut-corner plaque in brushed metal; the player steps out over its upper edge.",
        sample_url: "https://cards.example.org/docs/presets/club_card-b2f393db0c7be35c.webp",
        sizes: [
          { name: "portrait", width: 1024, height: 1280 },
          { name: "landscape", width: 1600, height: 900 },
        ],
        min_aspect_ratio: 0.62,
        max_aspect_ratio: 2.1,
        layouts: [
          { name: "portrait", min_aspect_ratio: 0.62, max_aspect_ratio: 0.9 },
          { name: "square", min_aspect_ratio: 0.9, max_aspect_ratio: 1.3 },
          { name: "landscape", min_aspect_ratio: 1.3, max_aspect_ratio: 2.1 },
        ],
        compositions: ["photo", "cutout"],
        layers: true,
        foil: true,
        back: false,
        fields: null,
      },
    ],
    formats: ["png", "webp", "jpeg", "webp-animated", "webm", "pdf"],
  }),
  usage: answer({
    period: "2026-11",
    images_requested: 412,
    images_completed: 398,
    images_failed: 9,
    credits_used: 398,
    credits_remaining: 602,
    credit_limit: 1000,
    environment: "live",
  }),
  webhooks: {
    "image.completed": event("image.completed", completed),
    "image.failed": event("image.failed", failed),
    "image.published": event("image.published", completed),
    "batch.completed": event("batch.completed", batch),
    "credits.low": event("credits.low", { credits_remaining: 200, credit_limit: 1000 }),
    "player.recalled": event("player.recalled", {
      external_id: "player-10442",
      reason: "withdrawn",
      images_deleted: 3,
      recalled_at: "2026-11-28T09:15:01.000Z",
    }),
    "usage.alert": event("usage.alert", { period: "2026-11", credits_used: 800, budget: 1000, percent: 80 }),
    "webhook.test": event("webhook.test", greeting),
  },
} as const;
