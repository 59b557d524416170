import { checkCard } from "../app/images/check-card.ts";
import { remadeRequest } from "../app/images/remade-request.ts";
import {
  type CreateImageRequest,
  DEFAULT_HEIGHT_PX,
  DEFAULT_WIDTH_PX,
  storedRequest,
} from "../core/image-request.ts";
import { imageNotFound, invalidRequest } from "../core/partner-refusals.ts";
import { printSizeOf } from "../core/print-sizes.ts";
import { remakeSchema } from "../core/remake-request.ts";
import { validatorsOf } from "../core/validate.ts";
import { findImage } from "../store/images/image-reads.ts";
import type { Image } from "../store/images/images.ts";
import type { Caller } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { created } from "./created.ts";
import type { Exchange } from "./exchange.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import type { ImageRoutesDeps } from "./images.ts";
import { noteSubject } from "./request-row.ts";

const validator = validatorsOf(remakeSchema);

const isForPrint = ({ style }: CreateImageRequest): boolean =>
  printSizeOf({ width: style.width ?? DEFAULT_WIDTH_PX, height: style.height ?? DEFAULT_HEIGHT_PX }) !==
  undefined;

/**
 * Whether a request is for the print of a finished card, which stays: in a set the print shows its number and
 * takes no place.
 */
const isPrintOf = (image: Image, request: CreateImageRequest): boolean =>
  image.state === "completed" && isForPrint(request) && !isForPrint(storedRequest(image.request));

/**
 * POST /v1/images/{image_id}/remake: a new image of what an earlier one was made of, with what is sent
 * otherwise.
 */
export async function remakeImage(
  deps: ImageRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { account, environment } = caller;
  const own = () => findImage(deps.store.read, { accountId: account.id, environment, id });
  const known = await own();
  if (known) noteSubject(exchange.request, known.externalId);
  requireJsonType(exchange.request);
  const key = exchange.request.headers.get("idempotency-key");
  const details = checkIdempotencyKey(key);
  const change = validator(await deps.templates.listed()).check(await readJson(exchange.request));
  if (!change.ok) throw invalidRequest([...details, ...change.details]);
  // Again: it may have been deleted while the body was on its way.
  const image = await own();
  if (!image) throw imageNotFound();
  const whole = await remadeRequest(deps.templates, storedRequest(image.request), change.value);
  // What was allowed then may not be now, such as a preset that is not listed any more.
  const checked = await checkCard(whole, deps.config, deps.templates);
  if (checked.details) details.push(...checked.details);
  if (!checked.request || key === null || details.length > 0) throw invalidRequest(details);
  const { request } = checked;
  const origin = isPrintOf(image, request) ? { shows: id } : { replaces: id };
  const accepted = await deps.accept({ ...caller, idempotencyKey: key, request, ...origin });
  return created(deps, exchange, caller, accepted);
}
