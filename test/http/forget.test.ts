import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { changeRetention } from "../../src/app/people/manage-retention.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { LEASE_MS } from "../../src/core/limits.ts";
import {
  AcceptedImageResponse,
  DeletedImageResponse,
  DeletedPlayerResponse,
} from "../../src/http/schemas.ts";
import { hasTraces } from "../../src/store/images/forgotten-images.ts";
import { findImagesByExternalId } from "../../src/store/images/image-search.ts";
import type { Store } from "../../src/store/store.ts";
import { get, imageRequest, post, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, send, type TestApi, testApi } from "./api.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9" } });
});
afterAll(() => api.close());

const remove = (path: string, key: string) =>
  send(api, path, { method: "DELETE", headers: { "X-API-Key": key } });

/** A live image of a player; `photo` is a file of test/photos. */
async function created(key: string, externalId: string, name: string, photo = "yoga.jpg"): Promise<string> {
  const player = { external_id: externalId, name, source_image_url: api.photos.url(photo) };
  const response = await post(api.baseUrl, key, imageRequest({ player }));
  return (await expectSuccess(response, 202, AcceptedImageResponse)).image_id;
}

/** Every file of the data folder, read whole. */
async function filesWith(text: string | Uint8Array): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(api.dataDir, { recursive: true, withFileTypes: true })) {
    // The browser that all tests share is no data of ours.
    if (!entry.isFile() || join(entry.parentPath, entry.name).includes("/cache/")) continue;
    const bytes = Buffer.from(await Bun.file(join(entry.parentPath, entry.name)).bytes());
    if (bytes.includes(text)) found.push(entry.name);
  }
  return found;
}

/** A piece out of the middle of a photo that no other file has. */
async function pieceOf(photo: string): Promise<Uint8Array> {
  const bytes = await Bun.file(join(import.meta.dir, "../photos", photo)).bytes();
  return bytes.slice(bytes.length / 2, bytes.length / 2 + 64);
}

const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);

test("after a player is deleted no byte of the photo and no letter of the name is left in the data folder", async () => {
  const { account, liveKey } = await testAccount(api, { credits: 2_000 });
  await createEndpoint(api, {
    accountId: account.id,
    environment: "live",
    url: "http://127.0.0.1:9/hook",
    events: undefined,
  });
  // Among many others, whose rows move when rows beside them change their size.
  const names = Array.from({ length: 60 }, (_, n) => `Quetzalcoatlus ${n}`);
  for (const [n, name] of names.entries())
    await created(liveKey, n % 2 ? "velociraptor-7" : `other-${n}`, name, "unsplash_man.jpg");
  for (let n = 0; n < 30; n++) await finishNext(api, n % 5 ? "completed" : "refused");
  const refused = { player: { external_id: "velociraptor-7", name: "Quetzalcoatlus X", number: 500 } };
  expect((await post(api.baseUrl, liveKey, imageRequest(refused))).status).toBe(400);
  const { db, t } = api.store.read;
  const [first] = await db.select().from(t.images);
  await api.blobs.put("cutout", `${first?.sourceSha256}-8`, "what was cut out of Triceratops");
  expect(await filesWith("Quetzalcoatlus")).not.toEqual([]);
  expect(await filesWith(await pieceOf("unsplash_man.jpg"))).toHaveLength(1);

  const answer = await expectSuccess(
    await remove("/v1/players/velociraptor-7", liveKey),
    200,
    DeletedPlayerResponse,
  );
  expect(answer.images_deleted).toBe(30);
  // The others were made of the same photo.
  expect(await filesWith(await pieceOf("unsplash_man.jpg"))).toHaveLength(1);
  for (let n = 0; n < 60; n += 2) await remove(`/v1/players/other-${n}`, liveKey);
  await sweep(api);
  expect(await filesWith("velociraptor-7")).toEqual([]);
  expect(await filesWith("Quetzalcoatlus")).toEqual([]);
  expect(await filesWith("quetzalcoatlus")).toEqual([]);
  expect(await filesWith(await pieceOf("unsplash_man.jpg"))).toEqual([]);
  expect(await filesWith("Triceratops")).toEqual([]);
  expect(await breaches()).toEqual([]);
  const again = await remove("/v1/players/velociraptor-7", liveKey);
  expect((await expectSuccess(again, 200, DeletedPlayerResponse)).images_deleted).toBe(0);
});

