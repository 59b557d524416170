import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { oidcClient } from "../app/people/oidc-client.ts";
import { passkeyService } from "../app/people/passkeys.ts";
import { readSession } from "../app/people/sign-in.ts";
import { withoutBasePath } from "../core/base-path.ts";
import { Refusal } from "../core/errors.ts";
import { UPLOAD_TIMEOUT_MS } from "../core/limits.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { readBounded, readMultipart } from "../http/body.ts";
import { asPartnerRefusal, standardHeaders } from "../http/envelope.ts";
import type { Exchange } from "../http/exchange.ts";
import { isOwnHost } from "../http/host.ts";
import { ERROR_STATUS, HttpRefusal, isPartnerRefusal } from "../http/http-refusal.ts";
import { findAccount } from "../store/people/accounts.ts";
import { membershipsOf } from "../store/people/users.ts";
import { CONSOLE_ASSETS } from "./assets.ts";
import { listStore } from "./batches/list-store.ts";
import { newPhotoStore } from "./cards/new-photos.ts";
import { errorPage } from "./error-page.tsx";
import { flashStore, typed } from "./flash.ts";
import { ownPath } from "./own-path.ts";
import { logFault, notFound, PageError } from "./page-error.ts";
import { passkeysAt } from "./people/passkeys-elsewhere.tsx";
import { usedSignIns } from "./people/provider-visit.ts";
import { resetLimit, signInLimit } from "./people/sign-in-limit.ts";
import { isHtmxRequest, redirect, redirectHtmx, sessionToken } from "./respond.ts";
import { consoleRoutes } from "./routes.ts";
import { type ConsoleDeps, type ConsoleRoute, canWrite, type UserVisit, type Visit } from "./visit.ts";

/** Handles everything under /console; errors become pages too. */
export function consoleAnswer(deps: ConsoleDeps): (exchange: Exchange) => Promise<Response> {
  const begin = visits(deps);
  const route = consoleRouter(deps, begin);
  return async (exchange) => {
    const asset = CONSOLE_ASSETS.answer(exchange.request, exchange.url, standardHeaders(exchange));
    if (asset) return asset;
    try {
      refuseForeignHost(exchange, deps.config.baseUrl);
      if (!["GET", "POST"].includes(exchange.request.method))
        throw new PageError(405, "Pages answer GET and POST.");
      return await route(exchange);
    } catch (error) {
      return failed(begin(exchange), error);
    }
  };
}

/** What a request contains beside its URL and headers. */
type Given = Pick<Visit, "params" | "form" | "file">;
const NO_FORM: Visit["form"] = new URLSearchParams();
const NOTHING: Given = { params: {}, form: NO_FORM, file: null };
/** Creates a visit; `given` is omitted for requests refused before it is read. */
type Begin = (exchange: Exchange, given?: Given) => Visit;

/** Creates the visits of one running console. */
function visits(deps: ConsoleDeps): Begin {
  const flashes = flashStore(deps.state);
  const lists = listStore(deps.state);
  const newPhotos = newPhotoStore(deps.state);
  const signIns = signInLimit(deps.state);
  const resets = resetLimit(deps.state);
  const passkeys = passkeyService(deps);
  const client = oidcClient(deps);
  const provider = client && { client, used: usedSignIns(deps.state) };
  return (exchange, given = NOTHING) => ({
    ...given,
    deps,
    exchange,
    query: exchange.url.searchParams,
    token: sessionToken(exchange.request, deps.config),
    flashes,
    lists,
    newPhotos,
    signIns,
    resets,
    passkeys: passkeysAt(passkeys, exchange.url),
    provider,
    now: deps.clock.now(),
  });
}

/** Matches all our ids and tokens; anything else cannot exist. */
const PARAM = /^[\w.-]{1,128}$/;

/** Dispatches to the matching route; unknown paths get an error page. */
function consoleRouter({ config }: ConsoleDeps, begin: Begin): (exchange: Exchange) => Promise<Response> {
  const exchanges = new WeakMap<Request, Exchange>();
  const exchangeOf = (request: Request) => exchanges.get(request) as Exchange;
  const raw = { parse: "none" } as const;
  // Elysia's shortcut for host names reads no path after one of two letters, such as a container's.
  const router = new Elysia({ normalize: false, handler: { standardHostname: false } });
  for (const route of consoleRoutes) {
    const answer = ({ request, params = {} }: { request: Request; params?: Visit["params"] }) =>
      answerRoute({ begin, baseUrl: config.baseUrl }, exchangeOf(request), route, params);
    router.route(route.method, route.path, answer, raw);
  }
  router.all("/*", ({ request }) => failed(begin(exchangeOf(request)), notFound()), raw);
  router.onError(({ request, error }) => failed(begin(exchangeOf(request)), error));
  return async (exchange) => {
    exchanges.set(exchange.request, exchange);
    return router.handle(exchange.request);
  };
}

