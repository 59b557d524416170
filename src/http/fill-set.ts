import type { Static } from "@sinclair/typebox";
import { earlierBatch } from "../app/batches/accept-batch.ts";
import { cardsOfBatch, fillingOf } from "../app/sets/fill-set.ts";
import type { ErrorDetail } from "../core/errors.ts";
import { MAX_BATCH_BODY_BYTES } from "../core/limits.ts";
import { invalidRequest, setNotFound } from "../core/partner-refusals.ts";
import { compileValidator } from "../core/validate.ts";
import { findBatch } from "../store/images/batches.ts";
import { imagesById } from "../store/images/image-reads.ts";
import type { Image } from "../store/images/images.ts";
import { findSet } from "../store/sets/card-sets.ts";
import type { Caller } from "./auth.ts";
import { acceptedBatch, type BatchRoutesDeps } from "./batches.ts";
import { readJson, requireJsonType } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { FillSetRequest } from "./fill-set-schema.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";

const validator = compileValidator(FillSetRequest, "body");

/** POST /v1/sets/{set_id}/cards: cards that are there already, as cards of the set. */
export async function fillSet(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { account, environment } = caller;
  requireJsonType(exchange.request);
  const idempotencyKey = exchange.request.headers.get("idempotency-key");
  const details = idempotencyKey === null ? [] : checkIdempotencyKey(idempotencyKey, { isOptional: true });
  const checked = validator.check(await readJson(exchange.request, MAX_BATCH_BODY_BYTES));
  if (!checked.ok) throw invalidRequest([...details, ...checked.details]);
  if (details.length > 0) throw invalidRequest(details);
  const { name = "", ...wish }: Static<typeof FillSetRequest> = checked.value;
  const command = { ...caller, idempotencyKey, name, sent: { set: id, ...wish } };
  // Before the cards are looked for: some may have been deleted since.
  const earlier = await earlierBatch(deps, command);
  if (earlier) return acceptedBatch(deps, exchange, { batch: earlier, replayed: true, etaSeconds: 1 });
  const set = await findSet(deps.store.read, { accountId: account.id, environment, id });
  if (!set) throw setNotFound();
  const images = await wishedImages(deps, caller, wish);
  const { parallel, count = 1 } = wish;
  const filling = await fillingOf(
    deps,
    set,
    parallel,
    images.map((image) => ({ image, count })),
  );
  return acceptedBatch(deps, exchange, await deps.acceptBatch({ ...command, ...filling }));
}

/** The images that a body names, by themselves or by their batch. */
async function wishedImages(
  deps: BatchRoutesDeps,
  { account, environment }: Caller,
  { batch_id, image_ids }: Pick<Static<typeof FillSetRequest>, "batch_id" | "image_ids">,
): Promise<Image[]> {
  const scope = { accountId: account.id, environment };
  if ((batch_id === undefined) === (image_ids === undefined))
    throw invalidRequest([{ field: "body", message: "must have either `batch_id` or `image_ids`." }]);
  if (batch_id !== undefined) {
    const batch = await findBatch(deps.store.read, { ...scope, id: batch_id });
    const images = batch ? await cardsOfBatch(deps, batch.id) : [];
    if (images.length > 0) return images;
    const message = batch
      ? "has no finished cards. Wait until it has, or make its failed ones again."
      : "is not a batch of this account and kind of key.";
    throw invalidRequest([{ field: "batch_id", message }]);
  }
  const ids = image_ids ?? [];
  const found = await imagesById(deps.store.read, scope, ids);
  const details: ErrorDetail[] = [];
  const images = ids.flatMap((id, at) => {
    const image = found.get(id);
    if (image?.state === "completed") return [image];
    const message = image
      ? "is not a finished card. Wait until it is, or make it again."
      : "is not an image of this account and kind of key, or was deleted.";
    details.push({ field: `image_ids[${at}]`, message });
    return [];
  });
  if (details.length > 0) throw invalidRequest(details);
  return images;
}
