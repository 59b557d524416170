import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import {
  bucketStatus,
  dropUnnamed,
  setBucket,
  unreadableBuckets,
} from "../../../src/app/exports/manage-bucket.ts";
import { placeOf } from "../../../src/app/exports/own-bucket.ts";
import { createExporter, type SendDeps } from "../../../src/app/exports/send-exports.ts";
import { forgetImage } from "../../../src/app/images/forget-image.ts";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { sweep } from "../../../src/app/operations/sweep.ts";
import { takeOver } from "../../../src/app/operations/take-over.ts";
import { type BucketSettings, openBucket } from "../../../src/blobs/bucket.ts";
import { DELIVERY_WAITS_MS } from "../../../src/core/delivery-schedule.ts";
import { EXPORT_LEASE_MS } from "../../../src/core/outbound-limits.ts";
import { secretBox } from "../../../src/core/secret-box.ts";
import { HOUR_MS } from "../../../src/core/time.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { onlyNode } from "../../../src/state/nodes.ts";
import { claimExport, deleteBucket, findExport } from "../../../src/store/exports/exports.ts";
import { findAnyImage } from "../../../src/store/images/image-reads.ts";
import { emptyBucket, stopEmulator } from "../../buckets.ts";
import { picturesAfter, poolOf } from "../../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

// What goes wrong on this service's side of an account's own bucket: kills, and faults of its own.

let workspace: TestWorkspace;
let accountId: string;
let settings: BucketSettings;
let deps: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
  accountId = (await testAccount(workspace)).account.id;
  settings = await emptyBucket();
  const origins = new Set([new URL(settings.endpoint).origin]);
  deps = { ...workspace, config: { ...workspace.config, exportAllowedOrigins: origins } };
  await setBucket(deps, { accountId }, { ...settings, keyPattern: "cards/{image_id}" });
});
afterEach(() => workspace.close());
afterAll(stopEmulator);

const pool = poolOf(picturesAfter(async () => {}));
const never = new AbortController().signal;

/** A finished live card. */
async function finished(): Promise<string> {
  const id = await acceptLive(workspace, accountId);
  await renderNextImage(buildDeps(workspace, { pool }), never, () => {});
  return id;
}

const send = (by: SendDeps = deps) => createExporter(by).sendNext(never, () => {});
const exportOf = (id: string) => findExport(workspace.store.read, id);
const forget = (imageId: string) =>
  forgetImage(
    { ...workspace, requests: { flush: async () => {} } },
    { accountId, environment: "live", id: imageId },
  );

/** Claims the next card as another process would that is then killed, or stands still. */
async function claimBy(node: string): Promise<void> {
  const now = workspace.clock.now();
  const claim = {
    ...{ accountId, token: `${node}.lease_1`, now },
    ...{ leaseExpiresAt: now + EXPORT_LEASE_MS, place: placeOf(settings) },
  };
  await workspace.store.write("claim", (tx) => claimExport(tx, claim));
}

async function keysInBucket(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of (await openBucket(settings)).list("")) keys.push(key);
  return keys.toSorted();
}

test("what a killed process had claimed is put there by its successor at once, and nobody else's is taken from them", async () => {
  const id = await finished();
  await claimBy("killed");
  await takeOver({ ...workspace, nodes: { ...onlyNode(workspace.node), ended: async () => [] } });
  await send();
  expect(await keysInBucket()).toEqual([]);
  await takeOver({ ...workspace, nodes: onlyNode(workspace.node) });
  await send();
  expect(await keysInBucket()).toEqual([`cards/${id}.png`]);
  expect(await exportOf(id)).toMatchObject({ state: "exported", leaseToken: null });
});

