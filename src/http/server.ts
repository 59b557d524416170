import { Elysia } from "elysia";
import type { ForgetDeps } from "../app/images/forget-image.ts";
import type { UploadDeps } from "../app/images/upload-photo.ts";
import type { RequestLog } from "../app/operations/request-log.ts";
import type { PrintDeps } from "../app/print/print-file.ts";
import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import { API_PREFIX } from "../core/api-paths.ts";
import { basePathOf } from "../core/base-path.ts";
import type { Refusal } from "../core/errors.ts";
import { REQUEST_STORAGE_MS } from "../core/limits.ts";
import { invalidRequest, methodNotAllowed, nothingAt } from "../core/partner-refusals.ts";
import { withDeadlineBudget } from "../core/patience.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { answerCardElement } from "../web/card-element.ts";
import { KIT } from "../web/kit.ts";
import { isProbeInOrder, logAnswer } from "./answer-log.ts";
import { type Caller, type Identify, keyAuthenticator, type PartnerHandler } from "./auth.ts";
import { type BatchRoutesDeps, batchHandlers } from "./batches.ts";
import { bind, type ListenAddress } from "./bind.ts";
import { discardBody } from "./body.ts";
import { type CdnDeps, servePicture } from "./cdn.ts";
import { changeImage } from "./change-image.ts";
import { clientAddress } from "./client-address.ts";
import { consentHandlers } from "./consent.ts";
import { docsHandler } from "./docs.ts";
import { asPartnerRefusal, failure, standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { deleteImage, deletePlayer } from "./forget.ts";
import { live, ready } from "./health.ts";
import { ERROR_STATUS, HttpRefusal, type PartnerRefusal } from "./http-refusal.ts";
import { IDLE_SECONDS, idleSecondsOf } from "./idle-time.ts";
import { listImagesPage } from "./image-list.ts";
import { createImage, getImage, type ImageRoutesDeps } from "./images.ts";
import type { McpRouteDeps } from "./mcp.ts";
import { type MetricsDeps, metrics } from "./metrics.ts";
import { addBasePath, withoutBasePath } from "./mount.ts";
import { createPhoto } from "./photos.ts";
import { listPresets, servePresetSample } from "./presets.ts";
import { printHandlers } from "./print.ts";
import { ADDRESS_BUDGET, type RateLimiter } from "./rate-limit.ts";
import { remakeImage } from "./remake.ts";
import { type RenderDeps, rendering } from "./render.ts";
import { requestMeter } from "./request-meter.ts";
import { requestRow } from "./request-row.ts";
import {
  CONSOLE_PATH,
  labelOf,
  methodsByPath,
  ROUTES,
  type Route,
  type RouteName,
  routerPath,
} from "./route-table.ts";
import { setHandlers } from "./sets.ts";
import { shareHandlers } from "./share/share.ts";
import { statusHandlers } from "./status/status.ts";
import { getUsage } from "./usage.ts";
import { webhookHandlers } from "./webhook-handlers.ts";
import { withoutBody } from "./without-body.ts";

export interface HttpDeps
  extends ImageRoutesDeps,
    ForgetDeps,
    UploadDeps,
    BatchRoutesDeps,
    PrintDeps,
    CdnDeps,
    WebhookContext,
    MetricsDeps,
    RenderDeps,
    Pick<McpRouteDeps, "readSquadList"> {
  limiter: RateLimiter;
  requests: RequestLog;
  templates: TemplateRegistry;
  /** Handles everything under /console; absent when there is no console. */
  pages?: (exchange: Exchange) => Promise<Response>;
}

interface AnswerDeps extends HttpDeps {
  identify: Identify;
  /** The path of its host that the service has; empty where it has all of it. */
  basePath: string;
}

interface RouteDeps extends AnswerDeps {
  /** The whole HTTP side, for routes that ask it themselves. */
  answer: Answer;
}

/** Answers one request from one client address; never rejects. */
export type Answer = (request: Request, peer: string) => Promise<Response>;

/**
 * Our own reader bounds bodies and responds with 413 in the envelope; Bun's limit would cut the connection.
 */
const NO_BUN_BODY_LIMIT = Number.MAX_SAFE_INTEGER;

/** Starts listening. `stop` refuses new connections and waits for the requests in progress. */
export function listen(deps: HttpDeps, address: ListenAddress) {
  const answer = httpAnswer(deps);
  const server = bind(address, () =>
    Bun.serve({
      hostname: address.host,
      port: address.port,
      // Otherwise Bun would let a second server take half the requests, with its own data folder.
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: NO_BUN_BODY_LIMIT,
      // Bun's development error page shows source code.
      development: false,
      fetch: (request, bun) => {
        const idleSeconds = idleSecondsOf(request.url);
        // Bun begins each request with idleTimeout, whatever the one before it on its connection had.
        if (idleSeconds !== IDLE_SECONDS) bun.timeout(request, idleSeconds);
        return answer(request, bun.requestIP(request)?.address ?? "unknown");
      },
    }),
  );
  return { port: server.port ?? address.port, stop: () => server.stop(false) };
}

/** The whole HTTP side as one function, which tests call without a socket. */
export function httpAnswer(httpDeps: HttpDeps): Answer {
  const basePath = basePathOf(httpDeps.config.baseUrl);
  const deps: AnswerDeps = { ...httpDeps, basePath, identify: keyAuthenticator(httpDeps, httpDeps.limiter) };
  const exchanges = new WeakMap<Request, Exchange>();
  const isSecure = deps.config.baseUrl.startsWith("https://");
  const measure = requestMeter(deps.meter);
  const router = routes(
    { ...deps, answer: (request, peer) => answer(request, peer) },
    (request) => exchanges.get(request) as Exchange,
  );
  const answer: Answer = async (incoming, peer) => {
    // As if the service were at the root of its host.
    const mounted = withoutBasePath(incoming, basePath);
    // HEAD is GET without a body (RFC 9110, 9.3.2), for every route.
    const isHead = mounted.method === "HEAD";
    // Bun builds the URL from the Host header, whatever that contains.
    const url = URL.parse(mounted.url);
    const request = isHead && url ? new Request(url, { headers: mounted.headers }) : mounted;
    const exchange = open(deps, request, url ?? PLACEHOLDER_URL, peer);
    exchanges.set(request, exchange);
    const startedAt = performance.now();
    let response: Response;
    try {
      if (!url) throw brokenHost("must be this service's host name.");
      rejectAmbiguousHeaders(mounted);
      response = await withDeadlineBudget(REQUEST_STORAGE_MS, async () => router.fetch(request));
    } catch (error) {
      response = refuse(deps, exchange, error);
    }
    addBasePath(response, basePath);
    const ms = performance.now() - startedAt;
    if (!isProbeInOrder(url?.pathname, response.status)) logAnswer(deps.log, exchange, response.status, ms);
    const method = METHODS.has(mounted.method) ? mounted.method : "other";
    measure(method, exchange.route, response.status, ms / 1000);
    if (!(await discardBody(mounted))) response.headers.set("Connection", "close");
    // Browsers honour it only over TLS, which the proxy in front of us provides.
    if (isSecure) response.headers.set("Strict-Transport-Security", `max-age=${HSTS_SECONDS}`);
    return isHead ? withoutBody(response) : response;
  };
  return answer;
}

const PLACEHOLDER_URL = new URL("http://host.invalid/");
/** A year, as usual: browsers that came once over TLS will use nothing else. */
const HSTS_SECONDS = 365 * 86_400;

/**
 * Throws 400 for what Bun and a proxy in front of it may interpret differently: several Host headers, of
 * which Bun takes the first, and trailer fields, on which Bun closes the connection, often before the
 * response.
 */
function rejectAmbiguousHeaders({ headers }: Request): void {
  if (headers.get("host")?.includes(",")) throw brokenHost("must be given once.");
  if (!headers.has("trailer")) return;
  const message = "must be left out: fields after a body are not read. Send the body without them.";
  throw closing(invalidRequest([{ field: "header Trailer", message }]));
}

function brokenHost(message: string): HttpRefusal {
  return closing(invalidRequest([{ field: "header Host", message }]));
}

function closing(refusal: Refusal): HttpRefusal {
  return new HttpRefusal(refusal, { Connection: "close" });
}

function open(deps: AnswerDeps, request: Request, url: URL, peer: string): Exchange {
  return {
    request,
    url,
    basePath: deps.basePath,
    route: labelOf(url.pathname),
    requestId: deps.random.id("req"),
    clientAddress: clientAddress(request, peer, deps.config.baseUrl),
    // Of an address's budget only refused keys take. What needs no key asks no database: /live and the
    // pictures must be answered while it is out of reach.
    rate: deps.limiter.whole(ADDRESS_BUDGET),
  };
}

type Params = Record<string, string>;
type OpenHandler = (exchange: Exchange, params: Params) => Response | Promise<Response>;
interface Context {
  request: Request;
  /** Null for what is not percent-encoded UTF-8. */
  params?: Record<string, string | null>;
}

/** The handler of each route. */
function handlers(deps: RouteDeps): Record<RouteName, OpenHandler> {
  const partner =
    (handler: PartnerHandler): OpenHandler =>
    (exchange, params) =>
      asPartner(deps, exchange, (known, caller) => handler(known, caller, params));
  const docs = docsHandler(deps.config, deps.templates);
  return {
    createImage: partner((exchange, caller) => createImage(deps, exchange, caller)),
    listImages: partner((exchange, caller) => listImagesPage(deps, exchange, caller)),
    getImage: partner((exchange, caller, { image_id = "" }) => getImage(deps, exchange, caller, image_id)),
    changeImage: partner((exchange, caller, { image_id = "" }) =>
      changeImage(deps, exchange, caller, image_id),
    ),
    deleteImage: partner((exchange, caller, { image_id = "" }) =>
      deleteImage(deps, exchange, caller, image_id),
    ),
    remakeImage: partner((exchange, caller, { image_id = "" }) =>
      remakeImage(deps, exchange, caller, image_id),
    ),
    deletePlayer: partner((exchange, caller, { external_id = "" }) =>
      deletePlayer(deps, exchange, caller, external_id),
    ),
    ...consentHandlers(deps, partner),
    ...batchHandlers(deps, partner),
    ...printHandlers(deps, partner),
    ...setHandlers(deps, partner),
    createPhoto: partner((exchange, caller) => createPhoto(deps, exchange, caller)),
    listPresets: partner((exchange) => listPresets(deps, exchange)),
    getUsage: partner((exchange, caller) => getUsage(deps, exchange, caller)),
    ...webhookHandlers(deps, partner),
    renderCard: rendering(deps),
    mcp: lazily(async () => (await import("./mcp.ts")).mcpRoute(deps)),
    ...shareHandlers(deps),
    ...statusHandlers(deps),
    getPicture: (exchange, { picture = "" }) => servePicture(deps, exchange, picture),
    asset: (exchange) =>
      KIT.answer(exchange.request, exchange.url, standardHeaders(exchange)) ?? unknownRoute(exchange),
    element: (exchange) =>
      answerCardElement(exchange.request, exchange.url, standardHeaders(exchange)) ?? unknownRoute(exchange),
    docs,
    presetSample: async (exchange, { picture = "" }) =>
      (await servePresetSample(deps, exchange, picture)) ?? docs(exchange),
    docsPage: docs,
    docsIndex: docs,
    live,
    ready: (exchange) => ready(deps, exchange),
    metrics: (exchange) => metrics(deps, exchange),
  };
}

/** A handler that is loaded when it is first asked: most services never need it. */
function lazily(load: () => Promise<(exchange: Exchange) => Promise<Response>>): OpenHandler {
  let handler: ReturnType<typeof load> | undefined;
  return async (exchange) => {
    handler ??= load();
    return (await handler)(exchange);
  };
}

/** The path's parameters; empty text, which nothing is called, for one that cannot be decoded. */
function decodedParams(params: Context["params"] = {}): Params {
  const decoded: Params = {};
  for (const name of Object.keys(params)) decoded[name] = params[name] ?? "";
  return decoded;
}

function routes(deps: RouteDeps, exchangeOf: (request: Request) => Exchange) {
  const answering = (handler: OpenHandler) => (context: Context) => {
    const exchange = exchangeOf(context.request);
    return orRefuse(deps, exchange, () => handler(exchange, decodedParams(context.params)));
  };
  const raw = { parse: "none" } as const;
  // Elysia's shortcut for host names reads no path after one of two letters, such as a container's.
  const router = new Elysia({ normalize: false, handler: { standardHostname: false } });
  const handle = handlers(deps);
  for (const [name, route] of Object.entries(ROUTES)) {
    router.route(route.method, routerPath(route), answering(handle[name as RouteName]), raw);
  }
  for (const [path, methods] of methodsByPath()) {
    router.all(path, answering(authenticateIfKeyed(deps, () => refuseMethod(methods))), raw);
  }
  if (deps.basePath !== "") router.all(deps.basePath, answering(seeRoot), raw);
  const pages = answering(deps.pages ?? unknownRoute);
  return router
    .all(CONSOLE_PATH, pages, raw)
    .all(`${CONSOLE_PATH}/*`, pages, raw)
    .get(
      "/",
      answering((exchange) => (deps.pages ? seeConsole(exchange) : unknownRoute(exchange))),
    )
    .all("/*", answering(authenticateIfKeyed(deps, unknownRoute)), raw)
    .onError(({ request, error }) => refuse(deps, exchangeOf(request), error));
}

async function orRefuse(
  deps: HttpDeps,
  exchange: Exchange,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    return refuse(deps, exchange, error);
  }
}