async function answerRoute(
  { begin, baseUrl }: { begin: Begin; baseUrl: string },
  exchange: Exchange,
  route: ConsoleRoute,
  params: Visit["params"],
): Promise<Response> {
  let visit: Visit | undefined;
  try {
    if (!Object.values(params).every((given) => PARAM.test(given))) throw notFound();
    if (route.method === "POST") refuseForeignOrigin(exchange.request, baseUrl);
    if (route.maxUploadBytes !== undefined) {
      // A large body is read only for somebody who may send it.
      const sender = await userVisit(begin(exchange));
      if (!sender) return signInAgain(exchange);
      if (sender.account && !canWrite(sender)) throw readOnly(sender);
    }
    visit = begin(exchange, { params, ...(await sentWith(exchange.request, route)) });
    const admitted = await admit(visit, route);
    return admitted instanceof Response ? admitted : await route.handle(admitted);
  } catch (error) {
    return failed(visit ?? begin(exchange), error);
  }
}

/** Refuses another site's name that points here, whatever is requested under it. Throws 421. */
function refuseForeignHost({ request, url }: Exchange, baseUrl: string): void {
  if (isOwnHost(request, baseUrl)) return;
  throw new PageError(
    421,
    `This console is at ${baseUrl}, and was asked for at ${url.host}. If that is right, let the operator set CARDPRESS_BASE_URL to the address that people open, and a proxy pass on the Host header.`,
  );
}

const readOnly = ({ role }: UserVisit) =>
  new PageError(
    403,
    role === "viewer"
      ? "You are a viewer of this account: you see everything and change nothing. Ask an owner for another role."
      : "You are looking at this account read-only. Leave it to make changes.",
  );

/** Adds what the route's access level guarantees to the visit, or answers instead. Throws 403 and 404. */
async function admit(visit: Visit, route: ConsoleRoute): Promise<Visit | Response> {
  if (route.access === "anyone") return visit;
  const user = await userVisit(visit);
  if (!user)
    return visit.exchange.request.method === "GET" ? signInFirst(visit) : signInAgain(visit.exchange);
  if (route.method === "POST") checkCsrf(user);
  switch (route.access) {
    case "user":
      return user;
    case "operator":
      // As if it did not exist: others need not know what operators have.
      if (user.user.isOperator !== 1) throw notFound();
      return user;
    default: {
      if (!user.account || !user.role)
        return redirect(
          user.user.isOperator === 1 ? "/console/operator" : "/console/no-account",
          visit.exchange,
        );
      if (route.method === "POST" && !canWrite(user)) throw readOnly(user);
      if (route.access === "owner" && route.method === "POST" && user.role !== "owner")
        throw new PageError(403, "Only an owner of the account may do this. Ask one of them.");
      return user;
    }
  }
}

async function userVisit(visit: Visit): Promise<UserVisit | undefined> {
  const { deps, token } = visit;
  const { request } = visit.exchange;
  const isClick = request.method === "POST" || !isHtmxRequest(request);
  const found = token === undefined ? undefined : await readSession(deps, token, { isClick });
  if (!found) return undefined;
  const { user, session } = found;
  // Read on every request, so that an ended membership takes effect with the next click.
  const memberships = await membershipsOf(deps.store.read, user.id);
  const own = memberships.find((m) => m.account.id === session.accountId);
  if (own) return { ...visit, user, session, account: own.account, role: own.membership.role };
  if (session.accountId !== null && user.isOperator === 1) {
    const account = await findAccount(deps.store.read, session.accountId);
    if (account) return { ...visit, user, session, account, role: "visitor" };
  }
  const [first] = memberships;
  return { ...visit, user, session, account: first?.account ?? null, role: first?.membership.role ?? null };
}

