import { afterEach, beforeEach, expect, test } from "bun:test";
import { cancelBatch } from "../../../../src/app/batches/cancel-batch.ts";
import { finishImage } from "../../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../../src/app/images/render-image.ts";
import { audit } from "../../../../src/app/operations/audit/audit.ts";
import { sweep } from "../../../../src/app/operations/sweep.ts";
import { createEndpoint } from "../../../../src/app/webhooks/manage-webhooks.ts";
import { MAX_RENDERS } from "../../../../src/core/limits.ts";
import { StorageUnavailable } from "../../../../src/core/storage-unavailable.ts";
import { buildDeps } from "../../../../src/service/deps.ts";
import { findAccount } from "../../../../src/store/people/accounts.ts";
import { ampleQueue, idlePool } from "../../../fakes.ts";
import { imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../../../harness.ts";
import { tamper as tamperWith } from "../../../postgres.ts";
import { acceptLive } from "../../accepting.ts";

let workspace: TestWorkspace;
let account: string;
let completed: string;
let failed: string;
let queued: string;
let endpoint: string;

/** A history with every kind of entry and state in it. */
beforeEach(async () => {
  workspace = await testWorkspace();
  account = (await testAccount(workspace, { credits: 5 })).account.id;
  const end = async (kind: "completed" | "refused") => {
    await acceptLive(workspace, account);
    const image = await claimImage(workspace, "live");
    if (!image) throw new Error("nothing to claim");
    const output = {
      name: `${image.id}-x.png`,
      width: 1,
      height: 1,
      contentType: "image/png",
      bytes: 1,
      composition: "cutout" as const,
    };
    const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
    await finishImage(
      workspace,
      lease,
      kind === "completed" ? { kind, output } : { kind, message: "no player", reason: "no_player" },
    );
    return image.id;
  };
  endpoint = await webhookEndpoint();
  completed = await end("completed");
  failed = await end("refused");
  workspace.clock.set("2026-12-02T00:00:00.000Z");
  await sweep(workspace);
  queued = await acceptLive(workspace, account);
  await acceptLive(workspace, account, { environment: "test" });
  await batches();
});
afterEach(() => workspace.close());

/** One that is over, and one with a card that is not. */
async function batches(): Promise<void> {
  const owner = await findAccount(workspace.store.read, account);
  if (!owner) throw new Error("the account is gone");
  const { acceptBatch } = buildDeps(workspace, { pool: idlePool, queue: ampleQueue() });
  const accept = (name: string, count: number) => {
    const requests = Array.from({ length: count }, (_, n) =>
      imageRequest({ player: { external_id: `${name}-${n}` } }),
    );
    return acceptBatch({ account: owner, environment: "live", idempotencyKey: null, name, requests });
  };
  const { batch } = await accept("over", 1);
  await cancelBatch(workspace, { accountId: account, environment: "live", id: batch.id });
  await accept("open", 2);
}

/** An endpoint that has received every event but the last. */
async function webhookEndpoint(): Promise<string> {
  const made = await createEndpoint(
    {
      ...workspace,
      config: { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:1"]) },
    },
    { accountId: account, environment: "live", url: "http://127.0.0.1:1/hook" },
  );
  return made.endpoint.id;
}

const tamper = (...statements: string[]) => tamperWith(workspace.folder.database, ...statements);

/** The broken rules and the ids they name. */
async function broken(): Promise<Record<string, string[]>> {
  const { findings } = await audit(workspace.store, workspace.clock.now());
  return Object.fromEntries(
    findings.filter(({ ok }) => !ok).map((f) => [f.check, f.broken.map(({ id }) => id)]),
  );
}

test("a sound history passes", async () => {
  expect((await audit(workspace.store, workspace.clock.now())).ok).toBe(true);
});

test("a changed balance is found and its account named", async () => {
  await tamper(`UPDATE accounts SET credits_topup = credits_topup + 1`);
  expect(await broken()).toEqual({ balances: [account] });
});

test("credits of a past month that were never expired are found", async () => {
  await tamper("DELETE FROM ledger_entries WHERE kind = 'expire'");
  expect(await broken()).toMatchObject({ balances: [account], months: [account] });
});

test("a changed amount is found", async () => {
  await tamper("UPDATE ledger_entries SET amount = 50 WHERE kind = 'grant'");
  expect(await broken()).toMatchObject({ balances: [account], months: [account, account] });
});

test("a missing reservation, settlement or release is found and its image named", async () => {
  for (const [kind, id] of [
    ["settle", completed],
    ["release", failed],
    ["reserve", queued],
  ] as const) {
    await tamper(`DELETE FROM ledger_entries WHERE kind = '${kind}' AND image_id = '${id}'`);
    expect((await broken()).payments).toContain(id);
  }
});

test("a settlement of an image that did not complete is found", async () => {
  await tamper(`UPDATE ledger_entries SET kind = 'settle' WHERE kind = 'release' AND image_id = '${failed}'`);
  expect((await broken()).payments).toEqual([failed]);
});

test("an entry for an image of another account, or of none, is found", async () => {
  const other = (await testAccount(workspace, { credits: 0 })).account.id;
  await tamper(`UPDATE ledger_entries SET account_id = '${other}' WHERE kind = 'settle'`);
  expect((await broken()).payments).toEqual([completed]);
  await tamper("UPDATE ledger_entries SET image_id = 'img_gone' WHERE kind = 'settle'");
  expect((await broken()).payments).toEqual([completed]);
});

test("an image whose end was never announced is found", async () => {
  await tamper(`DELETE FROM webhook_events WHERE subject = '${failed}'`);
  expect(await broken()).toMatchObject({ events: [failed] });
});

test("impossible states are found", async () => {
  await tamper(
    `UPDATE images SET renders = ${MAX_RENDERS + 1} WHERE id = '${failed}'`,
    `UPDATE images SET output_name = NULL WHERE id = '${completed}'`,
  );
  expect((await broken()).states?.sort()).toEqual([completed, failed].sort());
  await tamper(`UPDATE images SET state = 'lost' WHERE id = '${queued}'`);
  expect((await broken()).states).toContain(queued);
});

// Damage by hand with a database tool, each on a fresh history, and the rule that must name it.
test.each([
  ["held credits forgotten", "UPDATE accounts SET credits_held = 0", "balances"],
  ["a plan of a month to come", "UPDATE accounts SET plan_period = '2027-01'", "accounts"],
  ["a plan of no month", "UPDATE accounts SET plan_period = 'soon'", "accounts"],
  ["an unknown tier", "UPDATE accounts SET tier = 'gold'", "accounts"],
  ["an unknown account status", "UPDATE accounts SET status = 'gone'", "accounts"],
  [
    "a month granted twice, with the balance to match",
    `DROP INDEX ledger_one_grant;
     INSERT INTO ledger_entries SELECT id || 'x', account_id, kind, bucket, period, amount, image_id, reason, created_at
       FROM ledger_entries WHERE kind = 'grant' AND period = '2026-12';
     UPDATE accounts SET credits_plan = credits_plan + 5`,
    "entries",
  ],
  [
    "a credit settled twice",
    `DROP INDEX ledger_one_resolution;
     INSERT INTO ledger_entries SELECT id || 'x', account_id, kind, bucket, period, amount, image_id, reason, created_at
       FROM ledger_entries WHERE kind = 'settle'`,
    "balances",
  ],
  [
    "an entry moved to top-ups",
    "UPDATE ledger_entries SET bucket = 'topup' WHERE kind = 'settle'",
    "payments",
  ],
  [
    "an entry moved to another month",
    "UPDATE ledger_entries SET period = '2026-10' WHERE kind = 'reserve'",
    "months",
  ],
  ["an account that is gone", "DELETE FROM accounts", "entries"],
  ["an image that is gone", "DELETE FROM images WHERE state = 'completed'", "entries"],
  [
    "a live image made a test image",
    "UPDATE images SET environment = 'test' WHERE state = 'failed'",
    "payments",
  ],
  [
    "a completed image said to have failed",
    "UPDATE images SET state = 'failed' WHERE state = 'completed'",
    "states",
  ],
  [
    "a lease without an end",
    "UPDATE images SET state = 'rendering', lease_token = 'x', renders = 1 WHERE state = 'queued'",
    "states",
  ],
  [
    "an image put off for a year",
    "UPDATE images SET available_at = available_at + 3e10 WHERE state = 'queued'",
    "states",
  ],
  ["an unreadable request", "UPDATE images SET request = 'torn' WHERE state = 'queued'", "states"],
  ["a card that never expires", "UPDATE images SET expires_at = NULL WHERE state = 'completed'", "states"],
  ["all idempotency records gone", "DELETE FROM idempotency_records", "replays"],
  ["a fingerprint cut off", "UPDATE idempotency_records SET fingerprint = 'abc'", "replays"],
  ["a record of another account", "UPDATE idempotency_records SET account_id = 'acct_x'", "replays"],
  ["all events gone", "DELETE FROM webhook_events", "events"],
  [
    "an event of the other end",
    "UPDATE webhook_events SET type = 'image.failed' WHERE type = 'image.completed'",
    "events",
  ],
  [
    "an event with another body",
    `UPDATE webhook_events SET body = '{"type":"image.completed","data":{}}'`,
    "events",
  ],
  ["an event of another account", "UPDATE webhook_events SET account_id = 'acct_x'", "events"],
  ["a delivery whose event is gone", "DELETE FROM webhook_events", "deliveries"],
  ["a delivery whose endpoint is gone", "DELETE FROM webhook_endpoints", "deliveries"],
  ["a delivery that is never sent", "UPDATE webhook_deliveries SET next_attempt_at = 9e15", "deliveries"],
  [
    "a delivery that waits for a removed endpoint",
    "UPDATE webhook_endpoints SET state = 'removed', secret = '', disabled_at = 5",
    "deliveries",
  ],
  ["a delivery in no known state", "UPDATE webhook_deliveries SET state = 'lost'", "deliveries"],
  [
    "a delivery that arrived by no attempt",
    "UPDATE webhook_deliveries SET state = 'delivered', next_attempt_at = NULL, delivered_at = 5",
    "deliveries",
  ],
  ["attempts that are not on record", "UPDATE webhook_deliveries SET attempts = 3", "deliveries"],
  ["an endpoint without a secret", "UPDATE webhook_endpoints SET secret = ''", "endpoints"],
  [
    "an endpoint disabled without a reason",
    "UPDATE webhook_endpoints SET state = 'disabled', disabled_at = 5",
    "endpoints",
  ],
  [
    "a batch that counts too many ends",
    "UPDATE batches SET completed = 1 WHERE completed_at IS NULL",
    "batches",
  ],
  ["a batch that lost a card", "DELETE FROM batch_cards WHERE position = 1", "batches"],
  ["a batch of another account", "UPDATE batches SET account_id = 'acct_x'", "batches"],
  [
    "a batch whose end was never announced",
    "DELETE FROM webhook_events WHERE type = 'batch.completed'",
    "batches",
  ],
  ["a number still held by a finished card", inSet("account_id", 1, "held"), "serials"],
  ["a finished card without its number", inSet("account_id", "NULL", "final"), "serials"],
  ["a number of another account's set", inSet("'acct_x'", 1, "final"), "serials"],
])("%s: found", async (_, statements, check) => {
  await tamper(...statements.split(";"));
  const found = await broken();
  expect(Object.keys(found)).toContain(check);
  expect(found[check]?.every((id) => /^[a-z]+_\w+$/.test(id))).toBe(true);
});

test("an endpoint with no address is named", async () => {
  await tamper(`UPDATE webhook_endpoints SET url = '' WHERE id = '${endpoint}'`);
  expect(await broken()).toEqual({ endpoints: [endpoint] });
});

test("a replay that answers with another image, and counters that drifted, are found", async () => {
  await tamper(
    `UPDATE idempotency_records SET response_body = '{}' WHERE image_id = '${queued}'`,
    "UPDATE usage_days SET completed = completed + 1 WHERE environment = 'live' AND day = '2026-11-15'",
  );
  expect(await broken()).toEqual({ replays: [queued], usage: [account] });
});

test("a bucket that cannot be asked is no missing picture: the audit says that it cannot be used", async () => {
  const away = async () => {
    throw new StorageUnavailable(new Error("no answer"), "look for a picture in the bucket");
  };
  await expect(audit(workspace.store, workspace.clock.now(), { blobs: { stat: away } })).rejects.toThrow(
    StorageUnavailable,
  );
});

/** Statements that put a finished card into a set of this owner, with this number. */
function inSet(owner: string, serial: number | "NULL", state: string): string {
  const from = "FROM images WHERE state = 'completed' AND environment = 'live' ORDER BY id LIMIT 1";
  return [
    `INSERT INTO card_sets (id, account_id, environment, name, season, parallels, created_at) SELECT 'set_a', ${owner}, environment, 'Rovers', '', '[]', 1 ${from}`,
    `INSERT INTO set_cards SELECT id, 'set_a', 0, 'gold', ${serial}, 50, '${state}', NULL, 1 ${from}`,
  ].join(";");
}