test("a card of a batch leaves nothing behind either: its external id is in no record", async () => {
  const { account, testKey } = await testAccount(api);
  const cards = [imageRequest({ player: { external_id: "Pteranodon-1", name: "Pteranodon" } })];
  await send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": testKey, "Content-Type": "application/json" },
    body: JSON.stringify({ cards }),
  });
  expect(await filesWith("Pteranodon")).not.toEqual([]);
  const answer = await remove("/v1/players/Pteranodon-1", testKey);
  expect((await expectSuccess(answer, 200, DeletedPlayerResponse)).images_deleted).toBe(1);
  await sweep(api);
  expect(await filesWith("Pteranodon")).toEqual([]);
  const { db, t } = api.store.read;
  const [batch] = (await db.select().from(t.batches)).filter(({ accountId }) => accountId === account.id);
  expect(batch).toMatchObject({ total: 1, failed: 1 });
  expect(await breaches()).toEqual([]);
});

test("a player without an image leaves nothing behind either, on a checklist and in the log of requests", async () => {
  const { liveKey } = await testAccount(api);
  const players = [{ external_id: "Kentrosaurus-1", name: "Kentrosaurus" }];
  const set = { name: "Season", parallels: [{ name: "base", size: null }], players };
  const made = await send(api, "/v1/sets", {
    method: "POST",
    headers: { "X-API-Key": liveKey, "Content-Type": "application/json" },
    body: JSON.stringify(set),
  });
  expect(made.status).toBe(201);
  expect(await filesWith("Kentrosaurus")).not.toEqual([]);
  const answer = await remove("/v1/players/Kentrosaurus-1", liveKey);
  expect((await expectSuccess(answer, 200, DeletedPlayerResponse)).images_deleted).toBe(0);
  await sweep(api);
  expect(await filesWith("Kentrosaurus")).toEqual([]);
  // Once it is gone nothing is rewritten for it again.
  expect(await hasTraces(api.store.read)).toBe(false);
});

test("a live batch's photos, sent and fetched, go with their players, and a shared one with the last of them", async () => {
  const { liveKey } = await testAccount(api);
  const form = new FormData();
  form.append("file", new Blob([await Bun.file(join(import.meta.dir, "../photos/skier.jpg")).bytes()]));
  const upload = await send(api, "/v1/photos", {
    method: "POST",
    headers: { "X-API-Key": liveKey },
    body: form,
  });
  const { url } = ((await upload.json()) as { data: { url: string } }).data;
  const card = (external_id: string, source_image_url: string) =>
    imageRequest({ player: { external_id, name: "Pachycephalosaurus", source_image_url } });
  const cards = [card("sent-1", url), card("sent-2", url), card("fetched-1", api.photos.url("cyclists.jpg"))];
  const accepted = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": liveKey, "Content-Type": "application/json" },
    body: JSON.stringify({ cards }),
  });
  expect(accepted.status).toBe(202);
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (const _ of cards) await fetcher.fetchNext(new AbortController().signal, () => {});
  for (const _ of cards) await finishNext(api, "completed");
  const { db, t } = api.store.read;
  const made = (await db.select().from(t.images)).filter(({ externalId }) => /-1$/.test(externalId));
  for (const { sourceSha256 } of made)
    if (sourceSha256) await api.blobs.put("cutout", `${sourceSha256}-8`, "cut out of Pachycephalosaurus");
  const pieces = [await pieceOf("skier.jpg"), await pieceOf("cyclists.jpg")] as const;
  for (const piece of pieces) expect(await filesWith(piece)).toHaveLength(1);
  for (const player of ["sent-1", "fetched-1"])
    expect((await remove(`/v1/players/${player}`, liveKey)).status).toBe(200);
  // The other card is made of it still.
  expect(await filesWith(pieces[0])).toHaveLength(1);
  expect(await filesWith(pieces[1])).toEqual([]);
  expect((await remove("/v1/players/sent-2", liveKey)).status).toBe(200);
  await sweep(api);
  for (const trace of [...pieces, "Pachycephalosaurus", "pachycephalosaurus"])
    expect(await filesWith(trace)).toEqual([]);
  expect(await breaches()).toEqual([]);
});

