import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { blobPath } from "../../../src/blobs/folder-blobs.ts";
import { PHOTO_REFUSALS } from "../../../src/core/photo-refusals.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { writeWhole } from "../../../src/system/write-whole.ts";
import { fetched, picturesAfter, poolOf, sourcesOf } from "../../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let open: TestWorkspace | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const PHOTO = "a photo, as it was fetched";
const sha256 = new Bun.CryptoHasher("sha256").update(PHOTO).digest("hex");
const sources = sourcesOf(fetched(sha256));

/** Makes one card of a photo on the disk, after `harm`; `outcome` is what the renderer says. */
async function make(harm: (path: string) => Promise<void>, outcome: "refused" | "done") {
  const workspace = await testWorkspace();
  open = workspace;
  const { account } = await testAccount(workspace, { credits: 5 });
  const path = blobPath(workspace.folder, "source", sha256);
  await writeWhole(path, PHOTO);
  const id = await acceptLive(workspace, account.id, { sources });
  await harm(path);
  const pictures = picturesAfter(async () => {});
  const pool = poolOf(async (job, onStage) => {
    const made = await pictures(job, onStage);
    return outcome === "done"
      ? made
      : { kind: "refused", message: PHOTO_REFUSALS.undecodable, reason: "photo_undecodable" };
  });
  const deps = buildDeps(workspace, { pool });
  await renderNextImage(deps, new AbortController().signal, () => {});
  const image = await findImage(workspace.store.read, { accountId: account.id, environment: "live", id });
  if (!image) throw new Error("the image is gone");
  const credits = (await findAccount(workspace.store.read, account.id))?.creditsPlan;
  return { workspace, image, credits, path };
}

test("a photo that our disk lost or damaged is reported as our fault, costs nothing, and is not kept as it is", async () => {
  for (const harm of [(path: string) => rm(path), (path: string) => writeWhole(path, "not the photo")]) {
    const { image, credits, path } = await make(harm, "refused");
    expect(image.failureMessage).toContain("lost on our side");
    expect([image.state, image.renders, credits]).toEqual(["failed", 1, 5]);
    expect(existsSync(path)).toBe(false);
    await open?.close();
  }
  open = undefined;
});

test("a bad photo is still reported as one", async () => {
  const { image, path } = await make(async () => {}, "refused");
  expect(image.failureMessage).toBe(PHOTO_REFUSALS.undecodable);
  expect(existsSync(path)).toBe(true);
});

test("the audit names every picture that is missing or cut off, and none that has expired", async () => {
  const { workspace, image } = await make(async () => {}, "done");
  const path = blobPath(workspace.folder, "picture", image.outputName ?? "");
  const found = async (now = workspace.clock.now()) =>
    (await audit(workspace.store, now, { blobs: workspace.blobs })).findings.find(
      ({ check }) => check === "pictures",
    );
  expect(await found()).toMatchObject({ ok: true, broken: [] });
  await writeWhole(path, "pict");
  expect(await found()).toMatchObject({
    ok: false,
    broken: [{ id: image.id, detail: expect.stringContaining("4 of 7 bytes") }],
  });
  await rm(path);
  expect(await found()).toMatchObject({
    ok: false,
    broken: [{ id: image.id, detail: expect.stringContaining("missing") }],
  });
  expect(await found(image.expiresAt ?? 0)).toMatchObject({ ok: true });
});
