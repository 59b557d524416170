import type { AppContext } from "../app/context.ts";
import type { AcceptImage } from "../app/images/accept-image.ts";
import { type CardTemplates, checkCard } from "../app/images/check-card.ts";
import { imageView } from "../app/images/image-view.ts";
import type { ProgressTracker } from "../app/images/progress.ts";
import { asksForRateLimit } from "../app/images/requested-ending.ts";
import { Refusal } from "../core/errors.ts";
import { imageNotFound, invalidRequest } from "../core/partner-refusals.ts";
import { findImageAnswer } from "../store/images/image-reads.ts";
import type { Caller } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { created, onceEnded } from "./created.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";

export interface ImageRoutesDeps extends AppContext {
  accept: AcceptImage;
  progress: ProgressTracker;
  templates: CardTemplates;
}

/** POST /v1/images */
export async function createImage(
  deps: ImageRoutesDeps,
  exchange: Exchange,
  caller: Caller,
): Promise<Response> {
  requireJsonType(exchange.request);
  const key = exchange.request.headers.get("idempotency-key");
  const details = checkIdempotencyKey(key);
  const { request, details: faults } = await checkCard(
    await readJson(exchange.request),
    deps.config,
    deps.templates,
  );
  if (faults) details.push(...faults);
  if (!request || key === null || details.length > 0) throw invalidRequest(details);
  const accepted = await deps.accept({ ...caller, idempotencyKey: key, request }).catch((error) => {
    throw asksForRateLimit(caller.environment, request) ? withNoneLeft(error) : error;
  });
  return created(deps, exchange, caller, accepted);
}

/** A requested test 429 looks real in its headers too: nothing is left. */
function withNoneLeft(error: unknown): unknown {
  return error instanceof Refusal && error.code === "RATE_LIMIT_EXCEEDED"
    ? new HttpRefusal(error, { "X-RateLimit-Remaining": "0" })
    : error;
}

/** GET /v1/images/{image_id} */
export async function getImage(
  deps: ImageRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const scope = { accountId: caller.account.id, environment: caller.environment, id };
  const image = await findImageAnswer(deps.store.read, scope);
  if (!image) throw imageNotFound();
  const ended = await onceEnded(deps, exchange, scope);
  if (ended) return ended;
  return success(exchange, imageView(image, { config: deps.config, progress: deps.progress.of(image.id) }));
}