/** The store as one whose file has this many bytes, and when it was rewritten. */
function storeOf(bytes: number) {
  const rewrites: string[] = [];
  const erase: Store["erase"] = async ({ maxBytes }) => {
    if (bytes > maxBytes) return false;
    rewrites.push(new Date(api.clock.now()).toISOString().slice(11, 16));
    return true;
  };
  return { store: { ...api.store, erase }, rewrites };
}

test("a database too large to be rewritten while writers wait never is", async () => {
  const { liveKey } = await testAccount(api);
  const { store, rewrites } = storeOf(1024 ** 3);
  const [day] = new Date(api.clock.now() + 2 * DAY_MS).toISOString().split("T");
  api.clock.set(`${day}T02:30:00.000Z`);
  await remove(`/v1/images/${await created(liveKey, "in-much", "Ada")}`, liveKey);
  await sweep({ ...api, store });
  expect(rewrites).toEqual([]);
});

test("a large database is rewritten at night only, and once a night", async () => {
  const { liveKey } = await testAccount(api);
  const { store, rewrites } = storeOf(128 * 1024 ** 2);
  const [day] = new Date(api.clock.now() + 2 * DAY_MS).toISOString().split("T");
  for (const time of ["01:59", "02:00", "03:00", "04:59", "12:00"]) {
    api.clock.set(`${day}T${time}:00.000Z`);
    await remove(`/v1/images/${await created(liveKey, `at-${time}`, "Ada")}`, liveKey);
    await sweep({ ...api, store });
  }
  api.clock.set(new Date(Date.parse(`${day}T02:30:00.000Z`) + DAY_MS).toISOString());
  await sweep({ ...api, store });
  expect(rewrites).toEqual(["02:00", "02:30"]);
});

test("a deleted picture is gone for good, deleting twice is deleting once, and the credit stays spent", async () => {
  const { account, liveKey } = await testAccount(api, { credits: 3 });
  const id = await created(liveKey, "p 1/2", "Ada");
  await finishNext(api, "completed");
  await api.blobs.put("picture", `${id}-0secret.png`, "picture");
  expect((await send(api, `/cdn/${id}-0secret.png`)).status).toBe(200);
  const original = api.blobs.remove;
  const slowDisk = spyOn(api.blobs, "remove").mockImplementation((...args) => {
    api.clock.advance(MINUTE_MS);
    return original(...args);
  });
  const first = await expectSuccess(await remove(`/v1/images/${id}`, liveKey), 200, DeletedImageResponse);
  slowDisk.mockRestore();
  expect(await expectSuccess(await remove(`/v1/images/${id}`, liveKey), 200, DeletedImageResponse)).toEqual(
    first,
  );
  expect((await expectError(await send(api, `/cdn/${id}-0secret.png`), "PICTURE_GONE")).message).toContain(
    "deleted",
  );
  await expectError(await get(api.baseUrl, liveKey, `/v1/images/${id}`), "IMAGE_NOT_FOUND");
  const { data } = (await (await get(api.baseUrl, liveKey, "/v1/images")).json()) as { data: { images: [] } };
  expect(data.images).toEqual([]);
  const { db, t } = api.store.read;
  const [left] = (await db.select().from(t.accounts)).filter(({ id }) => id === account.id);
  expect(left).toMatchObject({ creditsPlan: 2, creditsHeld: 0 });
  expect(await breaches()).toEqual([]);
});

test("a card that waits or is being rendered ends when it is deleted, and its credit comes back", async () => {
  const { account, liveKey } = await testAccount(api, { credits: 3 });
  const ids = [await created(liveKey, "open", "Ada"), await created(liveKey, "open", "Ada")];
  const image = await claimImage(api, "live");
  if (!image) throw new Error("nothing waits");
  const encoded = await remove("/v1/players/open", liveKey);
  expect((await expectSuccess(encoded, 200, DeletedPlayerResponse)).images_deleted).toBe(2);
  const { db, t } = api.store.read;
  const balance = async () => (await db.select().from(t.accounts)).find(({ id }) => id === account.id);
  expect(await balance()).toMatchObject({ creditsPlan: 3, creditsHeld: 0 });
  // The renderer comes too late, and puts the cutout back that it has just made.
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  expect(await finishImage(api, lease, { kind: "fault" })).toBeUndefined();
  await api.blobs.put("cutout", `${image.sourceSha256}-8`, "Stegosaurus");
  api.clock.advance(LEASE_MS + MINUTE_MS);
  await sweep(api);
  expect(await filesWith("Stegosaurus")).toEqual([]);
  for (const id of ids)
    await expectError(await get(api.baseUrl, liveKey, `/v1/images/${id}`), "IMAGE_NOT_FOUND");
  expect(await breaches()).toEqual([]);
});

