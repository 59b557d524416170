import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { basename } from "node:path";
import { SQL } from "bun";
import type { AcceptImage } from "../../../src/app/images/accept-image.ts";
import { finishForgetting, forgetImage } from "../../../src/app/images/forget-image.ts";
import { queueEstimate } from "../../../src/app/images/queue-estimate.ts";
import { renderNextImage } from "../../../src/app/images/render-image.ts";
import { sourceKeeper } from "../../../src/app/images/source-keeper.ts";
import type { Blobs } from "../../../src/blobs/blobs.ts";
import type { CreateImageRequest } from "../../../src/core/image-request.ts";
import {
  FAILED_SOURCE_BYTES_PER_DAY,
  LEASE_MS,
  PLACEHOLDER_BYTES_PER_DAY,
  SOURCE_BYTES_PER_DAY,
} from "../../../src/core/limits.ts";
import { withDeadlineBudget } from "../../../src/core/patience.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { createSourceFetcher } from "../../../src/sources/fetch-source.ts";
import { storeSource } from "../../../src/sources/source-files.ts";
import { sharedHolds } from "../../../src/state/shared-holds.ts";
import type { Account } from "../../../src/store/people/accounts.ts";
import { idlePool, poolOf } from "../../fakes.ts";
import { imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { ENGINE, postgresUrl } from "../../postgres.ts";
import { png } from "../../sources/pictures.ts";

let workspace: TestWorkspace;
let account: Account;
let accept: AcceptImage;
/** What the world answers for a path; the test holds it back or refuses. */
let answers: Record<string, () => Response | Promise<Response>>;
let world: ReturnType<typeof Bun.serve>;
beforeEach(async () => {
  workspace = await testWorkspace();
  ({ account } = await testAccount(workspace, { tier: "starter" }));
  answers = {};
  world = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => answers[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 }),
  });
  const sources = createSourceFetcher({
    blobs: workspace.blobs,
    allowedOrigins: new Set([origin()]),
  });
  ({ accept } = buildDeps(workspace, { pool: idlePool, sources, queue: queueEstimate({ workers: 4 }) }));
});
afterEach(async () => {
  await world.stop(true);
  await workspace.close();
});

const origin = () => `http://127.0.0.1:${world.port}`;
const stored = () => [...new Bun.Glob("*/*").scanSync(workspace.folder.sources)];
const photo = (side: number) => () => new Response(Buffer.from(png(side, side)));

let keys = 0;
function create(
  change: Parameters<typeof imageRequest>[0] & { badge?: string; photo?: string } = {},
  environment: "live" | "test" = "live",
) {
  const { badge, photo: path = "/photo", ...rest } = change;
  const request: CreateImageRequest = imageRequest({
    ...rest,
    player: { source_image_url: origin() + path },
    ...(badge !== undefined && { branding: { club_badge_url: origin() + badge } }),
  });
  return accept({ account, environment, idempotencyKey: `key-${++keys}`, request });
}
const codeOf = (error: { code: string }) => error.code;

test("a refused create leaves neither its photo nor its badge behind", async () => {
  answers = { "/photo": photo(300), "/badge": photo(30) };
  expect(await create({ badge: "/missing" }).catch(codeOf)).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toEqual([]);
  expect(await create({ photo: "/missing", badge: "/badge" }).catch(codeOf)).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toEqual([]);
  await create({ badge: "/badge" });
  expect(stored()).toHaveLength(2);
});

test("a create whose badge cannot be used does not wait for its photo", async () => {
  answers = { "/photo": () => new Promise(() => {}) };
  expect(await create({ badge: "/missing" }).catch((error) => error.message)).toContain("club_badge_url");
});

test("a refused create leaves the photo that another one uses, or is about to use", async () => {
  const badge = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  answers = {
    "/photo": photo(300),
    "/badge": async () => {
      waits.resolve();
      await badge.promise;
      return new Response(Buffer.from(png(30, 30)));
    },
  };
  // Its photo is stored, its badge on the way: not accepted yet.
  const slow = create({ badge: "/badge" });
  await waits.promise;
  while (stored().length === 0) await Bun.sleep(1);
  expect(await create({ badge: "/missing" }).catch(codeOf)).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toHaveLength(1);
  badge.resolve();
  await slow;
  expect(await create({ badge: "/missing" }).catch(codeOf)).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toHaveLength(2);
});

