import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import { MAX_INTERIM_RESPONSES } from "../core/outbound-limits.ts";
import { type CheckedUrl, checkUrl, isPublicAddress } from "./address-rules.ts";
import { isOurs } from "./exhaustion.ts";
import {
  GuardedHttpError,
  HOST_REFUSED_MESSAGE,
  OURS_MESSAGE,
  OWN_ADDRESS_MESSAGE,
} from "./guarded-http-error.ts";
import { createNameLookup, type NameLookup } from "./name-lookup.ts";
import { ownAddresses } from "./own-addresses.ts";
import { brokenAnswer, readBody } from "./read-body.ts";

export { GuardedHttpError } from "./guarded-http-error.ts";

export interface GuardedHttpOptions {
  /** Origins (`scheme://host:port`) exempt from the https and public-address rules, judged at each hop. */
  allowedOrigins: ReadonlySet<string>;
  /** Resolves a name to all its addresses; uses this machine's name servers and hosts file when absent. */
  resolve?: NameLookup;
  /** The addresses of this machine, read at every check; those of its network interfaces when absent. */
  ownAddresses?: () => ReadonlySet<string>;
  /** PEM certificates of private authorities, trusted in addition to the public ones. */
  ca?: string;
}

export interface GuardedHead {
  status: number;
  /** Names in lower case; repeated headers are joined by ", ". */
  headers: Record<string, string>;
}

export interface GuardedRequest {
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** Covers DNS, connection, every redirect and the body. */
  timeoutMs: number;
  maxResponseBytes: number;
  /** 0: a redirect is returned as the response. Only GET is ever redirected. */
  maxRedirects: number;
  onOversize: "fail" | "truncate";
  signal?: AbortSignal;
  /**
   * The requester, such as an account or a webhook endpoint: look-ups of one requester queue behind each
   * other.
   */
  party?: string;
  /** Receives the final response's head before its body is read; throwing aborts the request. */
  onHead?: (head: GuardedHead) => void;
}

export interface GuardedResponse extends GuardedHead {
  /** The bytes as sent: an encoded body is never decompressed. */
  body: Uint8Array;
  /** The final URL, after redirects. */
  url: string;
}

