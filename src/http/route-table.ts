import { API_PATHS, SHARED_PATHS } from "../core/api-paths.ts";
import type { KeyScope } from "../core/key-rules.ts";
import type { Exchange } from "./exchange.ts";

export interface Route {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `{name}` for what is given, as OpenAPI writes it; `*` at the end is whatever follows. */
  path: string;
  /** `partner`: requires an account's key, and counts against its budget. */
  access: "anyone" | "partner";
  /** What a partner's key must be allowed to do. */
  scope?: KeyScope;
  /**
   * The name in /metrics, if it is not the path. There are few, so that paths cannot multiply time series.
   */
  label?: string;
}

/**
 * Every route except the console's: the source for routing, 405 responses, metrics and the published
 * operations. A partner route is named after its operation.
 */
export const ROUTES = {
  createImage: { method: "POST", path: API_PATHS.images, access: "partner", scope: "create" },
  listImages: { method: "GET", path: API_PATHS.images, access: "partner", scope: "read" },
  getImage: { method: "GET", path: API_PATHS.image, access: "partner", scope: "read" },
  changeImage: { method: "PATCH", path: API_PATHS.image, access: "partner", scope: "create" },
  deleteImage: { method: "DELETE", path: API_PATHS.image, access: "partner", scope: "delete" },
  remakeImage: { method: "POST", path: API_PATHS.imageRemake, access: "partner", scope: "create" },
  printImage: { method: "POST", path: API_PATHS.imagePrint, access: "partner", scope: "read" },
  deletePlayer: { method: "DELETE", path: API_PATHS.player, access: "partner", scope: "delete" },
  listConsents: { method: "GET", path: API_PATHS.consents, access: "partner", scope: "read" },
  getConsent: { method: "GET", path: API_PATHS.playerConsent, access: "partner", scope: "read" },
  // Its end deletes the player.
  recordConsent: { method: "POST", path: API_PATHS.playerConsent, access: "partner", scope: "delete" },
  withdrawConsent: { method: "DELETE", path: API_PATHS.playerConsent, access: "partner", scope: "delete" },
  createBatch: { method: "POST", path: API_PATHS.batches, access: "partner", scope: "create" },
  listBatches: { method: "GET", path: API_PATHS.batches, access: "partner", scope: "read" },
  getBatch: { method: "GET", path: API_PATHS.batch, access: "partner", scope: "read" },
  deleteBatch: { method: "DELETE", path: API_PATHS.batch, access: "partner", scope: "create" },
  remakeBatch: { method: "POST", path: API_PATHS.batchRemake, access: "partner", scope: "create" },
  printBatch: { method: "POST", path: API_PATHS.batchPrint, access: "partner", scope: "read" },
  getBatchPictures: { method: "GET", path: API_PATHS.batchPictures, access: "partner", scope: "read" },
  createSet: { method: "POST", path: API_PATHS.sets, access: "partner", scope: "create" },
  listSets: { method: "GET", path: API_PATHS.sets, access: "partner", scope: "read" },
  getSet: { method: "GET", path: API_PATHS.set, access: "partner", scope: "read" },
  changeSet: { method: "PATCH", path: API_PATHS.set, access: "partner", scope: "create" },
  deleteSet: { method: "DELETE", path: API_PATHS.set, access: "partner", scope: "delete" },
  getChecklist: { method: "GET", path: API_PATHS.setChecklist, access: "partner", scope: "read" },
  printChecklist: { method: "GET", path: API_PATHS.setChecklistPages, access: "partner", scope: "read" },
  printAlbum: { method: "GET", path: API_PATHS.setAlbum, access: "partner", scope: "read" },
  fillSet: { method: "POST", path: API_PATHS.setCards, access: "partner", scope: "create" },
  getManifest: { method: "GET", path: API_PATHS.setManifest, access: "partner", scope: "read" },
  getPacks: { method: "GET", path: API_PATHS.setPacks, access: "partner", scope: "read" },
  createPhoto: { method: "POST", path: API_PATHS.photos, access: "partner", scope: "create" },
  listPresets: { method: "GET", path: API_PATHS.presets, access: "partner", scope: "read" },
  getUsage: { method: "GET", path: API_PATHS.usage, access: "partner", scope: "read" },
  createWebhookEndpoint: {
    method: "POST",
    path: API_PATHS.webhookEndpoints,
    access: "partner",
    scope: "webhooks",
  },
  listWebhookEndpoints: {
    method: "GET",
    path: API_PATHS.webhookEndpoints,
    access: "partner",
    scope: "webhooks",
  },
  getWebhookEndpoint: {
    method: "GET",
    path: API_PATHS.webhookEndpoint,
    access: "partner",
    scope: "webhooks",
  },
  changeWebhookEndpoint: {
    method: "PATCH",
    path: API_PATHS.webhookEndpoint,
    access: "partner",
    scope: "webhooks",
  },
  deleteWebhookEndpoint: {
    method: "DELETE",
    path: API_PATHS.webhookEndpoint,
    access: "partner",
    scope: "webhooks",
  },
  rotateWebhookSecret: {
    method: "POST",
    path: API_PATHS.webhookSecret,
    access: "partner",
    scope: "webhooks",
  },
  testWebhookEndpoint: { method: "POST", path: API_PATHS.webhookTest, access: "partner", scope: "webhooks" },
  listEvents: { method: "GET", path: API_PATHS.events, access: "partner", scope: "webhooks" },
  getEvent: { method: "GET", path: API_PATHS.event, access: "partner", scope: "webhooks" },
  redeliverEvent: { method: "POST", path: API_PATHS.eventRedeliver, access: "partner", scope: "webhooks" },
  renderCard: { method: "GET", path: API_PATHS.render, access: "anyone" },
  mcp: { method: "POST", path: "/mcp", access: "anyone" },
  getPicture: { method: "GET", path: "/cdn/{picture}", access: "anyone", label: "/cdn" },
  shareCard: { method: "GET", path: SHARED_PATHS.card, access: "anyone", label: "/share" },
  shareCardFrame: { method: "GET", path: SHARED_PATHS.cardFrame, access: "anyone", label: "/share" },
  gallery: { method: "GET", path: SHARED_PATHS.gallery, access: "anyone", label: "/gallery" },
  shareAsset: { method: "GET", path: "/share/assets/{file}", access: "anyone", label: "/share" },
  oembed: { method: "GET", path: SHARED_PATHS.oembed, access: "anyone" },
  asset: { method: "GET", path: "/assets/{file}", access: "anyone", label: "/assets" },
  element: { method: "GET", path: "/elements/{file}", access: "anyone", label: "/elements" },
  docs: { method: "GET", path: "/docs", access: "anyone" },
  presetSample: { method: "GET", path: "/docs/presets/{picture}", access: "anyone", label: "/docs" },
  docsPage: { method: "GET", path: "/docs/*", access: "anyone", label: "/docs" },
  docsIndex: { method: "GET", path: "/llms.txt", access: "anyone", label: "/docs" },
  status: { method: "GET", path: "/status", access: "anyone" },
  statusJson: { method: "GET", path: "/status.json", access: "anyone", label: "/status" },
  statusFeed: { method: "GET", path: "/status.atom", access: "anyone", label: "/status" },
  statusAsset: { method: "GET", path: "/status/assets/{file}", access: "anyone", label: "/status" },
  live: { method: "GET", path: "/live", access: "anyone" },
  ready: { method: "GET", path: "/ready", access: "anyone" },
  metrics: { method: "GET", path: "/metrics", access: "anyone" },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
export type PartnerRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]["access"] extends "partner" ? Name : never;
}[RouteName];

