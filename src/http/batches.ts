import type { AcceptedBatch, BatchCommand } from "../app/batches/accept-batch.ts";
import { batchImageView, batchView } from "../app/batches/batch-view.ts";
import { batchZip, type ZipDeps } from "../app/batches/batch-zip.ts";
import { cancelBatch } from "../app/batches/cancel-batch.ts";
import { cardsToRemake } from "../app/batches/changed-cards.ts";
import type { RemadeBatch, RemakeCommand } from "../app/batches/remake-cards.ts";
import type { AppContext } from "../app/context.ts";
import type { CardTemplates } from "../app/images/check-card.ts";
import { consentFaults } from "../app/people/consent.ts";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { plainAttachment } from "../core/file-name.ts";
import { MAX_BATCH_BODY_BYTES } from "../core/limits.ts";
import { batchNotFound, invalidRequest } from "../core/partner-refusals.ts";
import { remakeBatchSchema } from "../core/remake-request.ts";
import { validatorsOf } from "../core/validate.ts";
import { changesOfBatch } from "../store/images/batch-places.ts";
import { type Batch, findBatch, imagesOfBatch, listBatches } from "../store/images/batches.ts";
import type { Caller, PartnerHandler } from "./auth.ts";
import { checkBatch } from "./batch-body.ts";
import { readJson, requireJsonType } from "./body.ts";
import { encodeCursor, pageOf, readCursor } from "./cursor.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import { readLimit, readQuery } from "./query.ts";
import { writtenFile } from "./written-file.ts";

export interface BatchRoutesDeps extends AppContext, ZipDeps {
  templates: CardTemplates;
  acceptBatch: (command: BatchCommand) => Promise<AcceptedBatch>;
  remakeCards: (command: RemakeCommand) => Promise<RemadeBatch>;
}

/** The handlers of the routes of batches. */
export function batchHandlers<Open>(deps: BatchRoutesDeps, partner: (handler: PartnerHandler) => Open) {
  const ofOne = (handler: typeof getBatch) =>
    partner((exchange, caller, { batch_id = "" }) => handler(deps, exchange, caller, batch_id));
  return {
    createBatch: partner((exchange, caller) => createBatch(deps, exchange, caller)),
    listBatches: partner((exchange, caller) => listBatchesPage(deps, exchange, caller)),
    getBatch: ofOne(getBatch),
    deleteBatch: ofOne(deleteBatch),
    remakeBatch: ofOne(remakeBatch),
    getBatchPictures: ofOne(getBatchPictures),
  };
}

/** POST /v1/batches */
async function createBatch(deps: BatchRoutesDeps, exchange: Exchange, caller: Caller): Promise<Response> {
  requireJsonType(exchange.request);
  const key = exchange.request.headers.get("idempotency-key");
  const details = key === null ? [] : checkIdempotencyKey(key, { isOptional: true });
  const body = await readJson(exchange.request, MAX_BATCH_BODY_BYTES);
  const checked = await checkBatch(body, deps.config, deps.templates);
  if (checked.details) details.push(...checked.details);
  if (!checked.value || details.length > 0) {
    const places = new Map([...(checked.players ?? [])].map(([id, at]) => [id, `cards[${at}].`]));
    const forbidden = await consentFaults(deps.store.read, caller.account.id, places, deps.clock.now());
    throw invalidRequest([...details, ...forbidden]);
  }
  const { name, cards: requests, places } = checked.value;
  const accepted = await deps.acceptBatch({ ...caller, idempotencyKey: key, name, requests, places });
  return acceptedBatch(deps, exchange, accepted);
}

/** The answer to a batch that was accepted. */
export async function acceptedBatch(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  { batch, replayed, etaSeconds }: AcceptedBatch,
): Promise<Response> {
  const data = { ...(await detail(deps, batch)), eta_seconds: etaSeconds };
  return success(exchange, data, {
    status: 202,
    headers: { Location: data.poll_url, ...(replayed ? { "Idempotent-Replayed": "true" } : {}) },
  });
}

/** A batch with its images. */
async function detail({ store, config }: BatchRoutesDeps, batch: Batch) {
  const [images, changes] = await Promise.all([
    imagesOfBatch(store.read, batch.id),
    changesOfBatch(store.read, batch.id),
  ]);
  return {
    ...batchView(batch),
    poll_url: fillPath(API_PATHS.batch, { batch_id: batch.id }),
    pictures_url: fillPath(API_PATHS.batchPictures, { batch_id: batch.id }),
    images: images.map((image) => batchImageView(image, changes.get(image.id), config.cdnBaseUrl)),
  };
}

async function ownBatch(
  { store }: BatchRoutesDeps,
  { account, environment }: Caller,
  id: string,
): Promise<Batch> {
  const batch = await findBatch(store.read, { accountId: account.id, environment, id });
  if (!batch) throw batchNotFound();
  return batch;
}

/** GET /v1/batches/{batch_id} */
async function getBatch(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  return success(exchange, await detail(deps, await ownBatch(deps, caller, id)));
}

/** DELETE /v1/batches/{batch_id} */
async function deleteBatch(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  const batch = await cancelBatch(deps, { accountId: account.id, environment, id });
  return success(exchange, await detail(deps, batch));
}

const validator = validatorsOf(remakeBatchSchema);

/** POST /v1/batches/{batch_id}/remake */
async function remakeBatch(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  requireJsonType(exchange.request);
  const body = await readJson(exchange.request, MAX_BATCH_BODY_BYTES);
  const change = validator(await deps.templates.listed()).check(body);
  if (!change.ok) throw invalidRequest(change.details);
  const { cards: named = [], failed = false, canceled = false } = change.value;
  if (named.length === 0 && !failed && !canceled)
    throw invalidRequest([
      { field: "body", message: "must name some `cards`, or ask for the `failed` or `canceled` ones." },
    ]);
  const batch = await ownBatch(deps, caller, id);
  const cards = await cardsToRemake(deps, batch, change.value);
  const remade = await deps.remakeCards({ ...caller, batchId: batch.id, cards });
  const data = { ...(await detail(deps, remade.batch)), eta_seconds: remade.etaSeconds };
  return success(exchange, data, { status: 202, headers: { Location: data.poll_url } });
}

/** GET /v1/batches/{batch_id}/pictures.zip */
async function getBatchPictures(
  deps: BatchRoutesDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const batch = await ownBatch(deps, caller, id);
  return writtenFile(
    exchange,
    await batchZip(deps, batch, "external_id"),
    plainAttachment(`${batch.id}.zip`),
    "application/zip",
  );
}

/** GET /v1/batches */
async function listBatchesPage(deps: BatchRoutesDeps, exchange: Exchange, caller: Caller): Promise<Response> {
  const { values, details } = readQuery(exchange.url, ["limit", "after"]);
  const limit = readLimit(values.limit, details);
  const scope = { accountId: caller.account.id, environment: caller.environment };
  const after = readCursor(values.after, scope, details, "key environment");
  if (details.length > 0) throw invalidRequest(details);
  const found = await listBatches(deps.store.read, { ...scope, after, limit: limit + 1 });
  const { items, ...page } = pageOf(found, limit, (last) => encodeCursor(last, scope));
  return success(exchange, {
    batches: items.map(batchView),
    ...page,
  });
}
