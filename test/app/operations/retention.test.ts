import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { getTableName, sql } from "drizzle-orm";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { DISK_KINDS } from "../../../src/app/operations/doctor/disk-use.ts";
import { sweep, sweepFiles } from "../../../src/app/operations/sweep.ts";
import { addMember } from "../../../src/app/people/manage-users.ts";
import { startSession } from "../../../src/app/people/sign-in.ts";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import { blobPath } from "../../../src/blobs/folder-blobs.ts";
import {
  ACTIVITY_RETENTION_MS,
  IDEMPOTENCY_RETENTION_MS,
  REQUEST_LOG_RETENTION_MS,
  SOURCE_RETENTION_MS,
} from "../../../src/core/limits.ts";
import { WEBHOOK_RETENTION_MS } from "../../../src/core/outbound-limits.ts";
import { SESSION_LIFETIME_MS, SETUP_LINK_LIFETIME_MS } from "../../../src/core/sign-in-limits.ts";
import { DAY_MS } from "../../../src/core/time.ts";
import { insertRequests } from "../../../src/store/overviews/request-log.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { ENGINE } from "../../postgres.ts";
import { acceptLive } from "../accepting.ts";

// One of everything that comes with use, and how long it stays.

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

async function rows(table: string): Promise<number> {
  const [found] = await workspace.store.read.db
    .select({ n: sql`count(*)`.mapWith(Number) })
    .from(sql.raw(table));
  return found?.n ?? 0;
}

/** An account that has been at work: keys, a member with a session, an endpoint, an image that ended. */
async function used(): Promise<void> {
  const { account } = await testAccount(workspace, { credits: 5 });
  const invited = {
    accountId: account.id,
    email: "ana@rovers.example",
    role: "owner",
    vouched: true,
    by: null,
  } as const;
  const { user } = await addMember(workspace, invited);
  await startSession(workspace, user, undefined);
  const config = { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:9"]) };
  const url = "http://127.0.0.1:9/";
  await createEndpoint({ ...workspace, config }, { accountId: account.id, environment: "live", url });
  await acceptLive(workspace, account.id);
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing waits");
  await finishImage(
    workspace,
    { imageId: image.id, token: image.leaseToken, renders: image.renders },
    {
      kind: "completed",
      output: {
        name: `${image.id}-x.png`,
        width: 1,
        height: 1,
        contentType: "image/png",
        bytes: 7,
        composition: "cutout" as const,
      },
    },
  );
}

/** Its attempts have come to their end; what still waits for one is never swept away. */
const giveUpDeliveries = () =>
  workspace.store.write("test", async ({ db, t }) => {
    await db.update(t.webhookDeliveries).set({ state: "failed", nextAttemptAt: null });
  });

test.each([
  ["idempotency_records", IDEMPOTENCY_RETENTION_MS],
  ["sessions", SESSION_LIFETIME_MS],
  ["setup_links", SETUP_LINK_LIFETIME_MS],
  ["webhook_events", WEBHOOK_RETENTION_MS],
  ["webhook_deliveries", WEBHOOK_RETENTION_MS],
  ["audit_entries", ACTIVITY_RETENTION_MS],
])("%s stay as long as they may, and not longer", async (table, staysMs) => {
  await used();
  await giveUpDeliveries();
  const before = await rows(table);
  expect(before).toBeGreaterThan(0);
  workspace.clock.advance(staysMs - 1_000);
  await sweep(workspace);
  expect(await rows(table)).toBe(before);
  workspace.clock.advance(2_000);
  await sweep(workspace);
  expect(await rows(table)).toBe(0);
});

test("the players of many old batches leave the log of requests in one sweep", async () => {
  const { account } = await testAccount(workspace);
  const requests = Array.from({ length: 3 }, (_, n) => ({
    id: `req_${n}`,
    accountId: account.id,
    environment: "live" as const,
    keyId: "key_1",
    method: "POST",
    path: "/v1/batches",
    status: 202,
    code: null,
    externalId: null,
    durationMs: 1,
    details: null,
    body: null,
    createdAt: workspace.clock.now() + n,
    players: Array.from({ length: 300 }, (_, m) => `player-${m}`),
  }));
  await workspace.store.write("test", (tx) => insertRequests(tx, requests));
  expect(await rows("request_players")).toBe(900);
  workspace.clock.advance(REQUEST_LOG_RETENTION_MS + 1_000);
  await sweep(workspace);
  expect(await rows("request_players")).toBe(0);
});

test("what is left after years is accounts, their books and the images' records", async () => {
  await used();
  await giveUpDeliveries();
  const lasting = [
    "accounts",
    "images",
    "ledger_entries",
    "usage_days",
    "usage_keys",
    "users",
    "memberships",
    "api_keys",
    "schema_migrations",
  ];
  const before = await Promise.all(lasting.map(rows));
  workspace.clock.advance(3 * 365 * DAY_MS);
  await sweep(workspace);
  const after = await Promise.all(lasting.map(rows));
  // The plan's credits of each month are part of the books.
  expect(after.map((n, place) => n >= (before[place] ?? 0))).toEqual(lasting.map(() => true));
  const tables = Object.values(workspace.store.read.t).map((table) => getTableName(table));
  const others = tables.filter((name) => ![...lasting, "webhook_endpoints"].includes(name));
  expect(others.length).toBeGreaterThan(10);
  for (const name of others) expect([name, await rows(name)]).toEqual([name, 0]);
});

test("photos and cutouts go seven days after they were last used, and not before", async () => {
  const at = (kind: "source" | "cutout", name: string, ageMs: number) => {
    const path = blobPath(workspace.folder, kind, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "bytes");
    const seconds = (workspace.clock.now() - ageMs) / 1000;
    utimesSync(path, seconds, seconds);
    return path;
  };
  for (const kind of ["source", "cutout"] as const) {
    const young = at(kind, "a".repeat(64), SOURCE_RETENTION_MS - 1_000);
    const old = at(kind, "b".repeat(64), SOURCE_RETENTION_MS + 1_000);
    await sweepFiles(workspace);
    expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
  }
});

// The database is a file of this disk.
test.skipIf(ENGINE === "postgres")(
  "the disk's gauge counts every folder, and a file with two names once",
  async () => {
    writeFileSync(blobPath(workspace.folder, "placeholder", "1024x1280.png"), Buffer.alloc(200_000, 1));
    const before = await workspace.disk.measure();
    const copied = await workspace.blobs.copy(
      { kind: "placeholder", name: "1024x1280.png" },
      { kind: "picture", name: "img_1-secret.png" },
    );
    expect(copied).toBe("linked");
    const { kinds, measuredAt } = await workspace.disk.measure();
    expect(measuredAt).toBe(workspace.clock.now());
    expect([kinds.pictures.files, kinds.placeholders.files]).toEqual([1, 1]);
    expect(kinds.pictures.bytes + kinds.placeholders.bytes).toBe(before.kinds.placeholders.bytes);
    expect(kinds.database.bytes).toBeGreaterThan(0);
    expect(Object.keys(kinds)).toEqual([...DISK_KINDS]);
    // Makes sure that a newly added folder is counted too.
    const known = [
      "sources",
      "cutouts",
      "images",
      "placeholders",
      "template-files",
      "cache",
      "profiles",
      "scratch",
      "backups",
    ];
    const folders = readdirSync(workspace.folder.root, { withFileTypes: true }).filter(
      (entry) => !entry.isFile(),
    );
    expect(folders.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  },
);
