import { afterEach, beforeEach, expect, test } from "bun:test";
import { type StatementLine, statementPage, wholeStatement } from "../../../src/app/credits/statement.ts";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { changePlan, grantCredits } from "../../../src/app/people/manage-account.ts";
import { ledgerPage } from "../../../src/store/credits/ledger.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

const OUTPUT = {
  name: "a-b.png",
  width: 1,
  height: 1,
  contentType: "image/png",
  bytes: 1,
  composition: "cutout" as const,
};

async function end(kind: "completed" | "refused"): Promise<void> {
  workspace.clock.advance(1_000);
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing waits");
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(
    workspace,
    lease,
    kind === "completed"
      ? { kind, output: { ...OUTPUT, name: `${image.id}.png` } }
      : { kind, message: "No player.", reason: "no_player" },
  );
}

async function accept(accountId: string): Promise<void> {
  workspace.clock.advance(1_000);
  await acceptLive(workspace, accountId);
}

/** Three cards used, one given back, a top-up, one reserved over the end of the month and given back late. */
async function busyAccount(): Promise<string> {
  const { account } = await testAccount(workspace, { credits: 5 });
  for (const kind of ["completed", "refused", "completed", "completed"] as const) {
    await accept(account.id);
    await end(kind);
  }
  workspace.clock.advance(1_000);
  await grantCredits(workspace, { accountId: account.id, amount: 7, reason: "welcome" });
  await accept(account.id);
  await changePlan(workspace, account.id, { tier: "growth", credits: 9 });
  workspace.clock.set("2026-12-01T00:00:01.000Z");
  await accept(account.id);
  await end("refused");
  await end("completed");
  return account.id;
}

const short = ({ entry, amount, available, held }: StatementLine) =>
  `${entry.kind} ${entry.bucket}: ${amount}, ${available} and ${held} held`;

test("a statement has signed amounts, and what could be spent and was held after each entry", async () => {
  const id = await busyAccount();
  const { lines, older } = await statementPage(workspace.store.read, { accountId: id, limit: 100 });
  expect(older).toBeUndefined();
  expect(lines.map(short).reverse()).toEqual([
    "grant plan: 5, 5 and 0 held",
    "reserve plan: -1, 4 and 1 held",
    "settle plan: 0, 4 and 0 held",
    "reserve plan: -1, 3 and 1 held",
    "release plan: 1, 4 and 0 held",
    "reserve plan: -1, 3 and 1 held",
    "settle plan: 0, 3 and 0 held",
    "reserve plan: -1, 2 and 1 held",
    "settle plan: 0, 2 and 0 held",
    "grant topup: 7, 9 and 0 held",
    "reserve plan: -1, 8 and 1 held",
    // The first entries of the new month are of one moment.
    "expire plan: -1, 7 and 1 held",
    "grant plan: 9, 16 and 1 held",
    "reserve plan: -1, 15 and 2 held",
    // A credit of a month that is over comes back and expires at once.
    "release plan: 1, 16 and 1 held",
    "expire plan: -1, 15 and 1 held",
    "settle plan: 0, 15 and 0 held",
  ]);
  const account = await findAccount(workspace.store.read, id);
  expect(lines[0]).toMatchObject({ available: 15, held: account?.creditsHeld });
});

test("balances are the same on every page, however many entries it has, and in the whole", async () => {
  const id = await busyAccount();
  const whole: StatementLine[] = [];
  for await (const batch of wholeStatement(workspace.store.read, id)) whole.push(...batch);
  const sums = whole.reduce((sum, { amount }) => sum + amount, 0);
  expect(whole[0]?.available).toBe(sums);
  for (const limit of [1, 3, 16, 17]) {
    const { read } = workspace.store;
    const paged: StatementLine[] = [];
    let page = await statementPage(read, { accountId: id, limit });
    for (;;) {
      paged.push(...page.lines);
      if (!page.older) break;
      page = await statementPage(read, { accountId: id, after: page.older, limit });
    }
    expect(paged).toHaveLength(whole.length);
    const ids = (lines: StatementLine[]) => lines.map(({ entry }) => entry.id).sort();
    expect(ids(paged)).toEqual(ids(whole));
    // Each balance is the one below it and the entry's own amount.
    for (const [i, line] of paged.entries())
      expect(line.available).toBe((paged[i + 1]?.available ?? 0) + line.amount);
    expect(paged.at(-1)).toMatchObject({ entry: { kind: "grant" }, available: 5, held: 0 });
  }
  expect(await ledgerPage(workspace.store.read, { accountId: id, limit: 99 })).toHaveLength(whole.length);
});
