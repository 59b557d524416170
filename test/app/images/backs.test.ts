import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { basename } from "node:path";
import { picturesZip } from "../../../src/app/batches/batch-zip.ts";
import { forgetImage } from "../../../src/app/images/forget-image.ts";
import { imageView } from "../../../src/app/images/image-view.ts";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { sweep, sweepFiles } from "../../../src/app/operations/sweep.ts";
import { LEASE_MS, MAX_RENDERS, MOST_RENDER_MS } from "../../../src/core/limits.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { DAY_MS, HOUR_MS } from "../../../src/core/time.ts";
import type { Renderer } from "../../../src/render/pool.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { ledgerPage } from "../../../src/store/credits/ledger.ts";
import { countRows, picturesOf } from "../../../src/store/engine/snapshot.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import type { Image } from "../../../src/store/images/images.ts";
import { findReceipt } from "../../../src/store/images/receipts.ts";
import { writeWhole } from "../../../src/system/write-whole.ts";
import { poolOf, RENDERED } from "../../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

// A card with two sides is one image: both are there, or neither, and it costs one credit.

let workspace: TestWorkspace;
let accountId: string;
beforeEach(async () => {
  workspace = await testWorkspace();
  accountId = (await testAccount(workspace, { credits: 5 })).account.id;
});
afterEach(() => workspace.close());

const never = new AbortController().signal;

/** Draws `front` and `the back`, in files of their lengths. */
const drawSides: Renderer["render"] = async ({ side, outputPath }) => {
  const text = side === "back" ? "the back" : "front";
  await writeWhole(outputPath, text);
  const receipt = { ...RENDERED.receipt, sha256: (side === "back" ? "b" : "f").repeat(64) };
  return { kind: "done", file: { ...RENDERED, bytes: text.length, receipt } };
};

const render = async (draw: Renderer["render"] = drawSides, change: Partial<TestWorkspace> = {}) =>
  renderNextImage(buildDeps({ ...workspace, ...change }, { pool: poolOf(draw) }), never, () => {});

async function image(id: string): Promise<Image> {
  const found = await findImage(workspace.store.read, { accountId, environment: "live", id });
  if (!found) throw new Error(`no image ${id}`);
  return found;
}

const kinds = async () =>
  (await ledgerPage(workspace.store.read, { accountId, limit: 99 })).map(({ kind }) => kind).sort();

/** What is stored, by the texts in the files. */
async function stored(): Promise<string[]> {
  const { images } = workspace.folder;
  const paths = [...new Bun.Glob("**/*").scanSync({ cwd: images, absolute: true })];
  return (await Promise.all(paths.map((path) => Bun.file(path).text()))).sort();
}

const names = () => [...new Bun.Glob("**/*").scanSync(workspace.folder.images)].map((path) => basename(path));

/** The files' times are the disk's. */
const muchLater = () => ({ ...workspace.clock, now: () => Date.now() + 2 * HOUR_MS });

async function made(): Promise<Image> {
  const id = await acceptLive(workspace, accountId, { back: true });
  await render();
  return image(id);
}

test("one request makes both sides for one credit, each stored under an address of its own", async () => {
  const both = await made();
  expect(await kinds()).toEqual(["grant", "reserve", "settle"]);
  expect(await stored()).toEqual(["front", "the back"]);
  expect(names().sort()).toEqual([both.outputName ?? "", both.backOutputName ?? ""].sort());
  expect(both).toMatchObject({ outputBytes: 5, backOutputBytes: 8 });
  const config = { baseUrl: "https://cards.example", cdnBaseUrl: "https://cdn.example" };
  const view = imageView({ ...both, batchId: null }, { config, progress: null });
  expect(view).toMatchObject({
    result: {
      image_url: `https://cdn.example/${both.outputName}`,
      back_url: `https://cdn.example/${both.backOutputName}`,
    },
    usage: { credits_used: 1 },
  });
  expect(await findReceipt(workspace.store.read, both.id)).toMatchObject({
    sha256: "f".repeat(64),
    backSha256: "b".repeat(64),
  });
});

test("without the wish for a back there is none", async () => {
  const id = await acceptLive(workspace, accountId);
  await render();
  expect(await image(id)).toMatchObject({ state: "completed", backOutputName: null, backOutputBytes: null });
  expect(await stored()).toEqual(["front"]);
});

test("a back that cannot be drawn leaves nothing, and its credit comes back", async () => {
  const id = await acceptLive(workspace, accountId, { back: true });
  for (let renders = 0; renders < MAX_RENDERS; renders++) {
    await render(async (job, onStage) => {
      if (job.side === "back") throw new Error("the back broke");
      return drawSides(job, onStage);
    });
    expect(await stored()).toEqual([]);
    workspace.clock.advance(HOUR_MS);
  }
  expect((await image(id)).state).toBe("failed");
  expect(await kinds()).toEqual(["grant", "release", "reserve"]);
});