/** Serves callers with a key, and reports the budget the call was charged to. */
async function asPartner(
  deps: AnswerDeps,
  exchange: Exchange,
  work: (exchange: Exchange, caller: Caller) => Response | Promise<Response>,
): Promise<Response> {
  const startedAt = deps.clock.elapsed();
  const { rate, refusal, caller } = await deps.identify(exchange);
  const known = { ...exchange, rate };
  let refused: PartnerRefusal | undefined;
  let response: Response;
  try {
    if (refusal) throw refusal;
    response = await work(known, caller);
  } catch (error) {
    refused = asPartnerRefusal(error);
    response = refuse(deps, known, refused);
  }
  if (caller) {
    const durationMs = deps.clock.elapsed() - startedAt;
    const { method } = exchange.request;
    const { status } = response;
    const createdAt = deps.clock.now();
    deps.requests.note({ accountId: caller.account.id, method, status, createdAt }, () =>
      requestRow(known, caller, { status, refused, durationMs }, createdAt),
    );
  }
  return response;
}

/** A call with a key is charged to the account's budget even when there is no such route or method. */
function authenticateIfKeyed(deps: AnswerDeps, handler: (exchange: Exchange) => never): OpenHandler {
  return (exchange) => {
    const hasKey = exchange.request.headers.has("x-api-key");
    return hasKey && exchange.url.pathname.startsWith(API_PREFIX)
      ? asPartner(deps, exchange, handler)
      : handler(exchange);
  };
}