export const CONSOLE_PATH = "/console";

/** The path in the syntax of Elysia's router. */
export function routerPath({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** The methods allowed for each path. */
export function methodsByPath(): [path: string, methods: Route["method"][]][] {
  const routes: Route[] = Object.values(ROUTES);
  const byPath = Map.groupBy(routes, routerPath);
  return [...byPath].map(([path, found]) => [path, found.map(({ method }) => method).sort()]);
}

const CONSOLE_ROUTE = {
  method: "GET",
  path: `${CONSOLE_PATH}/*`,
  access: "anyone",
  label: CONSOLE_PATH,
} as const;

const LABELS = [...Object.values<Route>(ROUTES), CONSOLE_ROUTE].map((route) => {
  const pattern = route.path.replace("/*", "(/.*)?").replace(/\{\w+\}/g, "[^/]+");
  return { label: labelFor(route), pattern: new RegExp(`^${pattern}/?$`) };
});

/** What a route is called in /metrics: its path, with ids as `:id`. */
export function labelFor({ path, label }: Route): string {
  return label ?? path.replace(/\{\w+\}/g, ":id");
}

const SCOPES = new Map(
  Object.values<Route>(ROUTES).map((route) => [`${route.method} ${labelFor(route)}`, route.scope]),
);

/** What a call's key must be allowed to do; undefined where there is no such route. */
export function scopeOf({ request, route }: Pick<Exchange, "request" | "route">): KeyScope | undefined {
  return SCOPES.get(`${request.method} ${route}`);
}

/** The label of the route that matches a path; "other" when none does. */
export function labelOf(pathname: string): string {
  return FIXED_LABELS.get(pathname) ?? matchingLabel(pathname);
}

function matchingLabel(pathname: string): string {
  return LABELS.find(({ pattern }) => pattern.test(pathname))?.label ?? "other";
}

/** Of the paths without parameters, which most requests have. */
const FIXED_LABELS = new Map(
  Object.values(ROUTES)
    .filter(({ path }) => !/[{*]/.test(path))
    .map(({ path }) => [path as string, matchingLabel(path)]),
);