/** A store that keeps the front and is gone before the back comes. */
function storeForOne(change: Partial<TestWorkspace["blobs"]> = {}): TestWorkspace["blobs"] {
  let puts = 0;
  return {
    ...workspace.blobs,
    put: async (kind, name, content) => {
      if (kind === "picture" && ++puts === 2) throw new StorageUnavailable(new Error("gone"));
      return workspace.blobs.put(kind, name, content);
    },
    ...change,
  };
}

test("a front whose back cannot be stored goes at once", async () => {
  const id = await acceptLive(workspace, accountId, { back: true });
  await render(drawSides, { blobs: storeForOne() });
  expect(await stored()).toEqual([]);
  expect(await image(id)).toMatchObject({ state: "queued", outputName: null });
});

test("two sides that take as long as they may are not taken from their worker", async () => {
  const id = await acceptLive(workspace, accountId, { back: true });
  await render(async (job, onStage) => {
    workspace.clock.advance(MOST_RENDER_MS);
    await sweep(workspace);
    return drawSides(job, onStage);
  });
  expect(await image(id)).toMatchObject({ state: "completed", renders: 1 });
  expect(await stored()).toEqual(["front", "the back"]);
});

test("a process that ends between the two uploads loses nothing, and its stray front is swept", async () => {
  const id = await acceptLive(workspace, accountId, { back: true });
  const remove = () => Promise.reject(new StorageUnavailable(new Error("gone")));
  await render(drawSides, { blobs: storeForOne({ remove }) });
  expect(await stored()).toEqual(["front"]);
  expect(await image(id)).toMatchObject({ state: "queued", outputName: null });
  expect(await sweepFiles({ ...workspace, clock: muchLater() })).toBe(1);
  workspace.clock.advance(HOUR_MS);
  await render();
  expect(await stored()).toEqual(["front", "the back"]);
  expect(await kinds()).toEqual(["grant", "reserve", "settle"]);
  expect(await sweepFiles({ ...workspace, clock: muchLater() })).toBe(0);
  expect(await stored()).toEqual(["front", "the back"]);
});

test("of a worker that lost its lease neither side stays", async () => {
  const id = await acceptLive(workspace, accountId, { back: true });
  const [asleep, wake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = render(async (job, onStage) => {
    if (job.side === "back") {
      asleep.resolve();
      await wake.promise;
    }
    return drawSides(job, onStage);
  });
  await asleep.promise;
  workspace.clock.advance(LEASE_MS);
  await sweep(workspace);
  workspace.clock.advance(1_000);
  await render();
  wake.resolve();
  await late;
  const { outputName, backOutputName } = await image(id);
  expect(names().sort()).toEqual([outputName ?? "", backOutputName ?? ""].sort());
});

test("both sides expire together", async () => {
  const { expiresAt } = await made();
  workspace.clock.advance((expiresAt ?? 0) - workspace.clock.now() + DAY_MS);
  await sweep(workspace);
  expect(await stored()).toEqual([]);
});

test("deleting an image deletes both sides", async () => {
  const { id } = await made();
  const deps = { ...buildDeps(workspace, { pool: poolOf(drawSides) }), requests: { flush: async () => {} } };
  await forgetImage(deps, { accountId, environment: "live", id });
  expect(await stored()).toEqual([]);
});

test("the audit misses a lost back", async () => {
  const { id, backOutputName } = await made();
  const look = () => audit(workspace.store, workspace.clock.now(), { blobs: workspace.blobs });
  expect((await look()).ok).toBe(true);
  await workspace.blobs.remove("picture", backOutputName ?? "");
  const broken = (await look()).findings.flatMap((finding) => finding.broken);
  expect(broken).toEqual([{ id, detail: `its picture ${backOutputName} is missing` }]);
});

test("a backup has both sides of every card", async () => {
  const both = await made();
  const client = new Database(workspace.folder.database, { readonly: true });
  const pictures = [...picturesOf(client, workspace.clock.now())].map(({ name, bytes }) => ({ name, bytes }));
  expect(pictures).toEqual([
    { name: both.outputName ?? "", bytes: 5 },
    { name: both.backOutputName ?? "", bytes: 8 },
  ]);
  expect(countRows(client, workspace.clock.now()).pictures).toBe(2);
  client.close();
});

test("a ZIP has the back beside the front", async () => {
  const both = await made();
  const zip = await new Response(picturesZip(workspace, [both], 0, "external_id")).bytes();
  const text = new TextDecoder("latin1").decode(zip);
  expect(text).toContain(`${both.externalId}.png`);
  expect(text).toContain(`${both.externalId}_back.png`);
  expect(text).toContain("the back");
});
