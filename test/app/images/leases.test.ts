import { afterEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { finishImage, type RenderEnd } from "../../../src/app/images/finish-image.ts";
import { claimImage, renderNextImage } from "../../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../../src/app/images/render-test-image.ts";
import { sweep, sweepFiles } from "../../../src/app/operations/sweep.ts";
import { takeOver } from "../../../src/app/operations/take-over.ts";
import { LEASE_MS, MAX_RENDERS, STORAGE_RETRY_MS } from "../../../src/core/limits.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { HOUR_MS } from "../../../src/core/time.ts";
import { RenderFault, RenderInterrupted } from "../../../src/render/pool.ts";
import type { RenderJob } from "../../../src/render/protocol.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { onlyNode } from "../../../src/state/nodes.ts";
import { ledgerPage } from "../../../src/store/credits/ledger.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import type { Image } from "../../../src/store/images/images.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { STAGING_SUFFIX } from "../../../src/system/write-whole.ts";
import { picturesAfter, poolOf } from "../../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { tamper } from "../../postgres.ts";
import { acceptLive } from "../accepting.ts";

let open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open) await workspace.close();
  open = [];
});

async function start(credits = 5) {
  const workspace = await testWorkspace();
  open.push(workspace);
  const { account } = await testAccount(workspace, { credits });
  const image = async (id: string, environment: "live" | "test" = "live"): Promise<Image> => {
    const found = await findImage(workspace.store.read, { accountId: account.id, environment, id });
    if (!found) throw new Error(`no image ${id}`);
    return found;
  };
  const kinds = async () =>
    (await ledgerPage(workspace.store.read, { accountId: account.id, limit: 99 }))
      .map(({ kind }) => kind)
      .sort();
  return { workspace, account, image, kinds };
}

/** The service, with a renderer that does what the test says; the file it writes is real. */
function renderDeps(workspace: TestWorkspace, render: (job: RenderJob) => Promise<void>) {
  return buildDeps(workspace, { pool: poolOf(picturesAfter(render)) });
}

/** The names of the pictures that are there. */
function files({ folder }: TestWorkspace): string[] {
  return [...new Bun.Glob("**/*").scanSync(folder.images)].map((path) => basename(path));
}

const never = new AbortController().signal;
const output = {
  name: "a-b.png",
  width: 1,
  height: 1,
  contentType: "image/png",
  bytes: 1,
  composition: "cutout" as const,
};
const ENDS: RenderEnd[] = [
  { kind: "completed", output },
  { kind: "refused", message: "no player", reason: "no_player" },
  { kind: "fault" },
  { kind: "requeued" },
];

test("a worker that wakes up past its lease changes nothing, however its render ended", async () => {
  const { workspace, account, image, kinds } = await start();
  const id = await acceptLive(workspace, account.id);
  const slow = await claimImage(workspace, "live");
  workspace.clock.advance(LEASE_MS);
  await sweep(workspace);
  workspace.clock.advance(1_000);
  const fresh = await claimImage(workspace, "live");
  if (!slow || !fresh) throw new Error("nothing was claimed");
  const late = { imageId: id, token: slow.leaseToken, renders: slow.renders };
  const before = await image(id);
  for (const end of ENDS) expect(await finishImage(workspace, late, end)).toBeUndefined();
  expect(await image(id)).toEqual(before);

  const held = { imageId: id, token: fresh.leaseToken, renders: fresh.renders };
  expect((await finishImage(workspace, held, { kind: "completed", output }))?.state).toBe("completed");
  const done = await image(id);
  for (const end of ENDS) {
    expect(await finishImage(workspace, late, end)).toBeUndefined();
    expect(await finishImage(workspace, held, end)).toBeUndefined();
  }
  expect(await image(id)).toEqual(done);
  expect(await kinds()).toEqual(["grant", "reserve", "settle"]);
});

for (const committed of [false, true]) {
  const when = committed ? "after the commit reached the disk" : "before anything was written";
  test(`a database that fails ${when} takes the same end a moment later: one render, its picture kept`, async () => {
    const { workspace, account, image, kinds } = await start();
    const id = await acceptLive(workspace, account.id);
    let renders = 0;
    const deps = renderDeps(workspace, async () => {
      renders += 1;
    });
    let failures = 0;
    const store: typeof workspace.store = {
      ...workspace.store,
      write: async (name, work) => {
        if (name !== "finish" || failures > 0) return workspace.store.write(name, work);
        failures += 1;
        if (committed) await workspace.store.write(name, work);
        throw new StorageUnavailable(new Error("database or disk is full"));
      },
    };
    await renderNextImage({ ...deps, store }, never, () => {});
    expect({ failures, renders }).toEqual({ failures: 1, renders: 1 });
    const { state, outputName } = await image(id);
    expect(state).toBe("completed");
    expect(files(workspace)).toEqual([outputName ?? ""]);
    expect(await kinds()).toEqual(["grant", "reserve", "settle"]);
  });
}

