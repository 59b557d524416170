import { afterEach, beforeEach, expect, test } from "bun:test";
import { diskRoom } from "../../../src/app/images/disk-room.ts";
import type { LogFields } from "../../../src/core/ports.ts";
import { AcceptedImageResponse } from "../../../src/http/schemas.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { fakeClock, get, imageRequest, post, testAccount } from "../../harness.ts";
import { expectError, expectSuccess, type TestApi, testApi } from "../../http/api.ts";

let api: TestApi;
let free: number;
beforeEach(async () => {
  free = 1000;
  api = await testApi({
    room: (clock, log) => diskRoom({ clock, log, minFreeBytes: 500, free: async () => free }),
  });
});
afterEach(() => api.close());

/** The disk is looked at once a second. */
const onceLookedAt = () => api.clock.advance(1_000);

test("a disk that is nearly full refuses creates before anything is reserved, and the rest goes on", async () => {
  const { account, liveKey, testKey } = await testAccount(api, { credits: 3 });
  const create = (key: string, name: string) =>
    post(api.baseUrl, key, imageRequest({ player: { source_image_url: api.photo } }), {
      "Idempotency-Key": name,
    });
  const accepted = await expectSuccess(await create(liveKey, "before"), 202, AcceptedImageResponse);
  free = 499;
  onceLookedAt();
  const photos = api.photos.requests.length;
  for (const key of [liveKey, testKey]) {
    const refused = await create(key, "after");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await expectError(refused, "SERVICE_OVERLOADED")).message).toContain("no room");
  }
  expect(api.photos.requests.length).toBe(photos);
  expect((await findAccount(api.store.read, account.id))?.creditsHeld).toBe(1);
  const image = await get(api.baseUrl, liveKey, `/v1/images/${accepted.image_id}`);
  expect(image.status).toBe(200);
  // An accepted create is replayed, and a refused one leaves its key unused.
  expect((await create(liveKey, "before")).headers.get("idempotent-replayed")).toBe("true");
  free = 500;
  onceLookedAt();
  expect((await create(liveKey, "after")).status).toBe(202);
});

test("a low disk is logged once, with what to do, and once when there is room again", async () => {
  const clock = fakeClock();
  const notes: [string, LogFields | undefined][] = [];
  const note = (event: string, fields?: LogFields) => void notes.push([event, fields]);
  let bytes = 0;
  const log = { info: note, warn: note, error: note };
  const room = diskRoom({ clock, log, minFreeBytes: 500, free: async () => bytes });
  for (let n = 0; n < 3; n++) {
    await expect(room.refuseWhenLow()).rejects.toThrow("no room");
    clock.advance(1_000);
  }
  bytes = 500;
  await room.refuseWhenLow();
  expect(notes.map(([event]) => event)).toEqual(["disk_low", "disk_room_again"]);
  expect(notes[0]?.[1]?.remedy).toContain("Disk");
});

test("a disk that cannot be asked refuses nobody: the next write shows whether there is room", async () => {
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const free = () => Promise.reject(new Error("EIO"));
  await diskRoom({ clock: fakeClock(), log: silent, minFreeBytes: 500, free }).refuseWhenLow();
});