test("a refused create asks once whether a card needs its photo, and leaves it to that card", async () => {
  answers = { "/photo": photo(300) };
  await create();
  const [sha256 = ""] = stored().map((path) => basename(path));
  const { store } = workspace;
  let asked = 0;
  const write: typeof store.write = (...args) => {
    asked++;
    return store.write(...args);
  };
  const hold = sourceKeeper({ ...workspace, store: { ...store, write } }).hold();
  await hold.add(sha256);
  hold.wrote(sha256);
  await hold.close(false);
  expect(asked).toBe(1);
  expect(stored()).toHaveLength(1);
});

test("of many refused creates of one photo at once, the last takes it away", async () => {
  answers = { "/photo": photo(300) };
  const refused = Array.from({ length: 12 }, () => create({ badge: "/missing" }).catch(codeOf));
  expect(new Set(await Promise.all(refused))).toEqual(new Set(["UNSUPPORTED_IMAGE_SOURCE"]));
  expect(stored()).toEqual([]);
});

test("a photo that was there before stays: a finished card shows it", async () => {
  answers = { "/photo": photo(300) };
  await create();
  await renderRefused();
  expect(await create({ badge: "/missing" }).catch(codeOf)).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toHaveLength(1);
});

test("a photo two creates fetched at once stays with the finished card of the one that was accepted", async () => {
  const badge = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  answers = {
    "/photo": photo(300),
    "/badge": () => {
      asked.resolve();
      return badge.promise;
    },
  };
  const refused = create({ badge: "/badge" }).catch(codeOf);
  await asked.promise;
  while (stored().length === 0) await Bun.sleep(1);
  await create();
  await renderRefused();
  badge.resolve(new Response(null, { status: 404 }));
  expect(await refused).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(stored()).toHaveLength(1);
});

test("a deleted image's photo goes though a create held it at that moment, and was refused after", async () => {
  const badge = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  answers = {
    "/photo": photo(300),
    "/badge": () => {
      asked.resolve();
      return badge.promise;
    },
  };
  const { answer } = await create();
  await renderRefused();
  const { keeper, blobs } = workspace;
  const [sha256 = ""] = stored().map((path) => basename(path));
  await blobs.put("cutout", `${sha256}-1.bin`, new Uint8Array(9));
  const hold = keeper.hold();
  await hold.add(sha256);
  const scope = { accountId: account.id, environment: "live" as const, id: answer.image_id };
  await forgetImage(buildDeps(workspace, { pool: idlePool }), scope);
  // The create is about to make a card of it.
  expect(stored()).toHaveLength(1);
  await hold.close(false);
  workspace.clock.advance(LEASE_MS);
  await finishForgetting(workspace);
  expect(stored()).toEqual([]);
  expect(await Array.fromAsync(new Bun.Glob("**/*").scan(workspace.folder.cutouts))).toEqual([]);
});

test("a photo that stays held keeps other deletions from being finished no longer than a sweep", async () => {
  answers = { "/photo": photo(300), "/other": photo(301) };
  const first = await create();
  await renderRefused();
  const [sha256 = ""] = stored().map((path) => basename(path));
  const second = await create({ photo: "/other" });
  await renderRefused();
  const hold = workspace.keeper.hold();
  await hold.add(sha256);
  const deps = buildDeps(workspace, { pool: idlePool });
  for (const { answer } of [first, second])
    await forgetImage(deps, { accountId: account.id, environment: "live", id: answer.image_id });
  expect(stored().map((path) => basename(path))).toEqual([sha256]);
  workspace.clock.advance(LEASE_MS);
  await finishForgetting(workspace);
  expect(stored()).toHaveLength(1);
  await hold.close(false);
  await finishForgetting(workspace);
  expect(stored()).toEqual([]);
});

test("photos of failed images are kept to be looked at, up to a budget for each account and day", async () => {
  answers = { "/photo": photo(300), "/other": photo(301) };
  await create();
  await renderRefused();
  expect(stored()).toHaveLength(1);
  await workspace.failedBytes.spend(account.id, FAILED_SOURCE_BYTES_PER_DAY);
  await create({ photo: "/other" });
  await create({ photo: "/other" });
  await renderRefused();
  // The second image still needs it.
  expect(stored()).toHaveLength(2);
  await renderRefused();
  expect(stored()).toHaveLength(1);
});