test("a process that stood still while its card was deleted and removed leaves nothing in the bucket", async () => {
  const id = await finished();
  const frozen: SendDeps = {
    ...deps,
    blobs: {
      ...deps.blobs,
      open: async (kind, name) => {
        // While it stands still with the picture in its hands.
        const file = await deps.blobs.open(kind, name);
        const bytes = await file?.arrayBuffer();
        await takeOver({ ...workspace, nodes: { ...onlyNode("other"), ended: async (names) => [...names] } });
        await forget(id);
        await send();
        expect(await exportOf(id)).toBeUndefined();
        return bytes ? new Blob([bytes]) : null;
      },
    },
  };
  await send(frozen);
  expect(await keysInBucket()).toEqual([]);
});

test("a picture that cannot be read here neither pauses the bucket nor is ever given up", async () => {
  const id = await finished();
  const broken: SendDeps = {
    ...deps,
    blobs: { ...deps.blobs, open: () => Promise.reject(new Error("EIO")) },
  };
  for (const _ of [...DELIVERY_WAITS_MS, 0]) {
    await send(broken);
    workspace.clock.advance(48 * HOUR_MS);
  }
  expect((await bucketStatus(deps, accountId)).bucket).toMatchObject({ lastError: null, pausedUntil: null });
  expect(await exportOf(id)).toMatchObject({ state: "pending", error: expect.stringMatching(/read here/) });
  await send();
  expect(await keysInBucket()).toEqual([`cards/${id}.png`]);
});

test("a database that cannot be read or written is no fault of the bucket, and the card goes there afterwards", async () => {
  const id = await finished();
  let isAway = true;
  const write: SendDeps["store"]["write"] = (what, work, options) =>
    isAway && what === "record export"
      ? Promise.reject(new Error("database is locked"))
      : workspace.store.write(what, work, options);
  await send({ ...deps, store: { ...workspace.store, write } });
  expect(await exportOf(id)).toMatchObject({ state: "pending", attempts: 0, leaseToken: null });
  expect((await bucketStatus(deps, accountId)).bucket).toMatchObject({ lastError: null, pausedUntil: null });
  isAway = false;
  await send();
  expect(await exportOf(id)).toMatchObject({ state: "exported" });
});

test("a picture whose file is lost here is given up by itself, with the reason, and the next card goes on", async () => {
  const lost = await finished();
  const image = await findAnyImage(workspace.store.read, lost);
  await workspace.blobs.remove("picture", image?.outputName ?? "");
  workspace.clock.advance(1);
  const next = await finished();
  await send();
  await send();
  expect(await exportOf(lost)).toMatchObject({ state: "failed", error: expect.stringMatching(/missing in/) });
  expect(await exportOf(next)).toMatchObject({ state: "exported" });
});

test("what is to be removed is not counted among the cards that wait", async () => {
  const id = await finished();
  await send();
  await forget(id);
  expect(await exportOf(id)).toMatchObject({ state: "removing" });
  expect(await bucketStatus(deps, accountId)).toMatchObject({ waiting: 0 });
  await finished();
  expect(await bucketStatus(deps, accountId)).toMatchObject({ waiting: 1 });
});

test("a kill while a bucket is removed leaves nothing that waits for ever, and what waits for one named since stays", async () => {
  const waiting = await finished();
  await claimBy("killed");
  workspace.clock.advance(1);
  const unclaimed = await finished();
  // The removal gets as far as this.
  await workspace.store.write("remove", (tx) => deleteBucket(tx, accountId));
  await takeOver({ ...workspace, nodes: onlyNode(workspace.node) });
  await sweep(workspace);
  for (const id of [waiting, unclaimed]) {
    expect(await exportOf(id)).toBeUndefined();
    expect((await findAnyImage(workspace.store.read, id))?.exported).toBeNull();
  }
  await setBucket(deps, { accountId }, { ...settings, keyPattern: "cards/{image_id}" });
  const kept = await finished();
  await dropUnnamed(workspace);
  expect(await exportOf(kept)).toMatchObject({ state: "pending" });
});

test("the accounts are known whose bucket's key cannot be read", async () => {
  expect(await unreadableBuckets(workspace)).toEqual([]);
  const foreign = secretBox(new Uint8Array(32), (length) => new Uint8Array(length));
  expect(await unreadableBuckets({ ...workspace, secrets: foreign })).toEqual([accountId]);
});
