import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { publishTemplate, unlistTemplate } from "../../src/app/operations/publish-template.ts";
import { sweepFiles } from "../../src/app/operations/sweep.ts";
import { DAY_MS } from "../../src/core/time.ts";
import { AcceptedImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import type { RenderJob } from "../../src/render/protocol.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { neededTemplates, openAsIs } from "../../src/store/engine/snapshot.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { unpackTemplate } from "../../src/templates/pinned.ts";
import { picturesAfter, poolOf } from "../fakes.ts";
import {
  get,
  imageRequest,
  ownTemplate,
  post,
  silentLog,
  type TestAccount,
  type TestFolder,
  testAccount,
  testFolder,
} from "../harness.ts";
import { expectError, expectSuccess, type Json, send, type TestApi, testApi } from "./api.ts";

// A running service, and beside it another process on its data folder that publishes, as the command line
// does.

let designs: TestFolder;
let api: TestApi;
let beside: Workspace;
let partner: TestAccount;
beforeAll(async () => {
  designs = testFolder();
  api = await testApi();
  beside = await openWorkspace(api.config, silentLog, { clock: api.clock });
  partner = await testAccount(api);
});
afterAll(async () => {
  await beside.store.close();
  await api.close();
  await designs.remove();
});

/** A design of this version, drawn so. */
async function design(version: string, css = "", name = "derby") {
  const dir = join(designs.dir, name);
  await ownTemplate(designs.dir, name, (before) => `${before}\n${css}`);
  const manifest = Bun.file(join(dir, "template.json"));
  await Bun.write(manifest, (await manifest.text()).replace('"version": "1.0.0"', `"version": "${version}"`));
  return loadTemplate(dir);
}
const publish = async (template: Awaited<ReturnType<typeof design>>, isListed = true) =>
  publishTemplate(beside, template, { isListed });
const presets = async () => {
  const data = await expectSuccess(
    await get(api.baseUrl, partner.testKey, "/v1/presets"),
    200,
    PresetListResponse,
  );
  return data.presets.map(({ name, version }: Json) => `${name} ${version}`);
};
const create = () =>
  post(
    api.baseUrl,
    partner.liveKey,
    imageRequest({ player: { source_image_url: api.photo }, style: { preset: "derby" } }),
  );
const accepted = async () =>
  (await expectSuccess(await create(), 202, AcceptedImageResponse)).image_id as string;
/** The style sheet that the next waiting image is drawn with. */
async function drawnWith(): Promise<string | undefined> {
  let css: string | undefined;
  const pictures = picturesAfter(async ({ template }: RenderJob) => {
    const { digest = "", path = "" } = template ?? {};
    css = (await unpackTemplate(await Bun.file(path).bytes(), digest)).css;
  });
  await renderNextImage({ ...api, pool: poolOf(pictures) }, new AbortController().signal, () => {});
  return css?.trim().split("\n").at(-1);
}

test("what is published is offered from the next request on, and what waits is drawn as it was asked for", async () => {
  await expectError(await create(), "INVALID_REQUEST");
  const first = await design("1.0.0", "/* first */");
  expect(await publish(first)).toEqual({ end: "published", before: null, isListed: true });
  expect(await presets()).toEqual(["club_card 1.0.0", "derby 1.0.0"]);
  await accepted();

  const second = await design("1.1.0", "/* second */");
  expect(await publish(second)).toEqual({ end: "published", before: "1.0.0", isListed: true });
  expect(await presets()).toEqual(["club_card 1.0.0", "derby 1.1.0"]);
  await accepted();
  expect([await drawnWith(), await drawnWith()]).toEqual(["/* first */", "/* second */"]);
  expect(await publish(second)).toEqual({ end: "unchanged", before: "1.1.0", isListed: true });
});

test("the documentation names what is published", async () => {
  const { components } = (await (await send(api, "/docs/openapi.json")).json()) as Json;
  const { preset } = components.schemas.CreateImageRequest.properties.style.properties;
  expect(preset.enum).toEqual(["club_card", "derby"]);
  expect(await (await send(api, "/docs/card-options")).text()).toContain(">derby</code>");
});

test("an image can be made again in a published template", async () => {
  const plain = imageRequest({ player: { source_image_url: api.photo }, style: { preset: "club_card" } });
  const before = await expectSuccess(
    await post(api.baseUrl, partner.testKey, plain),
    202,
    AcceptedImageResponse,
  );
  const again = await send(api, `/v1/images/${before.image_id}/remake`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": partner.testKey,
      "Idempotency-Key": "again-in-derby",
    },
    body: JSON.stringify({ style: { preset: "derby" } }),
  });
  await expectSuccess(again, 202, AcceptedImageResponse);
});

