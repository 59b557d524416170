import { afterEach, beforeEach, expect, test } from "bun:test";
import { finishImage } from "../../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../../src/app/images/render-image.ts";
import { audit } from "../../../../src/app/operations/audit/audit.ts";
import { forgetSeals } from "../../../../src/app/operations/audit/sealed-history.ts";
import { HOUR_MS } from "../../../../src/core/time.ts";
import { BEGINNING, sealedBooks } from "../../../../src/store/audit/sealed-books.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../../harness.ts";
import { tamper as tamperWith } from "../../../postgres.ts";
import { acceptLive } from "../../accepting.ts";

let workspace: TestWorkspace;
let account: string;
let completed: string;

/** Two hours of history, sealed by an audit each, and an image that has just ended. */
beforeEach(async () => {
  workspace = await testWorkspace();
  account = (await testAccount(workspace, { credits: 5 })).account.id;
  completed = await endLive("completed");
  await endLive("refused");
  await anHourLater();
  expect(await sealingAudit()).toMatchObject({ ok: true, full: true });
  await endLive("completed");
  await anHourLater();
  expect(await sealingAudit()).toMatchObject({ ok: true, full: false });
  await endLive("completed");
});
afterEach(() => workspace.close());

async function endLive(kind: "completed" | "refused"): Promise<string> {
  await acceptLive(workspace, account);
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing to claim");
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  const output = {
    name: `${image.id}-x.png`,
    width: 1,
    height: 1,
    contentType: "image/png",
    bytes: 1,
    composition: "cutout" as const,
  };
  await finishImage(
    workspace,
    lease,
    kind === "completed" ? { kind, output } : { kind, message: "no player", reason: "no_player" },
  );
  return image.id;
}

const anHourLater = async () => workspace.clock.advance(HOUR_MS);
const now = () => workspace.clock.now();
const everyday = () => audit(workspace.store, now(), { sinceSealed: true });
const sealingAudit = () => audit(workspace.store, now(), { sinceSealed: true, write: workspace.store.write });
const full = (options: { resume?: boolean; onProgress?: (images: number) => void } = {}) =>
  audit(workspace.store, now(), { ...options, write: workspace.store.write });
const tamper = (...statements: string[]) => tamperWith(workspace.folder.database, ...statements);
const brokenRules = ({ findings }: Awaited<ReturnType<typeof audit>>) =>
  findings.filter(({ ok }) => !ok).map(({ check }) => check);

test("an audit begins behind what was sealed, and still checks every balance", async () => {
  expect(await everyday()).toMatchObject({ ok: true, full: false });
  await tamper("UPDATE accounts SET credits_topup = credits_topup + 1");
  expect(brokenRules(await everyday())).toEqual(["balances"]);
});

test("the last hour is not sealed: images may still be ending then", async () => {
  const { sums, until } = await sealedBooks(workspace.store.read);
  expect(until).toBeLessThanOrEqual(now() - HOUR_MS);
  expect([...sums.values()]).toMatchObject([{ accountId: account, completed: 2, failed: 1 }]);
});

test("a sealed image that became impossible is found by a full audit", async () => {
  await tamper(`UPDATE images SET output_bytes = 0 WHERE id = '${completed}'`);
  expect(await everyday()).toMatchObject({ ok: true, full: false });
  expect(brokenRules(await full())).toEqual(["states"]);
});

test("sealed history that was changed so that everything adds up is found by its seal", async () => {
  await tamper(
    `DELETE FROM ledger_entries WHERE image_id = '${completed}'`,
    `DELETE FROM webhook_events WHERE subject = '${completed}'`,
    `DELETE FROM idempotency_records WHERE image_id = '${completed}'`,
    `DELETE FROM images WHERE id = '${completed}'`,
    "UPDATE accounts SET credits_plan = credits_plan + 1",
    "UPDATE usage_days SET requested = requested - 1, completed = completed - 1, credits_used = credits_used - 1",
  );
  expect(brokenRules(await audit(workspace.store, now()))).toEqual(["seals"]);
  // The sums of the seals do not fit the counters: it looks at everything by itself.
  expect(brokenRules(await everyday())).toEqual(["seals"]);
});

test.each([
  ["a seal", "UPDATE sealed_spans SET sums = replace(sums, '1,1,0', '1,0,0')"],
  ["the sums of all seals", "UPDATE sealed_sums SET completed = completed + 1"],
  ["the sums of all seals, to less,", "UPDATE sealed_sums SET completed = completed - 1"],
])("%s that was changed is found, until somebody has it sealed again", async (_, statement) => {
  await tamper(statement);
  expect(brokenRules(await full())).toEqual(["seals"]);
  await forgetSeals(workspace.store.write);
  expect(await sealingAudit()).toMatchObject({ ok: true, full: true });
  expect(await everyday()).toMatchObject({ ok: true, full: false });
});

test("an image that ended in sealed time, because a clock was behind, breaks nothing and is sealed later", async () => {
  workspace.clock.advance(-2 * HOUR_MS);
  await endLive("completed");
  workspace.clock.advance(2 * HOUR_MS);
  expect(await everyday()).toMatchObject({ ok: true, full: true });
  expect(await sealingAudit()).toMatchObject({ ok: true, full: true });
  expect(await everyday()).toMatchObject({ ok: true, full: false });
});

test("nothing is sealed from an image on that is not sound", async () => {
  await forgetSeals(workspace.store.write);
  await tamper(`UPDATE images SET output_bytes = 0 WHERE id = '${completed}'`);
  expect(brokenRules(await sealingAudit())).toEqual(["states"]);
  expect((await sealedBooks(workspace.store.read)).until).toBe(BEGINNING);
});

test("an interrupted full audit goes on behind the span it got to", async () => {
  workspace.clock.advance(1);
  const stopped = full({
    onProgress: () => {
      throw new Error("stopped");
    },
  });
  await expect(stopped).rejects.toThrow("stopped");
  // Only what it did not get to is looked at: the first span was.
  await tamper(`UPDATE images SET output_bytes = 0 WHERE id = '${completed}'`);
  workspace.clock.advance(1);
  expect(await full({ resume: true })).toMatchObject({ ok: true, full: true });
  expect(brokenRules(await full())).toEqual(["states"]);
});
