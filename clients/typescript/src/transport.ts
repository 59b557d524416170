import { CardpressError, NoAnswerError } from "./errors.ts";
import type { paths } from "./schema.d.ts";

export interface ClientOptions {
  /** The service's address, such as `https://cards.example.org`. */
  baseUrl: string;
  /** A live or test key. */
  apiKey: string;
  /** How often a request is sent again after the first time; 4 by default. */
  retries?: number;
  /**
   * How long one attempt may take, in milliseconds; 30 s by default, since a create waits for your photo's
   * host. A file may take four minutes to begin, or as long as this if it is longer.
   */
  timeoutMs?: number;
  /** In place of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** In place of the clock, for tests: waits, and rejects when the signal is aborted. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** In place of the clock, for tests: milliseconds since whenever. */
  now?: () => number;
}

export interface CallOptions {
  /** Ends the call and all its repetitions. */
  signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** As the OpenAPI document writes it; `params` fill its `{name}`s. */
  path: keyof paths;
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  /** Not repeated, because it would be done twice. */
  once?: boolean;
  /** Sent as JSON; a form is sent as it is. */
  body?: object | FormData;
}

/**
 * Sends calls and repeats those that may succeed later. Every call that gets here can be repeated without
 * harm.
 */
export interface Transport {
  call<Data>(call: Call): Promise<Data>;
  /** The bytes of a file as they come: an archive, a PDF or a table. Not repeated once they do. */
  stream(call: Call): Promise<ByteStream>;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  now(): number;
  /** For how long an answer may be put off, in whole seconds, so that it comes within an attempt. */
  readonly maxWaitS: number;
}

/** Node, Bun, Deno and workers walk it with `for await` too, which the types of the web do not tell. */
export type ByteStream = ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>;

interface Answer {
  response: Response;
  /** The body, unless it is streamed. */
  text: string;
  stream?: ByteStream;
}

const RETRIES = 4;
const TIMEOUT_MS = 30_000;
/** A file may wait until others are written, and its pages are drawn. */
const FILE_TIMEOUT_MS = 240_000;
/** A longer `Retry-After` is of a spent day: nobody waits for that in a call. */
const MAX_PAUSE_S = 90;
const MAX_BACKOFF_S = 30;
/** The service waits no longer before it answers a create, whose photo it has to fetch first. */
const MAX_WAIT_S = 15;

export function transport(options: ClientOptions): Transport {
  const { retries = RETRIES, timeoutMs = TIMEOUT_MS, sleep = pause, now = () => performance.now() } = options;
  const base = options.baseUrl.replace(/\/+$/, "");
  const send = options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init));

  const attempt = async (call: Call, limitMs: number): Promise<Answer> => {
    const isForm = call.body instanceof FormData;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error(`nothing for ${limitMs / 1000} s`)), limitMs);
    try {
      const response = await send(base + filled(call) + queryOf(call.query), {
        method: call.method,
        // A redirect would turn a create into a list, and take the key to another host.
        redirect: "manual",
        headers: {
          "X-API-Key": options.apiKey,
          ...(call.body && !isForm ? { "Content-Type": "application/json" } : {}),
          ...call.headers,
        },
        ...(call.body ? { body: isForm ? (call.body as FormData) : JSON.stringify(call.body) } : {}),
        signal: call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal,
      });
      if (isArchive(response)) return { response, text: "", stream: response.body as ByteStream };
      return { response, text: await response.text() };
    } finally {
      // A file may take as long as it takes.
      clearTimeout(timer);
    }
  };

  const repeated = async <Result>(
    call: Call,
    read: (answer: Answer) => Result | undefined,
    limitMs = timeoutMs,
  ): Promise<Result> => {
    for (let sent = 0; ; sent += 1) {
      const last = call.once === true || sent >= retries;
      const answer = await attempt(call, limitMs).catch((error: unknown) => {
        call.signal?.throwIfAborted();
        if (last) throw new NoAnswerError(`No answer from ${base}: ${messageOf(error)}`, error);
        return undefined;
      });
      if (answer) {
        const result = read(answer);
        if (result !== undefined) return result;
        const { response, text } = answer;
        const waitS = Number(response.headers.get("retry-after")) || 0;
        if (last || !isWorthRepeating(response.status) || waitS > MAX_PAUSE_S)
          throw refusalOf(response, text);
        if (waitS > 0) {
          await sleep(waitS * 1000, call.signal);
          continue;
        }
      }
      await sleep(Math.min(2 ** sent, MAX_BACKOFF_S) * (0.5 + Math.random()) * 1000, call.signal);
    }
  };

  return {
    sleep,
    now,
    maxWaitS: Math.min(MAX_WAIT_S, Math.floor(timeoutMs / 2000)),
    call: <Data>(call: Call): Promise<Data> => repeated(call, (answer) => dataOf<Data>(call, answer)),
    stream: (call) => repeated(call, ({ stream }) => stream, Math.max(timeoutMs, FILE_TIMEOUT_MS)),
  };
}

function filled({ path, params = {} }: Call): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function isWorthRepeating(status: number): boolean {
  return status === 429 || status >= 500;
}

const FILES = /^(?:application\/(?:zip|pdf)|text\/csv)\b/;

function isArchive({ ok, headers }: Response): boolean {
  return ok && FILES.test(headers.get("content-type") ?? "");
}

/** What a success tells; undefined for anything else. */
function dataOf<Data>({ headers }: Call, { response, text }: Answer): Data | undefined {
  const envelope = parsed(text);
  if (!response.ok || envelope?.success !== true) return undefined;
  if (headers?.["Idempotency-Key"] === undefined) return envelope.data;
  return { ...envelope.data, replayed: response.headers.get("idempotent-replayed") === "true" };
}

function refusalOf(response: Response, text: string): Error {
  const envelope = parsed(text);
  const retryAfter = Number(response.headers.get("retry-after")) || undefined;
  if (envelope?.error) return new CardpressError(response.status, envelope.error, retryAfter);
  return new NoAnswerError(
    `HTTP ${response.status} without the service's envelope: is the address right, and is a proxy in between?`,
  );
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of whatever is at the address.
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function queryOf(query: Call["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}