test("an account that has fetched its bytes of the day learns when to go on, and reserves nothing", async () => {
  answers = { "/photo": photo(300) };
  await create();
  expect(await workspace.sourceBytes.spent(account.id)).toBe(png(300, 300).length);
  await workspace.sourceBytes.spend(account.id, SOURCE_BYTES_PER_DAY.starter);
  const error = await create().catch((thrown) => thrown);
  expect([error.code, error.retryAfterSeconds]).toEqual(["RATE_LIMIT_EXCEEDED", 12 * 3600]);
  expect(error.message).toContain("20 GB of photos and badges");
  workspace.clock.advance(12 * 3600 * 1000);
  expect((await create()).replayed).toBeFalse();
});

test("test images have a budget of their own, for what is drawn for them", async () => {
  await workspace.placeholderBytes.spend(account.id, PLACEHOLDER_BYTES_PER_DAY);
  const error = await create({}, "test").catch((thrown) => thrown);
  expect([error.code, error.message]).toEqual([
    "RATE_LIMIT_EXCEEDED",
    expect.stringContaining("test pictures"),
  ]);
  answers = { "/photo": photo(300) };
  expect((await create()).replayed).toBeFalse();
});

test("a create that comes while its photo is being removed waits, and has it written anew", async () => {
  const order: string[] = [];
  const removing = Promise.withResolvers<void>();
  const { blobs, store, log } = workspace;
  const watched: Blobs = {
    ...blobs,
    remove: async (...what) => {
      removing.resolve();
      const removed = await blobs.remove(...what);
      order.push("removed");
      return removed;
    },
    refresh: (...what) => {
      order.push("looked for");
      return blobs.refresh(...what);
    },
  };
  const keeper = sourceKeeper({ store, log, blobs: watched });
  const photo = png(300, 300);
  const [refused, accepted] = [keeper.hold(), keeper.hold()];
  await storeSource(blobs, photo, refused);
  const closed = refused.close(false);
  await removing.promise;
  const { sha256 } = await storeSource(watched, photo, accepted);
  await closed;
  expect(order).toEqual(["removed", "looked for"]);
  expect(await blobs.stat("source", sha256)).toEqual({ bytes: photo.length });
  await accepted.close(true);
});