function refuseMethod(methods: Route["method"][]): never {
  const allow = methods.includes("GET") ? [...methods, "HEAD"] : methods;
  throw new HttpRefusal(methodNotAllowed(methods), { Allow: allow.join(", ") });
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The URL in the log is what people open first, with a browser or not. */
function seeConsole(exchange: Exchange): Response {
  return new Response(null, { status: 303, headers: { ...standardHeaders(exchange), Location: "/console" } });
}

/** The base path itself, as people type it, is the root. */
function seeRoot(exchange: Exchange): Response {
  const headers = { ...standardHeaders(exchange), Location: `/${exchange.url.search}` };
  return new Response(null, { status: 308, headers });
}

function unknownRoute(exchange: Exchange): never {
  throw nothingAt(exchange.url.pathname);
}

function refuse(deps: HttpDeps, exchange: Exchange, error: unknown): Response {
  const known = asPartnerRefusal(error);
  // Turning work away because there is too much of it is no error: the request's own line has its 503.
  const isOnPurpose = known.code === "SERVICE_OVERLOADED" && known.cause === undefined;
  if (ERROR_STATUS[known.code] >= 500 && !isOnPurpose) {
    const { cause: thrown = known.message } = known;
    const cause = thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown;
    deps.log.error("request_failed", {
      requestId: exchange.requestId,
      code: known.code,
      cause: String(cause),
    });
  }
  return failure(exchange, known, deps.config.baseUrl);
}
