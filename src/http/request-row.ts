import { MAX_EXTERNAL_ID_CHARS } from "../core/image-request.ts";
import { LOGGED_BODY_CHARS, MAX_BATCH_CARDS } from "../core/limits.ts";
import type { LoggedRequest } from "../store/overviews/request-log.ts";
import type { Caller } from "./auth.ts";
import { jsonSeen } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { PartnerRefusal } from "./http-refusal.ts";
import { labelFor, ROUTES } from "./route-table.ts";

interface Outcome {
  status: number;
  refused: PartnerRefusal | undefined;
  durationMs: number;
}

const subjects = new WeakMap<Request, string>();

/** Notes for the request log whose card a request is about, where its body does not tell. */
export function noteSubject(request: Request, externalId: string): void {
  subjects.set(request, externalId.slice(0, MAX_EXTERNAL_ID_CHARS));
}

/** What the request log stores: a body only for refused creates and remakes of one card, and no secrets. */
export function requestRow(
  { request, url, route, requestId }: Exchange,
  { account, environment, keyId }: Caller,
  { status, refused, durationMs }: Outcome,
  now: number,
): LoggedRequest {
  const subject = subjects.get(request);
  // A remake's body names no player: unless its image is known, it could not be deleted along with one.
  const isKept = subject !== undefined || route === labelFor(ROUTES.createImage);
  const text = isKept ? jsonSeen(request) : undefined;
  return {
    id: requestId,
    accountId: account.id,
    environment,
    keyId,
    method: request.method,
    // The URL contains the player's id, which is personal.
    path: url.pathname.startsWith(OF_PLAYERS) ? OF_PLAYERS : url.pathname.slice(0, MAX_PATH_CHARS),
    status,
    code: refused?.code ?? null,
    durationMs: Math.round(durationMs),
    externalId: subject ?? (text === undefined ? null : externalIdIn(text)),
    details:
      refused?.details?.map(({ field, message }) => ({ field, message: withoutValue(message) })) ?? null,
    body: refused && text !== undefined ? redacted(text) : null,
    createdAt: now,
    // Their words are not kept: one player's could not be deleted without the others'.
    players: OF_MANY.includes(route) ? externalIdsIn(jsonSeen(request) ?? "") : [],
  };
}

const OF_MANY = [labelFor(ROUTES.createBatch), labelFor(ROUTES.remakeBatch)];

/** Whatever follows it may be a player's id, also where no route is. */
const OF_PLAYERS = ROUTES.deletePlayer.path.replace(/\{.*$/, "");
const MAX_PATH_CHARS = 200;

/** The value is in the stored body, which is deleted along with the player. */
function withoutValue(message: string): string {
  return message.replace(/; got .*$/s, ".").replace(/they lack .*?\. /s, "");
}

const EXTERNAL_ID = /"external_id"\s*:\s*("(?:[^"\\]|\\.){1,1000}")/;

/** As it was sent; searched in the text where a refused body is not JSON. */
function externalIdIn(text: string): string | null {
  const sent = parsed(text)?.player?.external_id;
  if (typeof sent === "string" || typeof sent === "number")
    return String(sent).slice(0, MAX_EXTERNAL_ID_CHARS);
  const [, quoted] = EXTERNAL_ID.exec(text) ?? [];
  return quoted === undefined ? null : unquoted(quoted);
}

/** What JSON says, or nothing where it is not. */
// biome-ignore lint/suspicious/noExplicitAny: it may hold anything.
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Each once, at most as many as a batch may have. */
function externalIdsIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, quoted = ""] of text.matchAll(new RegExp(EXTERNAL_ID, "g"))) {
    const id = unquoted(quoted);
    if (id !== null) found.add(id);
    if (found.size === MAX_BATCH_CARDS) break;
  }
  return [...found];
}

function unquoted(text: string): string | null {
  try {
    return String(JSON.parse(text)).slice(0, MAX_EXTERNAL_ID_CHARS);
  } catch {
    return null;
  }
}

/** Keys, and the parts of a URL that grant access: presigned queries, user names and passwords. */
function redacted(text: string): string {
  return text
    .slice(0, LOGGED_BODY_CHARS)
    .replace(/sk_(live|test)_\w+/g, "sk_$1_…")
    .replace(/(https?:\/\/)[^/"\s?#]*@/gi, "$1…@")
    .replace(/(https?:\/\/[^"\s?#]*)[?#][^"\s]*/gi, "$1?…");
}