describe.skipIf(ENGINE !== "postgres")("of two processes with one bucket", () => {
  /** Another process: its own keeper, on the same rows and blobs. */
  const another = (blobs: Blobs) => {
    const { store, log } = workspace;
    if (!store.rawQuery) throw new Error("this store is not shared");
    return sourceKeeper({
      store,
      log,
      blobs,
      holds: sharedHolds({ rawQuery: store.rawQuery, name: "another" }),
    });
  };

  test("a refused create of one leaves the photo that the other is about to use", async () => {
    const { blobs, keeper } = workspace;
    const [refused, accepted] = [another(blobs).hold(), keeper.hold()];
    const { sha256 } = await storeSource(blobs, png(300, 300), refused);
    await storeSource(blobs, png(300, 300), accepted);
    await refused.close(false);
    expect(await blobs.stat("source", sha256)).not.toBeNull();
    // Nor do the sweep and a deletion take it meanwhile.
    expect(await keeper.dropUnused(sha256, Number.MAX_SAFE_INTEGER)).toBeFalse();
    await another(blobs).forget(sha256, { accountId: account.id, environment: "live" });
    expect(await blobs.stat("source", sha256)).not.toBeNull();
    await accepted.close(true);
    expect(await another(blobs).dropUnused(sha256, Number.MAX_SAFE_INTEGER)).toBeTrue();
    expect(await blobs.stat("source", sha256)).toBeNull();
  });

  test("a create of one waits while the other removes its photo, and has it written anew", async () => {
    const order: string[] = [];
    const removing = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    const { blobs, keeper } = workspace;
    const slow: Blobs = {
      ...blobs,
      remove: async (...what) => {
        removing.resolve();
        await waiting.promise;
        order.push("removed");
        return blobs.remove(...what);
      },
    };
    const [refused, accepted] = [another(slow).hold(), keeper.hold()];
    const photo = png(300, 300);
    await storeSource(blobs, photo, refused);
    const closed = refused.close(false);
    await removing.promise;
    const refresh: Blobs["refresh"] = (...what) => {
      order.push("looked for");
      return blobs.refresh(...what);
    };
    const stored = storeSource({ ...blobs, refresh }, photo, accepted);
    const isHeld = async () => {
      const [row] =
        (await workspace.store.rawQuery?.("SELECT count(*)::int AS n FROM source_holds", [])) ?? [];
      return row?.n === 2;
    };
    while (!(await isHeld()));
    waiting.resolve();
    const { sha256 } = await stored;
    await closed;
    expect(order).toEqual(["removed", "looked for"]);
    expect(await blobs.stat("source", sha256)).toEqual({ bytes: photo.length });
    await accepted.close(true);
  });

  test("who was frozen while it removed a photo does not end the announcement of who removes it now", async () => {
    const { store } = workspace;
    if (!store.rawQuery) throw new Error("this store is not shared");
    const { rawQuery } = store;
    const leaving = () => rawQuery("SELECT sha256 FROM source_holds WHERE holder = 'leaving'", []);
    const frozen = await sharedHolds({ rawQuery, name: "frozen" }).announce("ab");
    await rawQuery("UPDATE source_holds SET until = 0", []);
    const now = await sharedHolds({ rawQuery, name: "now" }).announce("ab");
    await frozen?.withdraw();
    expect(await leaving()).toEqual([{ sha256: "ab" }]);
    await now?.withdraw();
    expect(await leaving()).toEqual([]);
  });

  test("a create waits for another server's removal no longer than its request may wait", async () => {
    const { store } = workspace;
    if (!store.rawQuery) throw new Error("this store is not shared");
    const removal = await sharedHolds({ rawQuery: store.rawQuery, name: "frozen" }).announce("cd");
    const hold = workspace.keeper.hold();
    await withDeadlineBudget(200, async () => {
      await expect(hold.add("cd")).rejects.toThrow(StorageUnavailable);
    });
    await removal?.withdraw();
    await hold.close(false);
  });

  test("what a request had no time left to let go of is let go of after it", async () => {
    const { store } = workspace;
    const { rawQuery } = store;
    if (!rawQuery) throw new Error("this store is not shared");
    const holds = sharedHolds({ rawQuery, name: "late" });
    await using other = new SQL(postgresUrl(workspace.folder.database), { max: 1 });
    await withDeadlineBudget(300, async () => {
      const hold = holds.open();
      await hold.add("ef");
      const removal = await holds.announce("aa");
      expect(removal).toBeDefined();
      // While another has the table no time is enough, however quick the database.
      await other.unsafe("BEGIN; LOCK TABLE source_holds");
      await expect(hold.close()).rejects.toThrow(StorageUnavailable);
      await expect(removal?.withdraw()).rejects.toThrow(StorageUnavailable);
      await other.unsafe("COMMIT");
    });
    const left = async () =>
      (await rawQuery("SELECT 1 FROM source_holds WHERE sha256 IN ('ef', 'aa')", [])).length;
    while ((await left()) > 0);
  });

  test("what a killed process held and was removing is free after a while", async () => {
    const { blobs, keeper, store, holds } = workspace;
    const [dead, later] = [another(blobs).hold(), keeper.hold()];
    const { sha256 } = await storeSource(blobs, png(300, 300), dead);
    if (!store.rawQuery) throw new Error("this store is not shared");
    expect(await keeper.dropUnused(sha256, Number.MAX_SAFE_INTEGER)).toBeFalse();
    await store.rawQuery("UPDATE source_holds SET until = 0", []);
    expect(await keeper.dropUnused(sha256, Number.MAX_SAFE_INTEGER)).toBeTrue();
    await sharedHolds({ rawQuery: store.rawQuery, name: "dead" }).announce(sha256);
    await store.rawQuery("UPDATE source_holds SET until = 0", []);
    await storeSource(blobs, png(300, 300), later);
    await later.close(true);
    await holds?.sweep();
    expect(await store.rawQuery("SELECT * FROM source_holds", [])).toEqual([]);
  });
});

/** Ends the next image as a render without a player does. */
async function renderRefused() {
  const pool = poolOf(async () => ({ kind: "refused", message: "No player.", reason: "no_player" }));
  const deps = buildDeps(workspace, { pool });
  await renderNextImage(deps, new AbortController().signal, () => {});
}