test("images are found by a part of the player's name, whatever its case, and not once they are deleted", async () => {
  const { account, liveKey } = await testAccount(api);
  const id = await created(liveKey, "n-1", "ÉMILE 100%_Zola");
  await created(liveKey, "n-2", "Somebody Else");
  const find = async (search: string) => {
    const query = { accountId: account.id, environment: "live", search, limit: 5 } as const;
    return (await findImagesByExternalId(api.store.read, query)).map((image) => image.id);
  };
  expect(await find("émile")).toEqual([id]);
  expect(await find("100%_z")).toEqual([id]);
  expect(await find("0__")).toEqual([]);
  expect(await find("n-1")).toEqual([id]);
  await remove(`/v1/images/${id}`, liveKey);
  await remove("/v1/players/n-2", liveKey);
  for (const search of ["émile", "n-1", id]) expect(await find(search)).toEqual([]);
});

test("a player's many cards are deleted in few transactions", async () => {
  const { liveKey } = await testAccount(api, { credits: 200 });
  for (let n = 0; n < 60; n++) await created(liveKey, "many", `Maya ${n}`);
  const writes = spyOn(api.store, "write");
  const count = (name: string) => writes.mock.calls.filter(([own]) => own === name).length;
  try {
    const removed = await expectSuccess(
      await remove("/v1/players/many", liveKey),
      200,
      DeletedPlayerResponse,
    );
    expect(removed.images_deleted).toBe(60);
    // Each photo is dropped once for fifty cards.
    expect([count("forget player"), count("mark files gone"), count("drop source")]).toEqual([2, 2, 2]);
  } finally {
    writes.mockRestore();
  }
});

test("the service's log does not name the player who is deleted", async () => {
  const { liveKey } = await testAccount(api);
  await expectSuccess(await remove("/v1/players/ana%40example.com", liveKey), 200, DeletedPlayerResponse);
  expect(api.lines.join("\n")).not.toContain("ana");
});

test("an id with a slash, a space and an accent is one player's", async () => {
  const { testKey } = await testAccount(api);
  const external_id = "Übung 7/8?#";
  await post(api.baseUrl, testKey, imageRequest({ player: { external_id } }));
  const response = await remove(`/v1/players/${encodeURIComponent(external_id)}`, testKey);
  expect((await expectSuccess(response, 200, DeletedPlayerResponse)).images_deleted).toBe(1);
});

test("a request refused a moment before the player is deleted is not logged with the player after", async () => {
  const { testKey } = await testAccount(api);
  const player = { external_id: "refused-just-now", name: "Secret Name", number: 1000 };
  await expectError(await post(api.baseUrl, testKey, imageRequest({ player })), "INVALID_REQUEST");
  await remove("/v1/players/refused-just-now", testKey);
  await api.requests.flush();
  const { db, t } = api.store.read;
  const rows = JSON.stringify(await db.select().from(t.requestLog));
  expect(rows).not.toContain("Secret Name");
  expect(rows).not.toContain('"refused-just-now"');
});

