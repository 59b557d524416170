import type { Database } from "bun:sqlite";
import { expect } from "bun:test";
import type { AcceptedBatch } from "../../../src/app/batches/accept-batch.ts";
import { cancelBatch } from "../../../src/app/batches/cancel-batch.ts";
import { photoFetcher } from "../../../src/app/batches/fetch-photos.ts";
import { Refusal } from "../../../src/core/errors.ts";
import { IDEMPOTENCY_RETENTION_MS } from "../../../src/core/limits.ts";
import { overloaded, unsupportedSource } from "../../../src/core/partner-refusals.ts";
import type { Deps } from "../../../src/service/deps.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { fetched } from "../../fakes.ts";
import { imageRequest } from "../../harness.ts";
import { type FusedRandom, torn } from "./money-fuse.ts";
import type { MoneyModel } from "./money-model.ts";
import type { Operation } from "./money-operations.ts";

// Batches in the histories of money.property.test.ts: accepted whole or not at all, their photos fetched one
// after the other, canceled. Each step is done on the store and on the model.

interface Run {
  world: { db: Database; deps: Deps; random: FusedRandom };
  model: MoneyModel;
  now: number;
  id(account: number): string;
}

/** A batch is accepted as a whole, replayed, or refused and leaves nothing. */
export async function sendBatch(run: Run, operation: Operation & { op: "batch" }): Promise<void> {
  const { account, environment, key, cards, torn: fuse } = operation;
  const { model, world, now } = run;
  const scope = `${account} ${environment} batch`;
  const sentKey = key === null ? null : `${scope} ${key}`;
  const payload = JSON.stringify(cards);
  const records = cards.map((card) => `${scope} ${key ?? ""} ${JSON.stringify(card)}`);
  const expected = model.expectBatch({ index: account, environment, key: sentKey, payload }, records, now);
  const answer = await torn(world.random, fuse ?? Number.POSITIVE_INFINITY, () => send(run, operation));
  // Ids are made before the account is looked at once more and the credits are counted.
  if (!answer) return expect(["accepted", "INSUFFICIENT_CREDITS", "PARTNER_SUSPENDED"]).toContain(expected);
  expect(typeof answer === "string" ? answer : answer.replayed ? "replayed" : "accepted").toBe(expected);
  if (typeof answer === "string") return;
  const { batch, replayed } = answer;
  const sent = sentKey === null ? undefined : model.batchKeys.get(sentKey);
  if (replayed) return expect(batch.id).toBe(sent?.batchId ?? "no batch");
  const imageIds = world.db
    .query("SELECT image_id FROM batch_cards WHERE batch_id = ? ORDER BY position")
    .values(batch.id)
    .flat() as string[];
  expect(imageIds).toHaveLength(cards.length);
  model.batchAccepted(batch.id, { account, environment, imageIds, canceled: false }, records, now);
  if (sentKey !== null)
    model.batchKeys.set(sentKey, { payload, batchId: batch.id, expiresAt: now + IDEMPOTENCY_RETENTION_MS });
}

/** A batch as the HTTP side sends it; the error's code when it is refused. */
async function send(
  run: Run,
  { account: who, environment, key, cards }: Operation & { op: "batch" },
): Promise<AcceptedBatch | string> {
  const { deps } = run.world;
  const account = await findAccount(deps.store.read, run.id(who));
  if (!account) throw new Error("the account is gone");
  const requests = cards.map(({ player, payload }) =>
    imageRequest({ player: { external_id: `player-${player}`, number: 1 + payload } }),
  );
  const idempotencyKey = key === null ? null : `batch-${key}`;
  try {
    return await deps.acceptBatch({ account, environment, idempotencyKey, name: "Squad", requests });
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The next card's photo comes, cannot be used, or has to be asked for again later. */
export async function fetchPhoto(
  run: Run,
  { end, torn: isTorn }: Operation & { op: "photo" },
): Promise<void> {
  const { world, model } = run;
  const fetchPhoto = async () => {
    if (end === "refused") throw unsupportedSource("photo", "It is no picture.");
    if (end === "busy") throw overloaded(1);
    return fetched();
  };
  const sources = { fetchPhoto, fetchBadge: fetchPhoto, fetchPicture: fetchPhoto };
  const fetcher = photoFetcher({ ...world.deps, sources }, { onQueued: () => {}, onEnd: () => {} });
  const waited = imagesIn(run, "waiting");
  let claimed = false;
  const fuse = isTorn ? 0 : Number.POSITIVE_INFINITY;
  await torn(world.random, fuse, () =>
    fetcher.fetchNext(new AbortController().signal, () => {
      claimed = true;
    }),
  );
  const still = imagesIn(run, "waiting");
  const [changed, ...others] = [...waited].filter((id) => !still.has(id));
  expect(others).toEqual([]);
  // Failing needs ids for what is written down; without them the card goes on waiting.
  const takesEffect = claimed && (end === "fetched" || (end === "refused" && !isTorn));
  expect(changed !== undefined).toBe(takesEffect);
  if (changed !== undefined && end !== "busy") model.photo(changed, end);
}

/** What has not begun ends, card by card; a tear in between leaves the rest to the sweep. */
export async function cancelOne(run: Run, operation: Operation & { op: "cancel" }): Promise<void> {
  const { world, model } = run;
  const id = [...model.batches.keys()].at(-1 - operation.batch);
  if (id === undefined) return;
  const batch = model.batches.get(id);
  if (!batch) throw new Error("unreachable");
  const { environment } = batch;
  const asker = operation.stranger ? 1 - batch.account : batch.account;
  const scope = { accountId: run.id(asker), environment, id };
  const work = () => cancelBatch(world.deps, scope);
  if (operation.stranger) return void (await expect(work()).rejects.toThrow("batch"));
  model.cancel(id);
  const unwanted = batch.canceled ? model.unwanted(id) : [];
  const done = await torn(world.random, operation.torn ?? Number.POSITIVE_INFINITY, work);
  const failed = imagesIn(run, "failed");
  const ended = unwanted.filter((imageId) => failed.has(imageId));
  expect(ended).toEqual(unwanted.slice(0, done ? unwanted.length : ended.length));
  for (const imageId of ended) model.unwantedCardFailed(imageId);
}

function imagesIn({ world, model }: Run, state: string): Set<string> {
  const rows = world.db.query("SELECT id FROM images WHERE state = ?").values(state).flat() as string[];
  return new Set(rows.filter((id) => model.images.has(id)));
}
