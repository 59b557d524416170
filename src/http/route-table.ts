export interface Route {
  method: "GET" | "POST" | "DELETE";
  /** With `{name}` for what is given, as OpenAPI writes it; `*` at the end is whatever follows. */
  path: string;
  /** `partner`: with an account's key, and from its budget. */
  access: "anyone" | "partner";
  /** The name in /metrics: few of them, whatever is asked for. */
  label: string;
}

/**
 * Every address that is answered beside the console's, written once: requests are routed by it, other methods refused,
 * requests counted, and the API's operations published. A partner's route is named by its operation.
 */
export const ROUTES = {
  createImage: { method: "POST", path: "/v1/images", access: "partner", label: "/v1/images" },
  listImages: { method: "GET", path: "/v1/images", access: "partner", label: "/v1/images" },
  getImage: { method: "GET", path: "/v1/images/{image_id}", access: "partner", label: "/v1/images/:id" },
  deleteImage: {
    method: "DELETE",
    path: "/v1/images/{image_id}",
    access: "partner",
    label: "/v1/images/:id",
  },
  deletePlayer: {
    method: "DELETE",
    path: "/v1/players/{external_id}",
    access: "partner",
    label: "/v1/players/:id",
  },
  createBatch: { method: "POST", path: "/v1/batches", access: "partner", label: "/v1/batches" },
  listBatches: { method: "GET", path: "/v1/batches", access: "partner", label: "/v1/batches" },
  getBatch: { method: "GET", path: "/v1/batches/{batch_id}", access: "partner", label: "/v1/batches/:id" },
  deleteBatch: {
    method: "DELETE",
    path: "/v1/batches/{batch_id}",
    access: "partner",
    label: "/v1/batches/:id",
  },
  getBatchPictures: {
    method: "GET",
    path: "/v1/batches/{batch_id}/pictures.zip",
    access: "partner",
    label: "/v1/batches/:id/pictures.zip",
  },
  createPhoto: { method: "POST", path: "/v1/photos", access: "partner", label: "/v1/photos" },
  listPresets: { method: "GET", path: "/v1/presets", access: "partner", label: "/v1/presets" },
  getUsage: { method: "GET", path: "/v1/usage", access: "partner", label: "/v1/usage" },
  getPicture: { method: "GET", path: "/cdn/{picture}", access: "anyone", label: "/cdn" },
  asset: { method: "GET", path: "/assets/{file}", access: "anyone", label: "/assets" },
  docs: { method: "GET", path: "/docs", access: "anyone", label: "/docs" },
  docsPage: { method: "GET", path: "/docs/*", access: "anyone", label: "/docs" },
  docsIndex: { method: "GET", path: "/llms.txt", access: "anyone", label: "/docs" },
  live: { method: "GET", path: "/live", access: "anyone", label: "/live" },
  ready: { method: "GET", path: "/ready", access: "anyone", label: "/ready" },
  metrics: { method: "GET", path: "/metrics", access: "anyone", label: "/metrics" },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
export type PartnerRouteName = {
  [Name in RouteName]: (typeof ROUTES)[Name]["access"] extends "partner" ? Name : never;
}[RouteName];

export const CONSOLE_PATH = "/console";

/** The path as Elysia's router writes it. */
export function routerPath({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** The methods of each path, for refusing the others. */
export function methodsByPath(): [path: string, methods: Route["method"][]][] {
  const routes: Route[] = Object.values(ROUTES);
  const byPath = Map.groupBy(routes, routerPath);
  return [...byPath].map(([path, found]) => [path, found.map(({ method }) => method).sort()]);
}

const LABELS = [...Object.values(ROUTES), { path: `${CONSOLE_PATH}/*`, label: CONSOLE_PATH }].map(
  ({ path, label }) => {
    const pattern = path.replace("/*", "(/.*)?").replace(/\{\w+\}/g, "[^/]+");
    return { label, pattern: new RegExp(`^${pattern}/?$`) };
  },
);

/** The name of a path's route. What is no route is "other". */
export function labelOf(pathname: string): string {
  return LABELS.find(({ pattern }) => pattern.test(pathname))?.label ?? "other";
}
