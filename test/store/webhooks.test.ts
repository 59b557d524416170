import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestWorkspace, testWorkspace } from "../harness.ts";

let house: TestWorkspace;
let db: Database;
beforeAll(() => {
  house = testWorkspace();
  db = new Database(house.folder.database);
});
afterAll(async () => {
  db.close();
  await house.close();
});

const planOf = (query: string, ...values: (string | number)[]) =>
  db
    .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${query}`)
    .all(...values)
    .map(({ detail }) => detail)
    .join("; ");

test.each([
  [
    "endpoints with something due",
    `select * from webhook_endpoints e where e.state = ? and exists (select id from webhook_deliveries d
      where d.endpoint_id = e.id and d.state = ? and d.next_attempt_at <= ?)`,
    ["enabled", "pending", 5],
    "webhook_deliveries_queue",
  ],
  [
    "the next deliveries of an endpoint",
    `select id from webhook_deliveries where endpoint_id = ? and state = ? and next_attempt_at <= ?
      order by next_attempt_at limit 8`,
    ["ep", "pending", 5],
    "webhook_deliveries_queue",
  ],
  [
    "claims that outlived their lease",
    "select id from webhook_deliveries where state = ? and lease_expires_at <= ? limit 1",
    ["sending", 5],
    "webhook_deliveries_leases",
  ],
  [
    "an account's deliveries, newest first",
    `select * from webhook_deliveries where account_id = ? and environment = ? order by created_at desc, id desc
      limit 20`,
    ["a", "live", 20],
    "webhook_deliveries_account",
  ],
  [
    "what is known about an image",
    "select id from webhook_events where subject = ?",
    ["img"],
    "webhook_events_once",
  ],
  [
    "an account's newest grant",
    "select * from ledger_entries where account_id = ? and kind = ? order by created_at desc, id desc limit 1",
    ["a", "grant"],
    "ledger_grants",
  ],
] as const)("%s are found by one index, without a scan or a sort", (_, query, values, index) => {
  const plan = planOf(query, ...(query.includes("limit 20") ? values.slice(0, 2) : values));
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
});
