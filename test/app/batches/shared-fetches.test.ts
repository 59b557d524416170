import { afterEach, beforeEach, expect, test } from "bun:test";
import { type PhotoFetcher, photoFetcher } from "../../../src/app/batches/fetch-photos.ts";
import {
  BATCH_FETCH_LEASE_MS,
  BATCH_FETCH_PAUSES_MS,
  MAX_BATCH_FETCHES_PER_ACCOUNT,
} from "../../../src/core/batch-fetch-limits.ts";
import { unsupportedSource } from "../../../src/core/partner-refusals.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import type { FetchedSource, SourceFetcher } from "../../../src/sources/fetch-source.ts";
import { GuardedHttpError } from "../../../src/sources/guarded-http-error.ts";
import { fetched, idlePool } from "../../fakes.ts";
import { imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { ENGINE } from "../../postgres.ts";

// Two servers on one database fetch the photos of batches. Their other state is each one's own.

const onPostgres = test.if(ENGINE === "postgres");
const NOTHING = { onQueued: () => {}, onEnd: () => {} };
const { signal } = new AbortController();

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

function startServers(fetchPhoto: SourceFetcher["fetchPhoto"]): PhotoFetcher[] {
  const sources = {
    fetchPhoto,
    fetchBadge: fetchPhoto,
    fetchPicture: (_: string, url: string) => fetchPhoto(url),
  };
  return ["first", "second"].map((node) =>
    photoFetcher({ ...buildDeps(workspace, { pool: idlePool, sources }), node }, NOTHING),
  );
}

/** A batch of so many cards of one account. */
async function order(cards: number): Promise<void> {
  const { account } = await testAccount(workspace);
  const requests = Array.from({ length: cards }, (_, n) =>
    imageRequest({ player: { external_id: `player-${n}` } }),
  );
  const { acceptBatch } = buildDeps(workspace, { pool: idlePool });
  await acceptBatch({ account, environment: "live", idempotencyKey: null, name: "Squad", requests });
}

/** Has each server look for photos three times; what it fetches then. */
async function lookAround(servers: PhotoFetcher[]): Promise<{ done: Promise<void> }[]> {
  const fetching: { done: Promise<void> }[] = [];
  for (const server of [...servers, ...servers, ...servers]) {
    const claimed = Promise.withResolvers<true>();
    const done = server.fetchNext(signal, () => claimed.resolve(true));
    if (await Promise.race([claimed.promise, done])) fetching.push({ done });
  }
  return fetching;
}

onPostgres("both together fetch as many photos of one account at once as one of them may", async () => {
  const begun = Promise.withResolvers<() => void>();
  const hangs = () => new Promise<FetchedSource>((resolve) => begun.resolve(() => resolve(fetched())));
  await order(12);
  const servers = startServers(hangs);
  const atFirst = await lookAround(servers);
  expect(atFirst).toHaveLength(MAX_BATCH_FETCHES_PER_ACCOUNT);
  // A photo is claimed before its fetch begins.
  const endFirst = await begun.promise;
  endFirst();
  await Promise.race(atFirst.map(({ done }) => done));
  expect(await lookAround(servers)).toHaveLength(1);
  // Neither says any more: both were killed.
  workspace.clock.advance(BATCH_FETCH_LEASE_MS);
  expect(await lookAround(startServers(hangs))).toHaveLength(MAX_BATCH_FETCHES_PER_ACCOUNT);
});

onPostgres("a photo that does not come is asked for as often as by one, whoever asks", async () => {
  let tries = 0;
  const fails = async () => {
    tries += 1;
    throw unsupportedSource(
      "photo",
      "It took too long.",
      new GuardedHttpError("timeout", "It took too long."),
    );
  };
  await order(1);
  const servers = startServers(fails);
  for (let n = 0; n < 4 * BATCH_FETCH_PAUSES_MS.length; n++) {
    await servers[n % servers.length]?.fetchNext(signal, () => {});
    workspace.clock.advance(Math.max(...BATCH_FETCH_PAUSES_MS));
  }
  expect(tries).toBe(1 + BATCH_FETCH_PAUSES_MS.length);
  const { db, t } = workspace.store.read;
  expect((await db.select().from(t.images)).map(({ state }) => state)).toEqual(["failed"]);
});