/** After signing in, the user continues to the page requested. */
function signInFirst({ exchange }: Visit): Response {
  if (isHtmxRequest(exchange.request)) return redirectHtmx("/console/sign-in?ended=1", exchange);
  const { pathname, search } = exchange.url;
  const next = pathname === "/console" ? "" : `?next=${encodeURIComponent(pathname + search)}`;
  return redirect(`/console/sign-in${next}`, exchange);
}

function signInAgain(exchange: Exchange): Response {
  const to = "/console/sign-in?ended=1";
  return isHtmxRequest(exchange.request) ? redirectHtmx(to, exchange) : redirect(to, exchange);
}

/**
 * A form on another site must not act with our cookie. Browsers send the origin with every POST; the few
 * requests without one must still present the session's own token.
 */
function refuseForeignOrigin(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOwn = origin !== null && isOwnSite(URL.parse(origin)?.host, request, baseUrl);
  if (isOwn && (site === null || site === "same-origin" || site === "none")) return;
  throw new PageError(
    403,
    "This form was sent from another site. Open the console in this browser and do it there.",
  );
}

/**
 * Whether a host is ours: the public address, or the Host of this request. A proxy may hide either from the
 * other.
 */
function isOwnSite(host: string | undefined, request: Request, baseUrl: string): boolean {
  return host !== undefined && (host === new URL(baseUrl).host || host === request.headers.get("host"));
}

function checkCsrf(visit: UserVisit): void {
  const given = Buffer.from(visit.form.get("_csrf") ?? "");
  const wanted = Buffer.from(visit.session.csrfToken);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new PageError(
    403,
    "This form is out of date: you signed in again since. Go back, reload and send it again.",
  );
}

/** The contents of a form; empty for a GET. */
async function sentWith(request: Request, route: ConsoleRoute): Promise<Pick<Visit, "form" | "file">> {
  if (route.method !== "POST") return { form: NO_FORM, file: null };
  if (route.maxUploadBytes === undefined) return { form: await readForm(request), file: null };
  const limits = { timeoutMs: UPLOAD_TIMEOUT_MS, maxBytes: route.maxUploadBytes };
  const { fields, file } = await readMultipart(request, limits);
  // Where none was chosen browsers send an empty file without a name, and htmx none.
  return { form: fields, file: file && (file.bytes.length > 0 || file.name) ? file : null };
}

async function readForm(request: Request): Promise<URLSearchParams> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim();
  if (type !== "application/x-www-form-urlencoded")
    throw new PageError(415, "Forms are sent as application/x-www-form-urlencoded.");
  return new URLSearchParams(Buffer.from(await readBounded(request)).toString("utf8"));
}

async function failed(visit: Visit, fault: unknown): Promise<Response> {
  const { exchange } = visit;
  const error = storageFault(fault) ? asPartnerRefusal(fault) : fault;
  if (error instanceof Refusal && error.code === "OWNERS_ONLY") return errorPage(visit, 403, error.message);
  if (isFormProblem(exchange, error)) return backWith(visit, error.message);
  if (error instanceof PageError) return errorPage(visit, error.status, error.message);
  logFault(visit, error);
  if (isPartnerRefusal(error)) return errorPage(visit, ERROR_STATUS[error.code], error.message);
  const message = `Something went wrong on our side. If it happens again, send the operator this id: ${exchange.requestId}`;
  return errorPage(visit, 500, message);
}

/** Whether the form can be corrected and sent again, unlike one that could not even be read. */
function isFormProblem({ request }: Exchange, error: unknown): error is Refusal {
  if (!(error instanceof Refusal) || error instanceof HttpRefusal) return false;
  return !isPartnerRefusal(error) || (error.code === "INVALID_REQUEST" && request.method === "POST");
}

/** Returns to the page with the form, which shows the problem and what was typed. */
async function backWith(visit: Visit, problem: string): Promise<Response> {
  const { exchange } = visit;
  const from = URL.parse(exchange.request.headers.get("referer") ?? "");
  const user = await userVisit(visit);
  const isOwn = isOwnSite(from?.host, exchange.request, visit.deps.config.baseUrl);
  if (exchange.request.method !== "POST" || !user || !from || !isOwn || isHtmxRequest(exchange.request))
    return errorPage(visit, 422, problem);
  await visit.flashes.put(user.session.id, { problem, typed: typed(exchange.url.pathname, visit.form) });
  const path = withoutBasePath(from.pathname, exchange.basePath) ?? from.pathname;
  return redirect(ownPath(path + from.search), exchange);
}
