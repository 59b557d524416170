import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { requeueAbandoned, sweep, sweepFiles } from "../../../src/app/operations/sweep.ts";
import { blobPath } from "../../../src/blobs/folder-blobs.ts";
import { CLOCK_HOLD_MS, DELETION_PAUSE_MS } from "../../../src/core/limits.ts";
import { steadyClock } from "../../../src/core/steady-clock.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/core/time.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { ledgerPage } from "../../../src/store/credits/ledger.ts";
import { findRecordOfImage } from "../../../src/store/images/idempotency.ts";
import { insertSession, sessionsOf } from "../../../src/store/people/sessions.ts";
import { insertUser } from "../../../src/store/people/users.ts";
import { keepClockMark, readClockMark } from "../../../src/system/clock-file.ts";
import { writeWhole } from "../../../src/system/write-whole.ts";
import { idlePool } from "../../fakes.ts";
import { imageRequest, silentLog, type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open) await workspace.close();
  open = [];
});

/**
 * A finished card with its picture, and a session: both expire with time. `wall` is the clock that can be
 * set.
 */
async function start() {
  const plain = await testWorkspace();
  open.push(plain);
  const events: string[] = [];
  const note = (event: string) => void events.push(event);
  const log = { ...silentLog, warn: note, error: note };
  const clock = steadyClock(plain.clock, log);
  const workspace = { ...plain, clock, log };
  const { account } = await testAccount(workspace, { credits: 9 });
  const id = await acceptLive(workspace, account.id);
  await finishNext(workspace);
  const picture = blobPath(workspace.folder, "picture", `${id}-x.png`);
  await writeWhole(picture, "picture");
  const createdAt = clock.now();
  await workspace.store.write("test", async (tx) => {
    await insertUser(tx, {
      id: "user_1",
      email: "maya@rovers.example",
      passwordHash: null,
      isOperator: 0,
      operatorByGroups: 0,
      isVouched: 0,
      createdAt,
      lastSignInAt: null,
      seenVersion: null,
    });
    await insertSession(tx, {
      id: "session_1",
      tokenHash: "hash",
      userId: "user_1",
      csrfToken: "token",
      accountId: null,
      identityId: null,
      createdAt,
      lastSeenAt: createdAt,
      expiresAt: createdAt + 7 * DAY_MS,
    });
  });
  const state = async () => ({
    picture: existsSync(picture),
    record: (await findRecordOfImage(workspace.store.read, id)) !== undefined,
    session: (await sessionsOf(workspace.store.read, "user_1", createdAt)).length,
    grants: (await ledgerPage(workspace.store.read, { accountId: account.id, limit: 99 })).filter(
      ({ kind }) => kind === "grant",
    ).length,
    books: (await audit(workspace.store, clock.now())).ok,
  });
  return { workspace, wall: plain.clock, account, events, state };
}

async function finishNext(workspace: Parameters<typeof claimImage>[0]) {
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing waits");
  const output = {
    name: `${image.id}-x.png`,
    width: 1,
    height: 1,
    contentType: "image/png",
    bytes: 7,
    composition: "cutout" as const,
  };
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(workspace, lease, { kind: "completed", output });
}

const ALL = { picture: true, record: true, session: 1, grants: 1, books: true };

test("a clock that is 40 days ahead for half a minute takes nothing and grants nothing", async () => {
  const { workspace, wall, account, events, state } = await start();
  wall.jump(40 * DAY_MS);
  for (let n = 0; n < 2; n++) {
    await sweep(workspace);
    await sweepFiles(workspace);
    await acceptLive(workspace, account.id);
    wall.advance(18 * SECOND_MS);
  }
  expect(await state()).toEqual(ALL);
  wall.jump(-40 * DAY_MS);
  await sweep(workspace);
  expect(await state()).toEqual(ALL);
  // The cards made meanwhile come in their turn.
  await finishNext(workspace);
  await finishNext(workspace);
  expect(events.filter((event) => event.startsWith("clock"))).toEqual(["clock_jumped", "clock_right_again"]);
});

