import type { CardTemplates } from "../app/images/check-card.ts";
import { failureView } from "../app/images/image-view.ts";
import type { OnDemandCard } from "../app/images/on-demand.ts";
import type { RequestLog } from "../app/operations/request-log.ts";
import { isInForce } from "../core/api-key.ts";
import { Refusal } from "../core/errors.ts";
import { MAX_KNOWN_KEYS } from "../core/limits.ts";
import {
  badAddress,
  invalidRequest,
  partnerSuspended,
  rateLimitExceeded,
  scopeMissing,
  tooManyRefusedKeys,
} from "../core/partner-refusals.ts";
import { isRenderSignature, MAX_RENDER_CACHE_MS, signedText } from "../core/render-address.ts";
import { sha256 } from "../core/sha256.ts";
import { whileUnchanged } from "../store/engine/while-unchanged.ts";
import type { ImageAnswer } from "../store/images/image-reads.ts";
import { findKeyWithAccount } from "../store/people/keys.ts";
import { addressKey, type Caller } from "./auth.ts";
import { type CdnDeps, servePicture } from "./cdn.ts";
import { asPartnerRefusal, failure, standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { ERROR_STATUS, type PartnerRefusal } from "./http-refusal.ts";
import {
  ADDRESS_BUDGET,
  accountBudget,
  type RateLimiter,
  type RateState,
  secondsLeft,
} from "./rate-limit.ts";
import { cardOfAddress, parameterOf, readExpiry } from "./render-parameters.ts";
import placeholderPath from "./render-placeholder.png" with { type: "file" };
import { noteSubject, requestRow } from "./request-row.ts";

export interface RenderDeps extends CdnDeps {
  limiter: RateLimiter;
  requests: RequestLog;
  templates: CardTemplates;
  onDemand: OnDemandCard;
}

/** Somebody may look again after this long: most cards take a few seconds. */
const NOT_READY_RETRY_S = 5;
const KEY_ID = /^key_[0-9A-Za-z]{1,64}$/;

/** What is known of a call as soon as it is, for the answer to its refusal. */
interface Progress {
  caller?: Caller;
  /** A card was ordered: the call is listed with the account's requests. */
  isOrder?: boolean;
  /** The budget of the account's cards on demand, or of the caller's wrong signatures. */
  rate?: RateState;
}

/**
 * Answers GET /v1/render/{preset}: the card that a signed address describes, made when it is first asked for.
 * Whatever goes wrong is answered with a picture too, since nothing else can be shown where a picture should
 * be, and with the status of the refusal; or with the envelope for callers who accept JSON alone.
 */
export function rendering(deps: RenderDeps) {
  const { store } = deps;
  const keyOf = whileUnchanged(store, (id) => findKeyWithAccount(store.read, id), MAX_KNOWN_KEYS);
  return async (exchange: Exchange, { preset = "" }: Record<string, string>): Promise<Response> => {
    const startedAt = deps.clock.elapsed();
    const progress: Progress = {};
    let refused: PartnerRefusal | undefined;
    let response: Response;
    try {
      response = await cardPicture(deps, exchange, preset, { keyOf, progress });
    } catch (error) {
      refused = ofParameters(asPartnerRefusal(error));
      response = refusedPicture(deps, { ...exchange, rate: progress.rate ?? exchange.rate }, refused);
    }
    const { caller } = progress;
    if (caller && (progress.isOrder || refused)) {
      const { status } = response;
      const createdAt = deps.clock.now();
      const durationMs = deps.clock.elapsed() - startedAt;
      const isUnlimited = progress.isOrder !== true;
      const call = { accountId: caller.account.id, method: "GET", status, createdAt, isUnlimited };
      deps.requests.note(call, () =>
        requestRow(exchange, caller, { status, refused, durationMs }, createdAt),
      );
    }
    return response;
  };
}

/** The refusal of a create in the words of an address: its fields by their names there. */
function ofParameters(refused: PartnerRefusal): PartnerRefusal {
  let { message } = refused;
  const details = refused.details?.map((detail) => {
    const name = parameterOf(detail.field);
    if (name === undefined) return detail;
    message = message.replaceAll(detail.field, `query ${name}`);
    return { ...detail, field: `query ${name}` };
  });
  return new Refusal(refused.code, message, { ...refused, details, cause: refused.cause });
}

type KeyOf = (id: string) => ReturnType<typeof findKeyWithAccount>;

async function cardPicture(
  deps: RenderDeps,
  exchange: Exchange,
  preset: string,
  { keyOf, progress }: { keyOf: KeyOf; progress: Progress },
): Promise<Response> {
  const { url } = exchange;
  const caller = await signer(deps, exchange, { keyOf, progress });
  progress.caller = caller;
  progress.rate = await deps.limiter.look(...budgetOf(caller));
  const now = deps.clock.now();
  const expiresAt = readExpiry(url.searchParams.get("exp"), now);
  if (typeof expiresAt === "object") throw invalidRequest([expiresAt]);
  if (expiresAt <= now) throw badAddress("expired");
  if (caller.account.status === "suspended") throw partnerSuspended();
  if (caller.scopes?.includes("create") === false) throw scopeMissing("create");
  const card = await cardOfAddress(url, preset, deps);
  if ("details" in card) throw invalidRequest(card.details);
  const { external_id } = card.request.player;
  noteSubject(exchange.request, external_id);
  const image = await deps.onDemand({
    ...caller,
    request: card.request,
    admit: async () => {
      progress.isOrder = true;
      progress.rate = await deps.limiter.take(...budgetOf(caller));
      refuseWhenExceeded(progress.rate, deps.clock.now());
    },
  });
  const name = finishedName(image, card.isBack);
  const shown = { ...exchange, rate: progress.rate };
  const response = await servePicture(deps, shown, name, versionOf(name));
  const seconds = Math.floor(
    (Math.min(expiresAt, image.expiresAt ?? 0, now + MAX_RENDER_CACHE_MS) - now) / 1000,
  );
  response.headers.set("Cache-Control", `public, max-age=${seconds}`);
  response.headers.set("Expires", new Date(now + seconds * 1000).toUTCString());
  return response;
}

/** The key that signed an address. Refusals of addresses that nobody signed count against their caller. */
async function signer(
  deps: RenderDeps,
  exchange: Exchange,
  { keyOf, progress }: { keyOf: KeyOf; progress: Progress },
): Promise<Caller> {
  const { searchParams, pathname } = exchange.url;
  const refuse = async (why: "key" | "signature"): Promise<never> => {
    const rate = await deps.limiter.take(addressKey(exchange), ADDRESS_BUDGET);
    progress.rate = rate;
    throw rate.exceeded
      ? tooManyRefusedKeys(rate.limit, secondsLeft(rate, deps.clock.now()))
      : badAddress(why);
  };
  const id = searchParams.get("key") ?? "";
  const { key, account } = (KEY_ID.test(id) && (await keyOf(id))) || {};
  if (!key || !account || key.signingSecret === null) return refuse("key");
  if (!isInForce(key, deps.clock.now())) return refuse("key");
  const secret = deps.secrets.open(key.signingSecret, key.id);
  const isRight = isRenderSignature(
    secret,
    signedText(pathname, searchParams),
    searchParams.get("sig") ?? "",
  );
  if (!isRight || searchParams.getAll("sig").length > 1) return refuse("signature");
  return { account, environment: key.environment, keyId: key.id, scopes: key.scopes };
}

/**
 * Only cards that are made count, since anybody may look at one, and as often; and against a budget of their
 * own, so that visitors who open addresses do not take the account's own calls.
 */
const budgetOf = ({ account, environment }: Caller) =>
  [`render:${account.id}:${environment}`, accountBudget(account.tier)] as const;

function refuseWhenExceeded(rate: RateState, now: number): void {
  if (rate.exceeded) throw rateLimitExceeded(rate.limit, secondsLeft(rate, now));
}

/** What tells a picture's versions apart, without the name by which it is served to those who know it. */
const versionOf = (name: string) => sha256(name).slice(0, 32);

function finishedName(image: ImageAnswer, isBack: boolean): string {
  if (image.state === "completed") return (isBack ? image.backOutputName : image.outputName) ?? "";
  if (image.state !== "failed")
    throw new Refusal("SERVICE_OVERLOADED", "The card is still being made. Ask again in a few seconds.", {
      retryAfterSeconds: NOT_READY_RETRY_S,
    });
  const { message, reason, hint } = failureView(image);
  const why = hint === undefined ? message : `${message} ${hint}`;
  throw reason === "provider"
    ? new Refusal("INTERNAL_ERROR", why)
    : new Refusal("UNSUPPORTED_IMAGE_SOURCE", why);
}

function refusedPicture(deps: RenderDeps, exchange: Exchange, refused: PartnerRefusal): Response {
  if (/^application\/json\b/i.test(exchange.request.headers.get("accept") ?? ""))
    return failure(exchange, refused, deps.config.baseUrl);
  const status = ERROR_STATUS[refused.code];
  if (status >= 500 && refused.cause !== undefined)
    deps.log.error("render_failed", { requestId: exchange.requestId, cause: String(refused.cause) });
  const { retryAfterSeconds } = refused;
  return new Response(Bun.file(placeholderPath), {
    status,
    headers: {
      ...standardHeaders(exchange),
      "Content-Type": "image/png",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Access-Control-Allow-Origin": "*",
      "Cross-Origin-Resource-Policy": "cross-origin",
      "X-Error-Code": refused.code,
      ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    },
  });
}
