import { afterEach, beforeEach, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { MAX_PATIENT_PLACEHOLDERS } from "../../../src/app/images/placeholder-picture.ts";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../../src/app/images/render-test-image.ts";
import { sweep, sweepFiles } from "../../../src/app/operations/sweep.ts";
import { OWN_PLACEHOLDER_BYTES_PER_DAY } from "../../../src/core/limits.ts";
import { DAY_MS } from "../../../src/core/time.ts";
import type { RenderJob } from "../../../src/render/protocol.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { openWorkspace, type Workspace } from "../../../src/service/workspace.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import { LANES } from "../../../src/store/images/queue-place.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { unpackTemplate } from "../../../src/templates/pinned.ts";
import { templateRegistry } from "../../../src/templates/registry.ts";
import { picturesAfter, poolOf, RENDERED } from "../../fakes.ts";
import {
  declareCompositions,
  type FakeClock,
  fakeClock,
  openTestStore,
  ownTemplate,
  seededRandom,
  silentLog,
  type TestFolder,
  testAccount,
  testConfig,
  testFolder,
} from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

// A card was asked for while its template was listed; then the operator changes the list.

let folder: TestFolder;
let workspace: Workspace;
let clock: FakeClock;
let accountId: string;
const drawn: string[] = [];
const pinnedTo: RenderJob["template"][] = [];
beforeEach(async () => {
  folder = testFolder();
  const templatesDir = join(folder.dir, "templates");
  await ownTemplate(templatesDir, "season_card");
  const config = testConfig(folder.dir, {
    CARDPRESS_TEMPLATES_DIR: templatesDir,
    CARDPRESS_PRESETS: "season_card,club_card",
  });
  clock = fakeClock();
  workspace = await openWorkspace(config, silentLog, {
    clock,
    random: seededRandom(),
    openStore: openTestStore(clock),
  });
  accountId = (await testAccount(workspace, { credits: 5 })).account.id;
  drawn.length = 0;
  pinnedTo.length = 0;
});
afterEach(async () => {
  await workspace.store.close();
  await folder.remove();
});

const MADE_WITH = { version: "2.0.0", digest: "b".repeat(64) };
const pictures = picturesAfter(async ({ card, template }) => {
  drawn.push(card.style.preset);
  pinnedTo.push(template);
});
const pool = poolOf(async (job, onStage) => {
  await pictures(job, onStage);
  return { kind: "done", file: { ...RENDERED, template: MADE_WITH } };
});

/** Renders what waits, as a service that lists only the built-in template. */
async function renderUnlisted(): Promise<void> {
  const templates = templateRegistry({ ...workspace.config, presets: ["club_card"] });
  const deps = buildDeps({ ...workspace, templates }, { pool });
  await renderNextImage(deps, new AbortController().signal, () => {});
}

const image = (id: string) => findImage(workspace.store.read, { accountId, environment: "live", id });

test("a template that is not listed any more is drawn for those who asked in time, and the row says with what", async () => {
  const id = await acceptLive(workspace, accountId, { preset: "season_card" });
  const { digest } = await workspace.templates.current("season_card");
  expect(await image(id)).toMatchObject({
    templateName: "season_card",
    templateVersion: "1.0.0",
    templateDigest: digest,
  });
  await renderUnlisted();
  expect(drawn).toEqual(["season_card"]);
  expect(await image(id)).toMatchObject({
    state: "completed",
    templateName: "season_card",
    templateVersion: MADE_WITH.version,
    templateDigest: MADE_WITH.digest,
  });
});

test("what waits is drawn with the template it was accepted with, after an edit and a start of another process", async () => {
  const id = await acceptLive(workspace, accountId, { preset: "season_card" });
  const { digest } = await workspace.templates.current("season_card");
  await ownTemplate(workspace.config.templatesDir ?? "", "season_card", (css) => `${css}\n/* edited */`);
  await workspace.store.close();
  workspace = await openWorkspace(workspace.config, silentLog, {
    clock,
    random: seededRandom(),
    openStore: openTestStore(clock),
  });
  expect((await workspace.templates.current("season_card")).digest).not.toBe(digest);
  await renderNextImage(buildDeps(workspace, { pool }), new AbortController().signal, () => {});
  const [pinned] = pinnedTo;
  expect(pinned?.digest).toBe(digest);
  const kept = await unpackTemplate(await Bun.file(pinned?.path ?? "").bytes(), digest);
  expect(kept.css).not.toContain("/* edited */");
  expect((await image(id))?.state).toBe("completed");
});

test("test images show the template they were accepted with and what was sent, without its photo, and share what is alike", async () => {
  const jobs: RenderJob[] = [];
  const testPool = poolOf(async (job, onStage) => {
    jobs.push(job);
    return pictures(job, onStage);
  });
  const make = async (preset: string) => {
    const id = await acceptLive(workspace, accountId, { preset, environment: "test" });
    const deps = buildDeps(workspace, { pool: testPool });
    await renderNextTestImage(deps, new AbortController().signal, () => {});
    return findImage(workspace.store.read, { accountId, environment: "test", id });
  };
  const { digest } = await workspace.templates.current("season_card");
  const [first, second] = [await make("season_card"), await make("season_card")];
  expect([first?.state, second?.state]).toEqual(["completed", "completed"]);
  expect(jobs).toHaveLength(1);
  expect(jobs[0]).toMatchObject({
    placeholder: true,
    badgePath: null,
    template: { digest },
    card: { style: { preset: "season_card" }, player: { name: "Maya Okafor" } },
  });
  expect(first?.outputName).not.toBe(second?.outputName);
});

test("a batch's test images wait for pictures of their own; a single one is given a silhouette in time", async () => {
  const jobs: RenderJob[] = [];
  const pool = poolOf(async (job, onStage) => {
    jobs.push(job);
    return pictures(job, onStage);
  });
  const worker = Promise.withResolvers<void>();
  const busy = { ...pool, acquire: (signal: AbortSignal) => worker.promise.then(() => pool.acquire(signal)) };
  const deps = buildDeps(workspace, { pool: busy });
  const accept = (name: string) => acceptLive(workspace, accountId, { name, environment: "test" });
  const find = (id: string) => findImage(workspace.store.read, { accountId, environment: "test", id });
  const ofBatch = await accept("Eva");
  const { images } = workspace.store.read.t;
  await workspace.store.write("join the batch lane", ({ db }) =>
    db.update(images).set({ lane: LANES.batch }).where(eq(images.id, ofBatch)),
  );
  const claimed = Promise.withResolvers<void>();
  const drawn = renderNextTestImage(deps, new AbortController().signal, claimed.resolve);
  await claimed.promise;
  const single = await accept("Flo");
  await renderNextTestImage(deps, new AbortController().signal, () => {});
  expect((await find(single))?.state).toBe("completed");
  expect((await find(ofBatch))?.state).toBe("rendering");
  worker.resolve();
  await drawn;
  expect((await find(ofBatch))?.state).toBe("completed");
  expect(jobs.map(({ card }) => card.player.name)).toEqual(["Eva"]);
});

test("so many of a batch wait for pictures of their own that others find a place", async () => {
  const worker = Promise.withResolvers<void>();
  const pool = poolOf(pictures);
  const busy = { ...pool, acquire: (signal: AbortSignal) => worker.promise.then(() => pool.acquire(signal)) };
  const deps = buildDeps(workspace, { pool: busy });
  const runs: Promise<number>[] = [];
  for (let n = 0; n <= MAX_PATIENT_PLACEHOLDERS; n++) {
    const id = await acceptLive(workspace, accountId, { name: `Player ${n}`, environment: "test" });
    await workspace.store.write("join the batch lane", ({ db, t }) =>
      db.update(t.images).set({ lane: LANES.batch }).where(eq(t.images.id, id)),
    );
    const claimed = Promise.withResolvers<void>();
    const run = renderNextTestImage(deps, new AbortController().signal, claimed.resolve);
    runs.push(run.then(() => n));
    await claimed.promise;
  }
  expect(await Promise.race(runs)).toBe(MAX_PATIENT_PLACEHOLDERS);
  worker.resolve();
  await Promise.all(runs);
});

test("a test image of the built-in card shows what was sent while a worker is free and the day's bytes last, and a silhouette otherwise", async () => {
  const jobs: RenderJob[] = [];
  const free = poolOf(async (job, onStage) => {
    jobs.push(job);
    return pictures(job, onStage);
  });
  const deps = buildDeps(workspace, { pool: free });
  const make = async (name: string, pool = free) => {
    const id = await acceptLive(workspace, accountId, { name, environment: "test" });
    await renderNextTestImage({ ...deps, pool }, new AbortController().signal, () => {});
    return findImage(workspace.store.read, { accountId, environment: "test", id });
  };
  const [first, same, other] = [await make("Ana"), await make("Ana"), await make("Bo")];
  expect([first?.externalId === same?.externalId, first?.state, same?.state]).toEqual([
    false,
    "completed",
    "completed",
  ]);
  expect(
    jobs.map(({ card, placeholder }) => [card.player.name, card.player.externalId, placeholder]),
  ).toEqual([
    ["Ana", undefined, true],
    ["Bo", undefined, true],
  ]);
  expect(other?.outputBytes).toBe(RENDERED.bytes);
  const busy = { ...free, acquire: () => Promise.reject(new Error("no worker is free in time")) };
  expect(await make("Cy", busy)).toMatchObject({ state: "completed", renders: 1 });
  await workspace.placeholderBytes.spend(accountId, OWN_PLACEHOLDER_BYTES_PER_DAY);
  const silhouette = await make("Di");
  expect(silhouette?.state).toBe("completed");
  expect(silhouette?.outputBytes).toBeGreaterThan(10_000);
  expect(jobs).toHaveLength(2);
});

test("a test image that cannot be made ends at once, with the reason", async () => {
  const deps = buildDeps(workspace, {
    pool: poolOf(async () => ({
      kind: "refused",
      message: "The browser is old.",
      reason: "browser_too_old",
    })),
  });
  const id = await acceptLive(workspace, accountId, { environment: "test", format: "webm" });
  await renderNextTestImage(deps, new AbortController().signal, () => {});
  expect(await findImage(workspace.store.read, { accountId, environment: "test", id })).toMatchObject({
    state: "failed",
    renders: 1,
    failureReason: "browser_too_old",
    failureMessage: "The browser is old.",
  });
});

test("a test image shows the composition that was asked for, or its own template's usual one", async () => {
  const dir = workspace.config.templatesDir ?? "";
  await declareCompositions(dir, "season_card", ["photo", "cutout"]);
  const deps = buildDeps(workspace, { pool });
  const accept = (preset: string, composition?: "cutout" | "auto") =>
    acceptLive(workspace, accountId, { preset, environment: "test", ...(composition && { composition }) });
  const made = async (id: string) => {
    await renderNextTestImage(deps, new AbortController().signal, () => {});
    const image = await findImage(workspace.store.read, { accountId, environment: "test", id });
    return image?.outputComposition;
  };
  expect(await made(await accept("season_card", "cutout"))).toBe("cutout");
  expect(await made(await accept("season_card", "auto"))).toBe("photo");
  expect(drawn).toHaveLength(2);
  const waiting = await accept("season_card");
  await declareCompositions(dir, "season_card");
  expect(await made(waiting)).toBe("photo");
  expect(await made(await accept("season_card"))).toBe("cutout");
});

test("templates are kept while an unfinished image or a served picture needs them, and then go", async () => {
  const id = await acceptLive(workspace, accountId, { preset: "season_card" });
  const { digest } = await workspace.templates.current("season_card");
  const truthful = poolOf(async (job, onStage) => {
    await pictures(job, onStage);
    const made = { version: "1.0.0", digest: job.template?.digest ?? "" };
    return { kind: "done", file: { ...RENDERED, template: made } };
  });
  const deps = buildDeps(workspace, { pool: truthful });
  const clock = workspace.clock as FakeClock;
  const isKept = async () => {
    await sweepFiles({ ...deps, clock });
    return (await workspace.blobs.stat("template", digest)) !== null;
  };
  clock.jump(Date.now() - clock.now() + 8 * DAY_MS);
  expect(await isKept()).toBe(true);
  await renderNextImage(deps, new AbortController().signal, () => {});
  expect([(await image(id))?.state, await isKept()]).toEqual(["completed", true]);
  clock.advance(31 * DAY_MS);
  await sweep(deps);
  expect(await isKept()).toBe(false);
  await acceptLive(workspace, accountId, { preset: "season_card" });
  expect(await workspace.blobs.stat("template", digest)).not.toBeNull();
});

test("one whose files are gone too, here and where they were kept, fails at once with the remedy, gives the credit back, and holds up nobody", async () => {
  const lost = await acceptLive(workspace, accountId, { preset: "season_card" });
  const next = await acceptLive(workspace, accountId, { preset: "club_card" });
  const place = join(workspace.config.templatesDir ?? "", "season_card");
  await rename(place, join(folder.dir, "away"));
  await workspace.blobs.remove("template", (await image(lost))?.templateDigest ?? "");
  await renderUnlisted();
  await renderUnlisted();
  expect(drawn).toEqual(["club_card"]);
  const failed = await image(lost);
  expect([failed?.state, failed?.failureCode, failed?.renders]).toEqual([
    "failed",
    "IMAGE_PROCESSING_FAILED",
    1,
  ]);
  expect(failed?.failureMessage).toContain('template "season_card" was removed');
  expect(failed?.failureMessage).toContain("GET /v1/presets");
  expect((await image(next))?.state).toBe("completed");
  const account = await findAccount(workspace.store.read, accountId);
  expect([account?.creditsPlan, account?.creditsHeld]).toEqual([4, 0]);
});

test("a listed one whose files are away for a moment is left to the renderer, which has the last good ones", async () => {
  const id = await acceptLive(workspace, accountId, { preset: "season_card" });
  const place = join(workspace.config.templatesDir ?? "", "season_card");
  await rename(place, join(folder.dir, "away"));
  const deps = buildDeps(workspace, { pool });
  await renderNextImage(deps, new AbortController().signal, () => {});
  expect([drawn, (await image(id))?.state]).toEqual([["season_card"], "completed"]);
});