test("a deletion takes nothing from the log of requests of the other environment, nor its uploads", async () => {
  const { liveKey, testKey, account } = await testAccount(api);
  const player = { external_id: "both", name: "Ada", number: 1000 };
  for (const key of [liveKey, testKey])
    await expectError(await post(api.baseUrl, key, imageRequest({ player })), "INVALID_REQUEST");
  const card = { ...imageRequest({ player: { external_id: "both" } }) };
  const batch = { name: "Both", cards: [card] };
  for (const key of [liveKey, testKey])
    await send(api, "/v1/batches", {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({ ...batch, wrong: 1 }),
    });
  await api.requests.flush();
  const left = async () => {
    const { db, t } = api.store.read;
    const rows = await db.select().from(t.requestLog);
    const named = new Set((await db.select().from(t.requestPlayers)).map(({ requestId }) => requestId));
    return rows
      .filter(
        ({ accountId, externalId, id }) =>
          accountId === account.id && (externalId === "both" || named.has(id)),
      )
      .map(({ environment, body }) => `${environment} ${body === null ? "batch" : "card"}`)
      .sort();
  };
  expect(await left()).toEqual(["live batch", "live card", "test batch", "test card"]);
  const made = await post(api.baseUrl, testKey, imageRequest({ player: { external_id: "both" } }));
  const { image_id } = await expectSuccess(made, 202, AcceptedImageResponse);
  expect((await remove(`/v1/images/${image_id}`, testKey)).status).toBe(200);
  expect(await left()).toEqual(["live batch", "live card"]);
  await remove("/v1/players/both", liveKey);
  expect(await left()).toEqual([]);
});

test("nobody deletes another account's images, nor those of the other environment", async () => {
  const [own, other] = [await testAccount(api), await testAccount(api)];
  const id = await created(own.liveKey, "mine", "Ada");
  await expectError(await remove(`/v1/images/${id}`, other.liveKey), "IMAGE_NOT_FOUND");
  await expectError(await remove(`/v1/images/${id}`, own.testKey), "IMAGE_NOT_FOUND");
  for (const key of [other.liveKey, own.testKey]) {
    const answer = await remove("/v1/players/mine", key);
    expect((await expectSuccess(answer, 200, DeletedPlayerResponse)).images_deleted).toBe(0);
  }
  expect((await get(api.baseUrl, own.liveKey, `/v1/images/${id}`)).status).toBe(200);
  await expectError(await remove(`/v1/players/${"x".repeat(256)}`, own.liveKey), "INVALID_REQUEST");
  await remove(`/v1/images/${id}`, own.liveKey);
});

test("an account's own retention holds for its pictures, and lets everything personal go by itself", async () => {
  const { account, liveKey } = await testAccount(api);
  await changeRetention(api, account.id, { retentionDays: 3, forgetAfterDays: 10 }, null);
  const id = await created(liveKey, "aged", "Ichthyosaurus");
  const started = api.clock.now();
  await finishNext(api, "completed");
  const { data } = (await (await get(api.baseUrl, liveKey, `/v1/images/${id}`)).json()) as {
    data: { result: { expires_at: string } };
  };
  expect(Date.parse(data.result.expires_at)).toBe(started + 3 * DAY_MS);
  api.clock.advance(10 * DAY_MS - MINUTE_MS);
  await sweep(api);
  expect((await get(api.baseUrl, liveKey, `/v1/images/${id}`)).status).toBe(200);
  api.clock.advance(2 * MINUTE_MS);
  await sweep(api);
  await expectError(await get(api.baseUrl, liveKey, `/v1/images/${id}`), "IMAGE_NOT_FOUND");
  expect(await filesWith("Ichthyosaurus")).toEqual([]);
});

test("the pictures that test cards share go when one of their players does, and within a day", async () => {
  const { testKey } = await testAccount(api);
  const shared = () => Array.fromAsync(api.blobs.list("placeholder", Number.POSITIVE_INFINITY));
  const make = async () => {
    const body = imageRequest({ player: { external_id: "shown", name: "Maya Okafor" } });
    await expectSuccess(await post(api.baseUrl, testKey, body), 202, AcceptedImageResponse);
    await renderNextTestImage(api, new AbortController().signal, () => {});
    expect(await shared()).not.toEqual([]);
  };
  await make();
  await make();
  // Of a bucket a list is a call, and a player may have thousands of test cards.
  const lists = spyOn(api.blobs, "list");
  expect((await remove("/v1/players/shown", testKey)).status).toBe(200);
  expect(lists.mock.calls.filter(([kind]) => kind === "placeholder")).toHaveLength(1);
  lists.mockRestore();
  expect(await shared()).toEqual([]);
  await make();
  // Files have the machine's own time.
  api.clock.advance(Math.max(0, Date.now() + 25 * 3_600_000 - api.clock.now()));
  await sweep(api);
  expect(await shared()).toEqual([]);
});
