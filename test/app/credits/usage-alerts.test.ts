import { afterEach, beforeEach, expect, test } from "bun:test";
import { budgetState, changeBudget } from "../../../src/app/credits/usage-alerts.ts";
import { finishImage, type RenderEnd } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { inWords, troubles } from "../../../src/app/operations/attention.ts";
import { addMember } from "../../../src/app/people/manage-users.ts";
import { listDeliveries } from "../../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let workspace: TestWorkspace;
let accountId: string;
beforeEach(async () => {
  workspace = await testWorkspace();
  const mail = { smtpUrl: "smtp://127.0.0.1:9", from: "cards@example.com" };
  workspace = { ...workspace, config: { ...workspace.config, mail } };
  accountId = (await testAccount(workspace, { name: "Harbour Rovers", credits: 1_000 })).account.id;
});
afterEach(() => workspace.close());

const OUTPUT = {
  width: 1024,
  height: 1280,
  contentType: "image/png",
  bytes: 9,
  composition: "cutout" as const,
};

/** Takes the next image for rendering; what is returned ends it. */
async function render(environment: "live" | "test" = "live") {
  const image = await claimImage(workspace, environment);
  if (!image) throw new Error("nothing waits");
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  const output = { ...OUTPUT, name: `${image.id}-part.png` };
  return (end: RenderEnd = { kind: "completed", output }) => finishImage(workspace, lease, end);
}

async function make(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await acceptLive(workspace, accountId);
    await (await render())();
  }
}

async function raised() {
  const { db, t } = workspace.store.read;
  const rows = await db.select().from(t.webhookEvents).orderBy(t.webhookEvents.createdAt, t.webhookEvents.id);
  const alerts = rows.filter(({ type }) => type === "usage.alert").map(({ body }) => JSON.parse(body));
  return alerts.map(
    ({ data }) => data as { period: string; credits_used: number; budget: number; percent: number },
  );
}

const mails = () => workspace.store.read.db.select().from(workspace.store.read.t.mails);
const budget = (credits: number, alerts: number[]) =>
  changeBudget(workspace, accountId, { credits, alerts }, null);
const state = async () => {
  const account = await findAccount(workspace.store.read, accountId);
  return account && budgetState(workspace.store.read, account, workspace.clock.now());
};

test("the card that reaches an alert raises it, each once, and the next month again", async () => {
  await budget(5, [100, 50, 80, 80]);
  await make(2);
  expect(await raised()).toEqual([]);
  await make(6);
  // Half of five is reached by the third.
  expect(await raised()).toEqual([
    { period: "2026-11", credits_used: 3, budget: 5, percent: 50 },
    { period: "2026-11", credits_used: 4, budget: 5, percent: 80 },
    { period: "2026-11", credits_used: 5, budget: 5, percent: 100 },
  ]);
  workspace.clock.set("2026-12-01T00:00:00.000Z");
  await make(3);
  expect((await raised()).slice(3)).toEqual([{ period: "2026-12", credits_used: 3, budget: 5, percent: 50 }]);
});

test("only credits that were used count: no failed card, and none of a test key", async () => {
  await budget(1, [100]);
  await acceptLive(workspace, accountId);
  await (await render())({ kind: "refused", message: "No player.", reason: "no_player" });
  await acceptLive(workspace, accountId, { environment: "test" });
  await (await render("test"))();
  expect(await raised()).toEqual([]);
  await make(1);
  expect(await raised()).toHaveLength(1);
});

test("cards that are finished at the same moment raise each alert once, and none is missed", async () => {
  await budget(8, [25, 50, 75, 100]);
  const ends: Awaited<ReturnType<typeof render>>[] = [];
  for (let n = 0; n < 8; n++) await acceptLive(workspace, accountId);
  for (let n = 0; n < 8; n++) ends.push(await render());
  await Promise.all(ends.map((end) => end()));
  const alerts = (await raised()).toSorted((a, b) => a.percent - b.percent);
  expect(alerts.map(({ percent, credits_used }) => [percent, credits_used])).toEqual([
    [25, 2],
    [50, 4],
    [75, 6],
    [100, 8],
  ]);
});

