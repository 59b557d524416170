import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type BucketInput,
  bucketStatus,
  removeBucket,
  sendAgain,
  setBucket,
  testBucket,
} from "../../../src/app/exports/manage-bucket.ts";
import { placeOf } from "../../../src/app/exports/own-bucket.ts";
import { createExporter, releaseLostExports } from "../../../src/app/exports/send-exports.ts";
import { forgetImage } from "../../../src/app/images/forget-image.ts";
import { imageView } from "../../../src/app/images/image-view.ts";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../../src/app/images/render-test-image.ts";
import { type BucketSettings, openBucket } from "../../../src/blobs/bucket.ts";
import { DELIVERY_WAITS_MS } from "../../../src/core/delivery-schedule.ts";
import { Refusal } from "../../../src/core/errors.ts";
import { exportKeys, keyPatternFault } from "../../../src/core/export-key.ts";
import { EXPORT_LEASE_MS } from "../../../src/core/outbound-limits.ts";
import { HOUR_MS } from "../../../src/core/time.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { claimExport, findExport } from "../../../src/store/exports/exports.ts";
import { findAnyImage, findImageAnswer } from "../../../src/store/images/image-reads.ts";
import { emptyBucket, stopEmulator } from "../../buckets.ts";
import { picturesAfter, poolOf } from "../../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let workspace: TestWorkspace;
let accountId: string;
beforeEach(async () => {
  workspace = await testWorkspace();
  accountId = (await testAccount(workspace)).account.id;
});
afterEach(() => workspace.close());
afterAll(stopEmulator);

const pool = poolOf(picturesAfter(async () => {}));
const LONG_MS = 10 * DELIVERY_WAITS_MS[9];

/** The service, allowed to reach these addresses. */
function allowing(...endpoints: string[]) {
  const origins = new Set(endpoints.map((endpoint) => new URL(endpoint).origin));
  return { ...workspace, config: { ...workspace.config, exportAllowedOrigins: origins } };
}

const inputOf = (settings: BucketSettings): BucketInput => ({ ...settings, keyPattern: "cards/{image_id}" });

/** A finished live card, or test card. */
async function finished(back = false): Promise<string> {
  const id = await acceptLive(workspace, accountId, { back });
  await renderNextImage(buildDeps(workspace, { pool }), new AbortController().signal, () => {});
  return id;
}

async function viewOf(id: string) {
  const image = await findImageAnswer(workspace.store.read, { accountId, environment: "live", id });
  if (!image) throw new Error("no image");
  const view = imageView(image, { config: workspace.config, progress: null });
  return view.status === "completed" ? view.export : undefined;
}

const send = (deps: ReturnType<typeof allowing>, signal = new AbortController().signal) =>
  createExporter(deps).sendNext(signal, () => {});

async function keysIn(settings: BucketSettings): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of (await openBucket(settings)).list("")) keys.push(key);
  return keys.toSorted();
}

/** A storage with prescribed answers. */
function storage(answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  const settings = {
    endpoint: `http://127.0.0.1:${server.port}`,
    region: "us-east-1",
    bucket: "cards",
    accessKeyId: "id",
    secretAccessKey: "secret",
  };
  return { settings, stop: () => server.stop(true) };
}

test("a finished live card is put there with both sides, byte for byte, and its views say so; test cards are not", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint);
  const before = await finished();
  await setBucket(deps, { accountId }, inputOf(settings));
  const id = await finished(true);
  const note = { key: `cards/${id}.png`, back_key: `cards/${id}-back.png`, error: null };
  expect(await viewOf(id)).toEqual({ status: "pending", ...note });
  await send(deps);
  expect(await viewOf(id)).toEqual({ status: "exported", ...note });
  expect(await viewOf(before)).toBeUndefined();
  const trial = await acceptLive(workspace, accountId, { environment: "test" });
  const none = new AbortController().signal;
  workspace.clock.advance(HOUR_MS);
  await renderNextTestImage(buildDeps(workspace, { pool }), none, () => {});
  expect((await findAnyImage(workspace.store.read, trial))?.state).toBe("completed");
  expect(await findExport(workspace.store.read, trial)).toBeUndefined();
  expect(await keysIn(settings)).toEqual([`cards/${id}-back.png`, `cards/${id}.png`]);
  const image = await findImageAnswer(workspace.store.read, { accountId, environment: "live", id });
  const kept = await (await workspace.blobs.open("picture", image?.outputName ?? ""))?.bytes();
  expect(await (await openBucket(settings)).read(`cards/${id}.png`)).toEqual(kept as Uint8Array<ArrayBuffer>);
});