/** A URL with the checked socket addresses it may be requested from. */
interface Hop extends CheckedUrl {
  addresses: string[];
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are secrets meant for one host only. */
const ORIGIN_BOUND_HEADERS = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * Requests a URL given by a stranger without letting it reach anything private: each hop's name is resolved
 * once, all its addresses are checked, and the connection goes only to those, so a second DNS answer changes
 * nothing. TLS is always verified against the name. Proxy variables are ignored, connections never shared.
 * Resolves with any status; throws GuardedHttpError.
 */
export async function guardedRequest(
  request: GuardedRequest,
  options: GuardedHttpOptions,
): Promise<GuardedResponse> {
  const deadline = startDeadline(request);
  try {
    let target = checkUrl(request.url, options.allowedOrigins);
    let headers = request.headers ?? {};
    for (let redirects = 0; ; redirects++) {
      const addresses = await checkedAddresses(target, request.party, options, deadline.signal);
      const answer = await exchange(
        { ...target, addresses },
        { ...request, headers },
        options,
        deadline.signal,
      );
      if (!("redirectTo" in answer)) return answer;
      if (redirects === request.maxRedirects) throw tooManyRedirects(request.maxRedirects);
      const from = target.url;
      target = checkUrl(answer.redirectTo, options.allowedOrigins);
      if (target.url.origin !== from.origin) headers = withoutSecrets(headers);
    }
  } finally {
    deadline.stop();
  }
}

/**
 * Checks a URL as guardedRequest would, without requesting it: for URLs that are stored for later, and are
 * checked again then. Returns the normalised URL; throws GuardedHttpError.
 */
export async function checkAddress(
  request: Pick<GuardedRequest, "url" | "timeoutMs" | "party">,
  options: GuardedHttpOptions,
): Promise<string> {
  const deadline = startDeadline(request);
  try {
    const target = checkUrl(request.url, options.allowedOrigins);
    await checkedAddresses(target, request.party, options, deadline.signal);
    return target.url.href;
  } finally {
    deadline.stop();
  }
}

/** A timer this late was not held up by other work: the process, or its machine, stood still. */
const STOOD_STILL_MS = 2_000;

/** A signal whose reason is the error to throw, from the time limit or the caller, whichever comes first. */
function startDeadline(request: Pick<GuardedRequest, "timeoutMs" | "signal">): {
  signal: AbortSignal;
  stop: () => void;
} {
  const controller = new AbortController();
  let startedAt = performance.now();
  const onTimeout = () => {
    // The other side may have answered long since, and is not to be blamed: it gets its time again.
    if (performance.now() - startedAt > request.timeoutMs + STOOD_STILL_MS) return begin();
    controller.abort(
      new GuardedHttpError("timeout", `No complete answer came within ${request.timeoutMs / 1000} seconds.`),
    );
  };
  const onAbort = () =>
    controller.abort(
      new GuardedHttpError("aborted", "The request was given up.", { cause: request.signal?.reason }),
    );
  let timer: Timer;
  const begin = () => {
    startedAt = performance.now();
    timer = setTimeout(onTimeout, request.timeoutMs);
  };
  begin();
  if (request.signal?.aborted) onAbort();
  request.signal?.addEventListener("abort", onAbort);
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** One per process, so that its cache and fair queueing cover photos and webhooks together. */
const systemLookup = createNameLookup();

async function checkedAddresses(
  target: CheckedUrl,
  party: string | undefined,
  options: GuardedHttpOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const { host, trusted } = target;
  const resolve = options.resolve ?? systemLookup;
  const addresses = isIP(host)
    ? [host]
    : await unlessAborted(resolve(host, { party, signal, trusted }), signal).catch((cause) => {
        if (cause instanceof GuardedHttpError) throw cause;
        throw new GuardedHttpError("dns", HOST_REFUSED_MESSAGE, { cause });
      });
  if (addresses.length === 0) throw new GuardedHttpError("dns", HOST_REFUSED_MESSAGE);
  if (trusted) return addresses;
  // One private address among public ones is refused too: which one would be connected to is a matter of
  // luck.
  const own = (options.ownAddresses ?? ownAddresses)();
  const isPublic = addresses.every(isPublicAddress);
  if (isPublic && !addresses.some((address) => own.has(address))) return addresses;
  const cause = new Error(`${host} resolves to ${addresses.join(", ")}`);
  throw new GuardedHttpError("address_refused", isPublic ? OWN_ADDRESS_MESSAGE : HOST_REFUSED_MESSAGE, {
    cause,
  });
}

/** Waiters for their turn, and custom resolvers, need not know about the signal. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function tooManyRedirects(maxRedirects: number): GuardedHttpError {
  return new GuardedHttpError(
    "too_many_redirects",
    `The address redirects more than ${maxRedirects} times. Use the address it ends at.`,
  );
}

function withoutSecrets(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ORIGIN_BOUND_HEADERS.has(name.toLowerCase())),
  );
}

/** Sends one request over its own connection; resolves with the response or the redirect target. */
function exchange(
  hop: Hop,
  request: GuardedRequest,
  options: GuardedHttpOptions,
  signal: AbortSignal,
): Promise<GuardedResponse | { redirectTo: string }> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const client = openRequest(hop, request, options);
    let response: http.IncomingMessage | undefined;
    let stage: "connect" | "tls" | "protocol" = "connect";
    let interimResponses = 0;

    const settle = (act: () => void) => {
      signal.removeEventListener("abort", onAbort);
      act();
      client.destroy();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    const onAbort = () => fail(signal.reason);
    signal.addEventListener("abort", onAbort);

    client.on("socket", (socket) => {
      socket.once("connect", () => {
        stage = hop.url.protocol === "https:" ? "tls" : "protocol";
      });
      socket.once("secureConnect", () => {
        stage = "protocol";
      });
    });
    client.on("information", () => {
      if (++interimResponses > MAX_INTERIM_RESPONSES) fail(brokenAnswer(new Error("too many 1xx answers")));
    });
    client.on("upgrade", () => fail(brokenAnswer(new Error("101 Switching Protocols"))));
    client.on("error", (cause) => {
      // Bytes after a complete response are the server's mistake, and no reason to lose the response.
      if (!response?.complete) fail(stageError(stage, cause));
    });
    client.on("response", (incoming) => {
      response = incoming;
      incoming.on("error", (cause) => fail(brokenAnswer(cause)));
      try {
        const head = headOf(incoming);
        const redirectTo = redirectTarget(head, hop.url, request);
        if (redirectTo !== undefined) return settle(() => resolve({ redirectTo }));
        request.onHead?.(head);
        readBody(incoming, request, {
          done: (body) => settle(() => resolve({ ...head, body, url: hop.url.href })),
          fail,
        });
      } catch (error) {
        fail(error);
      }
    });
    client.end(request.body);
  });
}