test("the picture of a worker that lost its lease is removed, the picture of the winner stays", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id);
  const wake = Promise.withResolvers<void>();
  const asleep = Promise.withResolvers<void>();
  const paused = renderDeps(workspace, async () => {
    asleep.resolve();
    await wake.promise;
  });
  const late = renderNextImage(paused, never, () => {});
  await asleep.promise;
  workspace.clock.advance(LEASE_MS);
  await sweep(workspace);
  workspace.clock.advance(1_000);
  await renderNextImage(
    renderDeps(workspace, async () => {}),
    never,
    () => {},
  );
  const { outputName } = await image(id);
  wake.resolve();
  await late;
  expect(files(workspace)).toEqual([outputName ?? ""]);
  expect(readdirSync(workspace.folder.scratch)).toEqual([]);
});

test("a picture that its image has is not removed, whatever the end of its render says", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id);
  const store: typeof workspace.store = {
    ...workspace.store,
    write: async (name, work, options) => {
      const result = await workspace.store.write(name, work, options);
      return name === "finish" ? (undefined as typeof result) : result;
    },
  };
  await renderNextImage({ ...renderDeps(workspace, async () => {}), store }, never, () => {});
  const { state, outputName } = await image(id);
  expect(state).toBe("completed");
  expect(files(workspace)).toEqual([outputName ?? ""]);
});

test("a picture that is stored and not yet named by its image outlives a sweep of files, however old it looks", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id);
  // The files have the times of the disk.
  const clock = { ...workspace.clock, now: () => Date.now() + 2 * HOUR_MS };
  const lateSweep = () => sweepFiles({ ...workspace, clock });
  const store: typeof workspace.store = {
    ...workspace.store,
    write: async (name, work, options) => {
      if (name === "finish") expect(await lateSweep()).toBe(0);
      return workspace.store.write(name, work, options);
    },
  };
  await renderNextImage({ ...renderDeps(workspace, async () => {}), store }, never, () => {});
  const { state, outputName } = await image(id);
  expect(state).toBe("completed");
  expect(files(workspace)).toEqual([outputName ?? ""]);
  // What belongs to nobody goes all the same.
  await workspace.blobs.put("picture", `${id}-other.png`, "left by a render that lost its claim");
  expect(await lateSweep()).toBe(1);
  expect(files(workspace)).toEqual([outputName ?? ""]);
});

test("only what processes held that are gone is taken over, however long their leases still last", async () => {
  const { workspace, account, image } = await start();
  const ids = [await acceptLive(workspace, account.id), await acceptLive(workspace, account.id)];
  const neighbour = { ...workspace, node: `${workspace.node}x` };
  const [gone, living] = [await claimImage(workspace, "live"), await claimImage(neighbour, "live")];
  expect([gone?.id, living?.id].sort()).toEqual(ids.sort());
  await takeOver({ ...workspace, nodes: onlyNode(neighbour.node) });
  expect([await image(gone?.id ?? ""), await image(living?.id ?? "")]).toMatchObject([
    { state: "queued", leaseToken: null },
    { state: "rendering", leaseToken: living?.leaseToken as string },
  ]);
  await takeOver({ ...workspace, nodes: onlyNode("another") });
  expect(await image(living?.id ?? "")).toMatchObject({ state: "queued", leaseToken: null });
});

test("the placeholder of a test image that lost its lease is removed", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id, { environment: "test" });
  const deps = renderDeps(workspace, async () => {});
  // The lease is lost while the placeholder is drawn.
  const lost = Promise.withResolvers<void>();
  const give: typeof deps.placeholders.give = async (...what) => {
    await lost.promise;
    return deps.placeholders.give(...what);
  };
  await renderNextTestImage({ ...deps, placeholders: { give } }, never, () => {
    void takeOver({ ...workspace, nodes: onlyNode("another") }).finally(lost.resolve);
  });
  expect((await image(id, "test")).state).toBe("queued");
  expect(files(workspace)).toEqual([]);
});

test("after a fault an image is rendered again, at most four times after growing pauses; then it fails and its credit comes back", async () => {
  const { workspace, account, image, kinds } = await start(1);
  const id = await acceptLive(workspace, account.id);
  const begun: number[] = [];
  const deps = renderDeps(workspace, async () => {
    begun.push(workspace.clock.now());
    throw new RenderFault("the render worker ended during the render");
  });
  for (let n = 0; n < 100; n++) {
    await renderNextImage(deps, never, () => {});
    workspace.clock.advance(500);
  }
  expect(begun.slice(1).map((time, n) => time - (begun[n] ?? 0))).toEqual([500, 2_000, 8_000, 30_000]);
  expect(await image(id)).toMatchObject({
    state: "failed",
    renders: MAX_RENDERS,
    failureCode: "IMAGE_PROCESSING_FAILED",
  });
  expect(await kinds()).toEqual(["grant", "release", "reserve"]);
  expect((await findAccount(workspace.store.read, account.id))?.creditsPlan).toBe(1);
});