test("a bucket that is away holds up no card; each is put there once it is back, and a long outage is sent again by hand", async () => {
  const settings = await emptyBucket();
  let isAway = true;
  const proxy = storage(async (request) => {
    if (isAway) return new Response(null, { status: 503 });
    const { pathname, search } = new URL(request.url);
    const body = await request.bytes();
    const { method, headers } = request;
    const sent = { method, headers, ...(body.length > 0 && { body }) };
    const answer = await fetch(settings.endpoint + pathname + search, sent);
    return new Response(method === "HEAD" ? null : await answer.bytes(), answer);
  });
  const away = { ...settings, endpoint: proxy.settings.endpoint };
  const deps = allowing(away.endpoint);
  await setBucket(deps, { accountId }, inputOf(away));
  const id = await finished();
  await send(deps);
  expect(await viewOf(id)).toMatchObject({ status: "pending", error: expect.stringContaining("503") });
  expect((await bucketStatus(deps, accountId)).bucket?.lastError).toContain("503");
  for (const _ of DELIVERY_WAITS_MS) {
    workspace.clock.advance(LONG_MS);
    await send(deps);
  }
  expect(await viewOf(id)).toMatchObject({ status: "failed" });
  expect((await bucketStatus(deps, accountId)).failed.map(({ imageId }) => imageId)).toEqual([id]);
  isAway = false;
  workspace.clock.advance(LONG_MS);
  expect(await sendAgain(deps, { accountId })).toBe(1);
  await send(deps);
  expect(await viewOf(id)).toMatchObject({ status: "exported", error: null });
  expect((await bucketStatus(deps, accountId)).bucket?.lastError).toBeNull();
  expect(await keysIn(settings)).toEqual([`cards/${id}.png`]);
  await proxy.stop();
});

test("what a killed process had claimed is put there by the next, once its lease is over; a stop begins it anew uncounted", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint);
  await setBucket(deps, { accountId }, inputOf(settings));
  const id = await finished();
  const now = workspace.clock.now();
  const claim = {
    accountId,
    token: "killed",
    now,
    leaseExpiresAt: now + EXPORT_LEASE_MS,
    place: placeOf(settings),
  };
  await workspace.store.write("claim", (tx) => claimExport(tx, claim));
  await releaseLostExports(deps);
  await send(deps);
  expect(await keysIn(settings)).toEqual([]);
  workspace.clock.advance(EXPORT_LEASE_MS);
  await releaseLostExports(deps);
  await send(deps, AbortSignal.abort());
  expect(await findExport(workspace.store.read, id)).toMatchObject({ state: "pending", attempts: 0 });
  await send(deps);
  expect(await viewOf(id)).toMatchObject({ status: "exported" });
});

test("a deleted card is removed there too, also one that is just being put there", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint);
  const requests = { flush: async () => {} };
  await setBucket(deps, { accountId }, inputOf(settings));
  const done = await finished(true);
  await send(deps);
  const flying = await finished();
  const now = workspace.clock.now();
  const claim = {
    accountId,
    token: "sender",
    now,
    leaseExpiresAt: now + EXPORT_LEASE_MS,
    place: placeOf(settings),
  };
  await workspace.store.write("claim", (tx) => claimExport(tx, claim));
  const never = await finished();
  for (const id of [done, flying, never])
    await forgetImage({ ...workspace, requests }, { accountId, environment: "live", id });
  expect(await findExport(workspace.store.read, never)).toBeUndefined();
  for (let n = 0; n < 3; n++) await send(deps);
  // The sender's request arrives after the deletion, and before its lease is over.
  await (await openBucket(settings)).put(`cards/${flying}.png`, new Uint8Array(1));
  expect(await keysIn(settings)).toEqual([`cards/${flying}.png`]);
  workspace.clock.advance(EXPORT_LEASE_MS);
  await send(deps);
  expect(await keysIn(settings)).toEqual([]);
  for (const id of [done, flying]) expect(await findExport(workspace.store.read, id)).toBeUndefined();
});