test("a jump that stays is believed after a while, and a day later what is due is deleted", async () => {
  const { workspace, wall, events, state } = await start();
  const before = wall.now();
  wall.jump(40 * DAY_MS);
  await sweep(workspace);
  wall.advance(CLOCK_HOLD_MS - SECOND_MS);
  expect(workspace.clock.now()).toBe(before + CLOCK_HOLD_MS - SECOND_MS);
  wall.advance(SECOND_MS);
  expect(workspace.clock.now()).toBe(wall.now());
  await sweep(workspace);
  expect(await state()).toMatchObject({ picture: true, record: true, session: 1 });
  wall.advance(DELETION_PAUSE_MS);
  await sweep(workspace);
  expect(await state()).toEqual({ picture: false, record: false, session: 0, grants: 2, books: true });
  expect(events).toContain("clock_jump_believed");
  expect(events).toContain("deletions_paused");
});

test("a server that starts while the clock is wrong goes on from what the one before knew", async () => {
  const { workspace, wall, state } = await start();
  const mark = workspace.clock.mark();
  wall.advance(5 * SECOND_MS);
  wall.jump(40 * DAY_MS);
  const next = { ...workspace, clock: steadyClock(wall, silentLog, mark) };
  expect(next.clock.now()).toBe(mark.wall + 5 * SECOND_MS);
  await sweep(next);
  expect(await state()).toEqual(ALL);

  const path = join(workspace.folder.root, "clock.json");
  await keepClockMark(path, mark);
  expect(readClockMark(path, mark.elapsed)).toEqual(mark);
  // The uptime is shorter than the recorded one: the machine was restarted, or this is another machine.
  expect(readClockMark(path, mark.elapsed - 1)).toBeUndefined();
  expect(readClockMark(join(path, "none"), 0)).toBeUndefined();
});

test("a clock that is 35 days ahead at the start ends no month's credits, by the sweep, a card or a batch, nor after a restart", async () => {
  const { workspace, wall, account, state } = await start();
  wall.jump(35 * DAY_MS);
  // No mark of an earlier process vouches for the time.
  const first = steadyClock(wall, silentLog);
  first.doubt();
  const restarted = steadyClock(wall, silentLog, first.mark());
  for (const clock of [first, restarted]) {
    const next = { ...workspace, clock };
    await sweep(next);
    await acceptLive(next, account.id);
    const { acceptBatch } = buildDeps(next, { pool: idlePool });
    const requests = [imageRequest()];
    await acceptBatch({ account, environment: "live", idempotencyKey: null, name: "Squad", requests });
    expect(await state()).toEqual(ALL);
  }
  const path = join(workspace.folder.root, "clock.json");
  await keepClockMark(path, first.mark());
  expect(readClockMark(path, first.mark().elapsed)).toEqual(first.mark());
  // By then somebody has read the alarm.
  wall.advance(DELETION_PAUSE_MS);
  await sweep({ ...workspace, clock: restarted });
  expect((await state()).grants).toBe(2);
});

test("a clock set back by two hours keeps no waiting card from being made, and no render from being given back", async () => {
  const { workspace, wall, account } = await start();
  for (let n = 0; n < 5; n++) await acceptLive(workspace, account.id);
  expect(await claimImage(workspace, "live")).toBeDefined();
  wall.jump(-2 * HOUR_MS);
  // Not a service that can tell, but one that starts with the clock as it is.
  const later = { ...workspace, clock: wall };
  for (let n = 0; n < 4; n++) await finishNext(later);
  expect(await requeueAbandoned(later)).toBe(1);
});

test("small corrections pass, and sleep is no jump", () => {
  let systemTime = 1e12;
  let passed = 0;
  const clock = steadyClock({ now: () => systemTime, elapsed: () => passed }, silentLog);
  for (let n = 0; n < 100; n++) {
    systemTime += 40 * SECOND_MS;
    passed += 10 * SECOND_MS;
    expect(clock.now()).toBe(systemTime);
  }
  systemTime += 9 * HOUR_MS;
  passed += 9 * HOUR_MS;
  expect(clock.now()).toBe(systemTime);
  expect(clock.settledForMs()).toBe(Number.POSITIVE_INFINITY);
});