test("whatever breaks in a render ends it at once; nothing waits for its lease", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id);
  await renderNextImage(
    renderDeps(workspace, async () => Promise.reject(new TypeError("a bug of ours"))),
    never,
    () => {},
  );
  expect(await image(id)).toMatchObject({ state: "queued", renders: 1, leaseToken: null });
});

test("a worker killed while it writes a picture leaves nothing of it", async () => {
  const { workspace, account } = await start();
  await acceptLive(workspace, account.id);
  const deps = renderDeps(workspace, async ({ outputPath }) => {
    writeFileSync(`${outputPath}.${crypto.randomUUID()}${STAGING_SUFFIX}`, "half a picture");
    throw new RenderFault("the render worker ended during the render");
  });
  await renderNextImage(deps, never, () => {});
  expect(readdirSync(workspace.folder.scratch)).toEqual([]);
});

test("an interrupted render and one that a full disk or a bucket out of reach refused do not count", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id);
  const reject = (error: Error, signal = never) =>
    renderNextImage(
      renderDeps(workspace, async () => Promise.reject(error)),
      signal,
      () => {},
    );
  await reject(new RenderInterrupted("the render pool was closed"));
  expect(await image(id)).toMatchObject({ state: "queued", renders: 0 });
  await reject(new RenderFault("ENOSPC", true));
  const waiting = await image(id);
  expect(waiting).toMatchObject({ state: "queued", renders: 0 });
  expect(waiting.availableAt).toBe(workspace.clock.now() + STORAGE_RETRY_MS);
  workspace.clock.advance(STORAGE_RETRY_MS);
  await reject(new StorageUnavailable(new Error("put picture in the bucket: 503")));
  expect(await image(id)).toMatchObject({ state: "queued", renders: 0 });
  workspace.clock.advance(STORAGE_RETRY_MS);
  // A stop signal to the whole group of processes ends the browsers as well.
  const stopping = new AbortController();
  const deps = renderDeps(workspace, async () => {
    stopping.abort();
    throw new RenderFault("the browser ended");
  });
  await renderNextImage(deps, stopping.signal, () => {});
  expect(await image(id)).toMatchObject({ state: "queued", renders: 0 });
});

test("a test image waits out a bucket out of reach uncounted, and its end is written again when the database failed", async () => {
  const { workspace, account, image } = await start();
  const id = await acceptLive(workspace, account.id, { environment: "test" });
  const deps = renderDeps(workspace, async () => {});
  const gone = new StorageUnavailable(new Error("put picture in the bucket: 503"));
  const placeholders = { ...deps.placeholders, give: () => Promise.reject(gone) };
  await renderNextTestImage({ ...deps, placeholders }, never, () => {});
  const waiting = await image(id, "test");
  expect(waiting).toMatchObject({ state: "queued", renders: 0 });
  expect(waiting.availableAt).toBe(workspace.clock.now() + STORAGE_RETRY_MS);

  workspace.clock.advance(STORAGE_RETRY_MS);
  let failures = 0;
  const store: typeof workspace.store = {
    ...workspace.store,
    write: async (name, work) => {
      const result = await workspace.store.write(name, work);
      if (name !== "finish" || failures++ > 0) return result;
      throw new StorageUnavailable(new Error("the connection was lost during the commit"));
    },
  };
  await renderNextTestImage({ ...deps, store }, never, () => {});
  const { state, outputName } = await image(id, "test");
  expect({ failures, state }).toEqual({ failures: 2, state: "completed" });
  expect(files(workspace)).toEqual([outputName ?? ""]);
});

test("one image whose books are broken does not keep the sweep from the others", async () => {
  const { workspace, account, image } = await start();
  const other = await testAccount(workspace, { credits: 1 });
  for (const id of [account.id, other.account.id]) await acceptLive(workspace, id);
  const claimed: Image[] = [];
  for (let n = 0; n < 2; n++) claimed.push((await claimImage(workspace, "live")) as Image);
  await tamper(
    workspace.folder.database,
    `UPDATE images SET renders = ${MAX_RENDERS}`,
    // The release of this account's hold cannot be booked.
    `UPDATE accounts SET credits_held = 0 WHERE id = '${account.id}'`,
  );
  workspace.clock.set("2026-12-01T00:00:00.000Z");
  await sweep(workspace);
  const broken = claimed.find(({ accountId }) => accountId === account.id);
  expect((await image(broken?.id ?? "")).state).toBe("rendering");
  const renewed = await findAccount(workspace.store.read, other.account.id);
  expect(renewed).toMatchObject({ planPeriod: "2026-12", creditsHeld: 0 });
});
