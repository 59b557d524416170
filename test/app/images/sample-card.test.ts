import { expect, test } from "bun:test";
import { drawnSample, sampleCard } from "../../../src/app/images/sample-card.ts";
import { folderBlobs } from "../../../src/blobs/folder-blobs.ts";
import { MAX_WAITING_SAMPLES } from "../../../src/core/picture-limits.ts";
import type { Exchange } from "../../../src/http/exchange.ts";
import { servePresetSample } from "../../../src/http/presets.ts";
import { openDataFolder } from "../../../src/system/data-folder.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { poolOf, RENDERED } from "../../fakes.ts";
import { fakeClock, testFolder } from "../../harness.ts";

test("a sample goes by the template it was really made with, so an older look never passes for the edited one", async () => {
  const temporary = testFolder();
  const edited = await loadTemplate("club_card");
  const looks = ["0".repeat(64), edited.digest];
  let renders = 0;
  const pool = poolOf(async ({ outputPath }) => {
    const digest = looks[renders++] ?? "";
    await Bun.write(outputPath, `the look of ${digest}`);
    return { kind: "done", file: { ...RENDERED, template: { version: "1.0.0", digest } } };
  });
  // A separate cache folder, because samples are kept from run to run.
  const folder = { ...openDataFolder(temporary.dir), cache: `${temporary.dir}/own-cache` };
  const blobs = folderBlobs(folder);
  const sample = async () =>
    Bun.file(
      await sampleCard({ pool, folder, blobs, clock: fakeClock() }, "club_card", edited, "square"),
    ).text();
  expect(await sample()).toBe(`the look of ${looks[0]}`);
  expect(await sample()).toBe(`the look of ${edited.digest}`);
  expect(await sample()).toBe(`the look of ${edited.digest}`);
  expect(renders).toBe(2);
  await temporary.remove();
});

test("whoever asks for a sample that is not drawn yet gets that answer at once, however many ask, and it is drawn once", async () => {
  const temporary = testFolder();
  const template = await loadTemplate("club_card");
  const free = Promise.withResolvers<void>();
  const drawn = Promise.withResolvers<void>();
  let renders = 0;
  const pool = poolOf(async ({ outputPath }) => {
    renders++;
    await free.promise;
    await Bun.write(outputPath, "a card");
    drawn.resolve();
    return { kind: "done", file: { ...RENDERED, template: { version: "1.0.0", digest: template.digest } } };
  });
  const folder = { ...openDataFolder(temporary.dir), cache: `${temporary.dir}/own-cache` };
  const deps = { pool, folder, blobs: folderBlobs(folder), clock: fakeClock() };
  const ask = () => drawnSample(deps, "club_card", template, "portrait");
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(["drawing", "drawing", "drawing"]);
  free.resolve();
  await drawn.promise;
  await sampleCard(deps, "club_card", template, "portrait");
  expect([await ask(), renders]).toEqual(["drawn", 1]);
  await temporary.remove();
});

test("a sample that cannot be drawn is reported as such", async () => {
  const temporary = testFolder();
  const template = await loadTemplate("club_card");
  const pool = poolOf(async () => ({ kind: "refused", message: "no", reason: "no_player" }));
  const folder = { ...openDataFolder(temporary.dir), cache: `${temporary.dir}/own-cache` };
  const deps = { pool, folder, blobs: folderBlobs(folder), clock: fakeClock() };
  const ask = () => drawnSample(deps, "club_card", template, "portrait");
  expect(await ask()).toBe("drawing");
  await expect(sampleCard(deps, "club_card", template, "portrait")).rejects.toThrow("was refused");
  expect(await ask()).toBe("failed");
  await temporary.remove();
});

test("no more requests wait for a sample than are counted: others get the time to ask again", async () => {
  const temporary = testFolder();
  const template = await loadTemplate("club_card");
  const free = Promise.withResolvers<void>();
  const pool = poolOf(async ({ outputPath }) => {
    await free.promise;
    await Bun.write(outputPath, "a card");
    return { kind: "done", file: { ...RENDERED, template: { version: "1.0.0", digest: template.digest } } };
  });
  const folder = { ...openDataFolder(temporary.dir), cache: `${temporary.dir}/own-cache` };
  const templates = { listed: async () => ["club_card"], current: async () => template };
  const deps = { pool, folder, blobs: folderBlobs(folder), clock: fakeClock(), templates };
  const exchange = { requestId: "req_1", rate: { limit: 1, remaining: 1, resetAtMs: 1 } } as Exchange;
  const ask = () =>
    servePresetSample(
      deps as unknown as Parameters<typeof servePresetSample>[0],
      exchange,
      `club_card-${template.digest.slice(0, 16)}.webp`,
    );
  const waiting = Array.from({ length: MAX_WAITING_SAMPLES }, ask);
  const refused = await ask().catch((error) => error);
  expect(refused).toMatchObject({ code: "SERVICE_OVERLOADED", retryAfterSeconds: 30 });
  free.resolve();
  const answers = await Promise.all(waiting);
  expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
  // What is drawn needs no place.
  expect((await ask())?.status).toBe(200);
  await temporary.remove();
});