test("a deleted card is removed there too after the process that had begun to put it there was killed, or stopped", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint);
  const requests = { flush: async () => {} };
  await setBucket(deps, { accountId }, inputOf(settings));
  const bucket = await openBucket(settings);
  const killed = await finished();
  const now = workspace.clock.now();
  const claim = {
    accountId,
    token: "killed",
    now,
    leaseExpiresAt: now + EXPORT_LEASE_MS,
    place: placeOf(settings),
  };
  await workspace.store.write("claim", (tx) => claimExport(tx, claim));
  await bucket.put(`cards/${killed}.png`, new Uint8Array(1));
  workspace.clock.advance(EXPORT_LEASE_MS);
  await releaseLostExports(deps);
  await forgetImage({ ...workspace, requests }, { accountId, environment: "live", id: killed });
  await send(deps);
  expect(await keysIn(settings)).toEqual([]);
  const stopped = await finished();
  await send(deps, AbortSignal.abort());
  await bucket.put(`cards/${stopped}.png`, new Uint8Array(1));
  await forgetImage({ ...workspace, requests }, { accountId, environment: "live", id: stopped });
  await send(deps);
  expect(await keysIn(settings)).toEqual([]);
});

test("once a bucket is removed nothing more goes there, and what waits is forgotten", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint);
  await setBucket(deps, { accountId }, inputOf(settings));
  const id = await finished();
  await removeBucket(deps, { accountId });
  await send(deps);
  expect(await viewOf(id)).toBeUndefined();
  expect(await keysIn(settings)).toEqual([]);
  expect(await findExport(workspace.store.read, id)).toBeUndefined();
  await expect(testBucket(deps, accountId)).rejects.toThrow(Refusal);
});

test("an attempt that ends after its bucket was removed, or named anew, leaves nothing of its failure", async () => {
  let change: (() => Promise<unknown>) | undefined;
  const { settings, stop } = storage(async () => {
    const once = change;
    change = undefined;
    await once?.();
    return new Response(null, { status: 503 });
  });
  const deps = allowing(settings.endpoint);
  await setBucket(deps, { accountId }, inputOf(settings));
  const waiting = await finished();
  change = () => {
    workspace.clock.advance(1);
    return setBucket(deps, { accountId }, { ...inputOf(settings), bucket: "other" });
  };
  await send(deps);
  expect((await bucketStatus(deps, accountId)).bucket).toMatchObject({ bucket: "other", lastError: null });
  expect(await viewOf(waiting)).toMatchObject({ status: "pending" });
  workspace.clock.advance(LONG_MS);
  change = () => removeBucket(deps, { accountId });
  await send(deps);
  expect(await viewOf(waiting)).toBeUndefined();
  expect(await findExport(workspace.store.read, waiting)).toBeUndefined();
  await stop();
});

test("a bucket is reached by the rules for strangers' addresses, when it is named and at each attempt", async () => {
  const { settings, stop } = storage(() => new Response(null, { headers: { ETag: '"v"' } }));
  await expect(setBucket(workspace, { accountId }, inputOf(settings))).rejects.toThrow(/^endpoint: /);
  const deps = allowing(settings.endpoint);
  await setBucket(deps, { accountId }, inputOf(settings));
  const id = await finished();
  // Allowed when it was named, and not any more.
  await send(allowing());
  expect(await viewOf(id)).toMatchObject({
    status: "pending",
    error: expect.stringMatching(/https|address/),
  });
  await stop();
});