test("owners get a mail for each alert, and nobody else does; endpoints get the event", async () => {
  for (const [email, role] of [
    ["ana@rovers.example", "owner"],
    ["bo@rovers.example", "owner"],
    ["dev@rovers.example", "developer"],
  ] as const)
    await addMember(workspace, { accountId, email, role, vouched: true });
  const config = { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:9"]) };
  const url = "http://127.0.0.1:9/";
  await createEndpoint(
    { ...workspace, config },
    { accountId, environment: "live", url, events: ["usage.alert"] },
  );
  await budget(2, [50, 100]);
  await make(3);
  const sent = (await mails()).filter(({ kind }) => kind === "usage_alert");
  expect(sent.map(({ recipient, subject }) => `${recipient}: ${subject}`).toSorted()).toEqual([
    "ana@rovers.example: Harbour Rovers has used 100 % of its budget",
    "ana@rovers.example: Harbour Rovers has used 50 % of its budget",
    "bo@rovers.example: Harbour Rovers has used 100 % of its budget",
    "bo@rovers.example: Harbour Rovers has used 50 % of its budget",
  ]);
  const half = sent.find(({ subject }) => subject.includes(" 50 "));
  const text = workspace.secrets.open(half?.body ?? "", half?.id ?? "");
  expect(text).toContain("has used 1 credit in 2026-11: 50 % of its budget of 2 a month");
  expect(text).toContain(`${workspace.config.baseUrl}/console/usage`);
  const { items } = await listDeliveries(workspace, { accountId });
  expect(items.map(({ eventType }) => eventType)).toEqual(["usage.alert", "usage.alert"]);
});

test("without a mail server nothing is written, and the event and the page say the same", async () => {
  workspace = { ...workspace, config: { ...workspace.config, mail: undefined } };
  await addMember(workspace, { accountId, email: "ana@rovers.example", vouched: true });
  await budget(2, [50, 100]);
  await make(1);
  expect(await mails()).toEqual([]);
  expect(await raised()).toHaveLength(1);
  expect(await state()).toMatchObject({
    used: 1,
    marks: [
      { percent: 50, due: 1, raisedAt: workspace.clock.now() },
      { percent: 100, due: 2, raisedAt: null },
    ],
  });
});

test("a changed budget raises what is reached from then on, and nothing a second time", async () => {
  await budget(4, [50]);
  await make(3);
  expect(await raised()).toHaveLength(1);
  // Three are used: half of four is behind, and was raised; half of ten is not.
  await budget(10, [20, 50]);
  await make(2);
  expect((await raised()).map(({ credits_used, budget: of }) => [credits_used, of])).toEqual([
    [2, 4],
    [5, 10],
  ]);
  await changeBudget(workspace, accountId, undefined, null);
  await make(5);
  expect(await raised()).toHaveLength(2);
  expect(await state()).toBeUndefined();
});

test("of alerts that fall on one credit only the highest is sent", async () => {
  await budget(1, [50, 80, 100]);
  await make(1);
  expect((await raised()).map(({ percent }) => percent)).toEqual([100]);
});

test("an account that has used its budget up needs attention; one that is below does not", async () => {
  await budget(3, [50]);
  await make(2);
  const found = () => troubles({ ...workspace, folder: workspace.folder });
  expect((await found()).over).toEqual([]);
  await make(2);
  const now = await found();
  expect(now.over).toMatchObject([{ account: { id: accountId }, used: 4 }]);
  expect(inWords(now)).toContain("Harbour Rovers has used 4 credits of a budget of 3.");
  workspace.clock.set("2026-12-01T00:00:00.000Z");
  expect((await found()).over).toEqual([]);
});

test("a budget that says nothing sensible is refused with what would", async () => {
  const whole = "The budget must be a whole number of credits from 1 to";
  for (const credits of [0, -5, 1.5, Number.NaN]) await expect(budget(credits, [50])).rejects.toThrow(whole);
  const percents = "Write 1 to 10 whole percentages from 1 to 1000, such as 50, 80, 100.";
  for (const alerts of [[], [0], [50.5], [1_001], [Number.NaN], Array.from({ length: 11 }, (_, n) => n + 1)])
    await expect(budget(10, alerts)).rejects.toThrow(percents);
  await expect(changeBudget(workspace, "acct_nobody", { credits: 1, alerts: [1] }, null)).rejects.toThrow(
    "There is no account acct_nobody.",
  );
});
