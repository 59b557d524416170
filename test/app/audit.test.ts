import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { audit } from "../../src/app/audit.ts";
import { finishImage } from "../../src/app/finish-image.ts";
import { claimImage } from "../../src/app/render-image.ts";
import { sweep } from "../../src/app/sweep.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { acceptLive } from "./accepting.ts";

let workspace: TestWorkspace;
let account: string;
let completed: string;
let failed: string;
let queued: string;

/** A history with every kind of entry and state in it. */
beforeEach(async () => {
  workspace = testWorkspace();
  account = (await testAccount(workspace, { credits: 5 })).account.id;
  const end = async (kind: "completed" | "refused") => {
    await acceptLive(workspace, account);
    const image = await claimImage(workspace, "live");
    if (!image) throw new Error("nothing to claim");
    const output = { name: `${image.id}-x.png`, width: 1, height: 1, contentType: "image/png", bytes: 1 };
    const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
    await finishImage(
      workspace,
      lease,
      kind === "completed" ? { kind, output } : { kind, message: "no player" },
    );
    return image.id;
  };
  completed = await end("completed");
  failed = await end("refused");
  workspace.clock.set("2026-12-02T00:00:00.000Z");
  await sweep(workspace);
  queued = await acceptLive(workspace, account);
  await acceptLive(workspace, account, { environment: "test" });
});
afterEach(() => workspace.close());

/** What an attacker with the file, a bug, or a bad disk could do: past every trigger and check. */
function tamper(...statements: string[]): void {
  const db = new Database(workspace.folder.database);
  db.run("PRAGMA ignore_check_constraints = ON");
  for (const { name } of db.query("SELECT name FROM sqlite_master WHERE type = 'trigger'").all() as {
    name: string;
  }[]) {
    db.run(`DROP TRIGGER ${name}`);
  }
  for (const statement of statements) db.run(statement);
  db.close();
}

/** The broken rules and the ids they name. */
async function broken(): Promise<Record<string, string[]>> {
  const { findings } = await audit(workspace.store);
  return Object.fromEntries(
    findings.filter(({ ok }) => !ok).map((f) => [f.check, f.broken.map(({ id }) => id)]),
  );
}

test("a sound history passes", async () => {
  expect((await audit(workspace.store)).ok).toBe(true);
});

test("a changed balance is found and its account named", async () => {
  tamper(`UPDATE accounts SET credits_topup = credits_topup + 1`);
  expect(await broken()).toEqual({ balances: [account] });
});

test("credits of a past month that were never expired are found", async () => {
  tamper("DELETE FROM ledger_entries WHERE kind = 'expire'");
  expect(await broken()).toMatchObject({ balances: [account], months: [account] });
});

test("a changed amount is found", async () => {
  tamper("UPDATE ledger_entries SET amount = 50 WHERE kind = 'grant'");
  expect(await broken()).toMatchObject({ balances: [account], months: [account, account] });
});

test("a missing reservation, settlement or release is found and its image named", async () => {
  for (const [kind, id] of [
    ["settle", completed],
    ["release", failed],
    ["reserve", queued],
  ] as const) {
    tamper(`DELETE FROM ledger_entries WHERE kind = '${kind}' AND image_id = '${id}'`);
    expect((await broken()).payments).toContain(id);
  }
});

test("a settlement of an image that did not complete is found", async () => {
  tamper(`UPDATE ledger_entries SET kind = 'settle' WHERE kind = 'release'`);
  expect((await broken()).payments).toEqual([failed]);
});

test("an entry for an image of another account, or of none, is found", async () => {
  const other = (await testAccount(workspace, { credits: 0 })).account.id;
  tamper(`UPDATE ledger_entries SET account_id = '${other}' WHERE kind = 'settle'`);
  expect((await broken()).payments).toEqual([completed]);
  tamper("UPDATE ledger_entries SET image_id = 'img_gone' WHERE kind = 'settle'");
  expect(Object.keys(await broken())).toContain("entries");
});

test("an image whose end was never told is found", async () => {
  tamper(`DELETE FROM webhook_events WHERE subject = '${failed}'`);
  expect(await broken()).toEqual({ events: [failed] });
});

test("impossible states are found", async () => {
  tamper(
    `UPDATE images SET renders = 4 WHERE id = '${failed}'`,
    `UPDATE images SET output_name = NULL WHERE id = '${completed}'`,
  );
  expect((await broken()).states?.sort()).toEqual([completed, failed].sort());
  tamper(`UPDATE images SET state = 'lost' WHERE id = '${queued}'`);
  expect((await broken()).states).toContain(queued);
});

test("a replay that answers with another image, and counters that drifted, are found", async () => {
  tamper(
    `UPDATE idempotency_records SET response_body = '{}' WHERE image_id = '${queued}'`,
    "UPDATE usage_days SET completed = completed + 1 WHERE environment = 'live' AND day = '2026-11-15'",
  );
  expect(await broken()).toEqual({ replays: [queued], usage: [account] });
});