test("an older version that is published again is offered again", async () => {
  const first = await design("1.0.0", "/* first */");
  expect(await publish(first)).toEqual({ end: "again", before: "1.1.0", isListed: true });
  expect(await presets()).toContain("derby 1.0.0");
  await accepted();
  expect(await drawnWith()).toBe("/* first */");
});

test("a version stands for the same files for ever: others are refused, with the remedy", async () => {
  const other = await design("1.1.0", "/* not what 1.1.0 was */");
  await expect(publish(other)).rejects.toThrow("derby 1.1.0 was published before, with other files");
  await expect(publish(other)).rejects.toThrow('Raise "version" in template.json');
  expect(await presets()).toContain("derby 1.0.0");
});

test("a name that comes with cardpress, or that the operator's folder holds, is refused with what to do", async () => {
  const builtIn = await loadTemplate("club_card");
  await expect(publish(builtIn)).rejects.toThrow(
    '"club_card" is the name of a template that comes with cardpress',
  );
  const own = await design("3.0.0", "", "own_card");
  const config = { ...api.config, templatesDir: designs.dir };
  const withFolder = await openWorkspace(config, silentLog, { clock: api.clock });
  await expect(publishTemplate(withFolder, own, { isListed: true })).rejects.toThrow(
    `CARDPRESS_TEMPLATES_DIR holds ${join(designs.dir, "own_card")}, which takes precedence over`,
  );
  await withFolder.store.close();
});

test("what is taken off the list is refused to new creates and made for those who asked in time", async () => {
  await accepted();
  await unlistTemplate(beside, "derby");
  expect(await presets()).toEqual(["club_card 1.0.0"]);
  const { details } = await expectError(await create(), "INVALID_REQUEST");
  expect(details).toEqual([{ field: "style.preset", message: expect.stringContaining('got "derby"') }]);
  expect(await drawnWith()).toBe("/* first */");
  await expect(unlistTemplate(beside, "derby")).rejects.toThrow('"derby" is not listed');
  await expect(unlistTemplate(beside, "club_card")).rejects.toThrow("CARDPRESS_PRESETS");
  await expect(unlistTemplate(beside, "nobody")).rejects.toThrow('There is no template "nobody"');
});

test("the files of what is published stay, also unlisted and unasked for, and are part of a backup", async () => {
  const { digest } = await design("1.0.0", "/* first */");
  api.clock.jump(Date.now() - api.clock.now() + 90 * DAY_MS);
  await sweepFiles({ ...api, clock: api.clock });
  expect(await api.blobs.stat("template", digest)).not.toBeNull();
  const client = openAsIs(api.folder.database);
  expect(neededTemplates(client)).toContain(digest);
  client.close();
});

test("the audit log records who published and unlisted what", async () => {
  const { db, t } = api.store.read;
  const entries = await db.select().from(t.auditEntries);
  const changes = entries.filter(({ action }) => action.startsWith("template."));
  expect(changes.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    "template.published derby 1.0.0",
    "template.published derby 1.1.0",
    "template.published derby 1.0.0",
    "template.unlisted derby",
  ]);
});
