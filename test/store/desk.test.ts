import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { deskNumbers } from "../../src/store/desk.ts";
import { latestPictures, queueDepth, recentFailures } from "../../src/store/image-search.ts";
import { type TestWorkspace, testWorkspace } from "../harness.ts";

let workspace: TestWorkspace;
beforeEach(() => {
  workspace = testWorkspace();
});
afterEach(() => workspace.close());

test("what the operator's desk asks every few seconds reads small indexes, never whole tables", async () => {
  const { read } = workspace.store;
  const asked: [Database, string][] = [];
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database, sql: string, ...rest: never[]) {
    asked.push([this, sql]);
    return prepare.call(this, sql, ...rest);
  } as typeof prepare;
  try {
    await deskNumbers(read, { since: 0 });
    await queueDepth(read, "live");
    await recentFailures(read, 5);
    await latestPictures(read, 5);
  } finally {
    Database.prototype.prepare = prepare;
  }
  expect(asked.length).toBeGreaterThanOrEqual(7);
  for (const [db, sql] of asked) {
    const values = Array(sql.split("?").length - 1).fill("live");
    const plan = prepare.call(db, `explain query plan ${sql}`).all(...values) as { detail: string }[];
    for (const { detail } of plan) {
      // These indexes hold only rows in the one state that is asked for.
      const partial = /INDEX (images_(queue|failures|expiry)|webhook_deliveries_(queue|leases))\b/;
      const whole = /^SCAN/.test(detail) && !partial.test(detail);
      expect({ sql, detail, whole }).toEqual({ sql, detail, whole: false });
    }
  }
});