function openRequest(hop: Hop, request: GuardedRequest, options: GuardedHttpOptions): http.ClientRequest {
  const { url, host, addresses } = hop;
  const settings: https.RequestOptions = {
    method: request.method,
    hostname: host,
    path: url.pathname + url.search,
    headers: { "Accept-Encoding": "identity", ...request.headers },
    // A shared agent reuses sockets by name without checking the address; it may also use a proxy.
    agent: false,
    lookup: pinnedLookup(addresses),
  };
  if (url.port) settings.port = url.port;
  if (url.protocol === "http:") return http.request(settings);
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would turn verification off.
  settings.rejectUnauthorized = true;
  if (options.ca !== undefined) settings.ca = [...rootCertificates, options.ca];
  return https.request(settings);
}

/** Answers every look-up with the checked addresses, whatever the name resolves to by now. */
function pinnedLookup(addresses: string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, _options, callback) => callback(null, entries);
}

function headOf(incoming: http.IncomingMessage): GuardedHead {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { status: incoming.statusCode ?? 0, headers };
}

function redirectTarget(head: GuardedHead, from: URL, request: GuardedRequest): string | undefined {
  const { location } = head.headers;
  if (request.method !== "GET" || request.maxRedirects === 0) return undefined;
  if (!REDIRECTS.has(head.status) || location === undefined) return undefined;
  // Header values arrive as Latin-1; servers that do not escape a Location write UTF-8, as browsers expect.
  const target = Buffer.from(location, "latin1").toString("utf8");
  // An absolute target is passed on as sent, so that its spelling is judged too.
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return target;
  const next = URL.parse(target, from);
  if (next === null) throw brokenAnswer(new Error("unreadable Location header"));
  return next.href;
}

function stageError(stage: "connect" | "tls" | "protocol", cause: Error): GuardedHttpError {
  if (stage === "connect" && isOurs(cause)) return new GuardedHttpError("ours", OURS_MESSAGE, { cause });
  if (stage === "protocol") return brokenAnswer(cause);
  if (stage === "tls") return new GuardedHttpError("tls", tlsMessage(cause), { cause });
  return new GuardedHttpError(
    "connect",
    "No connection to the server of this address could be made. Check host and port, or try again later.",
    { cause },
  );
}

/** Codes as OpenSSL's X509_verify_cert names them, and Node's own for a wrong name. */
function tlsMessage(cause: Error): string {
  const code = "code" in cause ? String(cause.code) : "";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "The server's TLS certificate belongs to another host name. Use the name it was issued for.";
  }
  if (code === "CERT_HAS_EXPIRED") return "The server's TLS certificate has expired. Renew it.";
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED/.test(code)) {
    return "The server's TLS certificate comes from no known authority, or its chain is incomplete. Install a complete certificate from a public authority.";
  }
  return "No secure connection could be made. Check that the address opens in a browser without a warning.";
}