describe("a try", () => {
  const xml = (code: string, status: number) => () =>
    new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`, {
      status,
      headers: { "Content-Type": "application/xml" },
    });
  test.each([
    ["SignatureDoesNotMatch", 403, /refused the signature/],
    ["InvalidAccessKeyId", 403, /does not know the access key id/],
    ["AccessDenied", 403, /may not write objects .* s3:PutObject/],
    ["NoSuchBucket", 404, /There is no bucket of this name/],
    ["AuthorizationHeaderMalformed", 400, /in another region/],
    ["PermanentRedirect", 301, /in another region/],
    ["InternalError", 500, /answered 500/],
  ])("that the storage refuses with %s says what to do", async (code, status, words) => {
    const { settings, stop } = storage(xml(code, status));
    const deps = allowing(settings.endpoint);
    await setBucket(deps, { accountId }, inputOf(settings));
    expect(await testBucket(deps, accountId)).toMatch(words);
    await stop();
  });

  test("keeps little of what a storage says, and nothing that a database refuses", async () => {
    const answer = `<?xml version="1.0"?><Error><Code>Odd</Code><Message>a&#1;${"b".repeat(9_000)}</Message></Error>`;
    const { settings, stop } = storage(() => new Response(answer, { status: 400 }));
    const deps = allowing(settings.endpoint);
    await setBucket(deps, { accountId }, inputOf(settings));
    expect(await testBucket(deps, accountId)).toMatch(/^The storage could not be used: a b{200,300}…$/);
    await stop();
  });

  test("works on a storage, leaves nothing, and says when nobody answers or the bucket is missing", async () => {
    const settings = await emptyBucket();
    const deps = allowing(settings.endpoint, "http://127.0.0.1:1");
    const asker = { accountId };
    await setBucket(deps, asker, inputOf(settings));
    expect(await testBucket(deps, accountId)).toBeUndefined();
    expect(await keysIn(settings)).toEqual([]);
    await setBucket(deps, asker, inputOf({ ...settings, bucket: "not-there-at-all" }));
    expect(await testBucket(deps, accountId)).toMatch(/There is no bucket of this name/);
    await setBucket(deps, asker, inputOf({ ...settings, endpoint: "http://127.0.0.1:1" }));
    expect(await testBucket(deps, accountId)).toMatch(/No connection to the server/);
  });

  test.skipIf(!process.env.CARDPRESS_TEST_S3)(
    "with a wrong secret is refused by a real storage",
    async () => {
      const settings = await emptyBucket();
      const deps = allowing(settings.endpoint);
      await setBucket(deps, { accountId }, inputOf({ ...settings, secretAccessKey: "wrong" }));
      expect(await testBucket(deps, accountId)).toMatch(/refused the signature/);
    },
  );
});

test("the secret is sealed, never shown, kept for its own address alone, and each change is in the log", async () => {
  const settings = await emptyBucket();
  const deps = allowing(settings.endpoint, "http://127.0.0.1:1");
  const shown = await setBucket(deps, { accountId }, { ...inputOf(settings), secretAccessKey: "hush-hush" });
  expect(JSON.stringify([shown, await bucketStatus(deps, accountId)])).not.toContain("hush");
  const rows = await workspace.store.read.db.select().from(workspace.store.read.t.accountBuckets);
  expect(JSON.stringify(rows)).not.toContain("hush");
  const kept = { ...inputOf(settings), secretAccessKey: "", keyPattern: "{date}/{image_id}" };
  await setBucket(deps, { accountId }, kept);
  await expect(setBucket(deps, { accountId }, { ...kept, endpoint: "http://127.0.0.1:1" })).rejects.toThrow(
    /^secret_access_key: /,
  );
  await removeBucket(deps, { accountId });
  const log = await workspace.store.read.db.select().from(workspace.store.read.t.auditEntries);
  expect(log.map(({ action }) => action).filter((action) => action.startsWith("bucket."))).toEqual([
    "bucket.set",
    "bucket.set",
    "bucket.removed",
  ]);
});

test("keys are made of what a card is, lead nowhere else, and are each card's own", () => {
  const words = { image_id: "img_1", external_id: "../a b/ü", batch_id: "bat_1", date: "2026-11-26" };
  expect(exportKeys("x/{batch_id}/{date}-{external_id}-{image_id}", words, ["a-b.png", "a-c.png"])).toEqual([
    "x/bat_1/2026-11-26-__a_b__-img_1.png",
    "x/bat_1/2026-11-26-__a_b__-img_1-back.png",
  ]);
  for (const pattern of [
    "{external_id}",
    "/{image_id}",
    "a//{image_id}",
    "../{image_id}",
    "{image_id}/",
    "{who}{image_id}",
    "ä{image_id}",
  ])
    expect(keyPatternFault(pattern)).toBeString();
  expect(keyPatternFault("cards/{date}/{image_id}")).toBeUndefined();
});
