import type { SQL } from "bun";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sweepFiles } from "../../src/app/operations/sweep.ts";
import {
  createAccount,
  createKey,
  resumeAccount,
  revokeKey,
  suspendAccount,
} from "../../src/app/people/manage-account.ts";
import { LEASE_MS, MAX_RENDERS, RATE_LIMIT_PER_MINUTE, RATE_WINDOW_MS } from "../../src/core/limits.ts";
import { MAX_DELIVERIES_PER_ENDPOINT } from "../../src/core/outbound-limits.ts";
import { sha256 } from "../../src/core/sha256.ts";
import { MINUTE_MS, monthOf } from "../../src/core/time.ts";
import type { Workspace } from "../../src/service/workspace.ts";
import type { Client } from "./client.ts";
import type { Figures } from "./figures.ts";
import { create, type Load, type LoadOptions, type Partner, type Picture } from "./load.ts";
import type { Node } from "./node.ts";
import type { Receiver } from "./receiver.ts";

/** What the checks look at, past every proxy. */
export interface Books {
  workspace: Workspace;
  admin: SQL;
  figures: Figures;
  client: Client;
  nodes: readonly Node[];
}

/**
 * No state of the service may stay as it is for longer once nothing is wrong any more: a busy machine is
 * slow, not stuck.
 */
const STUCK_MS = LEASE_MS + MINUTE_MS;
const POLL_MS = 250;

const oneNumber = async (admin: SQL, query: string): Promise<number> =>
  Number((await admin.unsafe(query))[0]?.n);

/** What is left to do: how much, and what shows that somebody is at it. */
export interface Unfinished {
  count: number;
  /** Changes whenever some of it is taken, taken again, or waits anew. */
  pulse: string;
}

/**
 * Resolves to true once nothing is unfinished, to false when that is stuck: for `stuckMs` there was neither
 * less of it than ever before nor anybody at it. `now`: monotonic milliseconds; `pause` is called between two
 * looks.
 */
export async function untilDrained(
  look: () => Promise<Unfinished>,
  {
    stuckMs = STUCK_MS,
    now = () => performance.now(),
    pause = () => Bun.sleep(POLL_MS),
  }: { stuckMs?: number; now?: () => number; pause?: () => Promise<unknown> } = {},
): Promise<boolean> {
  let movedAt = now();
  let least = Number.POSITIVE_INFINITY;
  let lastPulse = "";
  for (;;) {
    const { count, pulse } = await look();
    if (count === 0) return true;
    if (count < least || pulse !== lastPulse) movedAt = now();
    else if (now() - movedAt > stuckMs) return false;
    least = Math.min(least, count);
    lastPulse = pulse;
    await pause();
  }
}

const UNFINISHED_CARDS = `SELECT count(*) AS n, md5(string_agg(concat_ws(' ', id, state, renders, lease_token), ',' ORDER BY id)) AS pulse
  FROM images WHERE state NOT IN ('completed', 'failed')`;
const UNSENT = `SELECT count(*) AS n, md5(string_agg(concat_ws(' ', event_id, endpoint_id, state, attempts, lease_token), ',' ORDER BY event_id, endpoint_id)) AS pulse
  FROM webhook_deliveries WHERE state IN ('pending', 'sending')`;

/**
 * Waits until nothing is unfinished. Deliveries that failed twice wait for minutes: they are asked for at
 * once.
 */
export async function checkDrain({ admin, figures }: Books): Promise<void> {
  const unfinished = (query: string) => async (): Promise<Unfinished> => {
    const [row] = await admin.unsafe(query);
    return { count: Number(row?.n), pulse: String(row?.pulse) };
  };
  const startedAt = performance.now();
  await untilDrained(unfinished(UNFINISHED_CARDS));
  const tookMs = Math.round(performance.now() - startedAt);
  const [{ state } = { state: "" }] = await admin.unsafe(
    "SELECT string_agg(id || ' ' || state, ', ') || ' of ' || max(waiting) AS state FROM (SELECT id, state, count(*) OVER () AS waiting FROM images WHERE state NOT IN ('completed', 'failed') LIMIT 5)",
  );
  figures.check("drain", state === null, () => `after ${tookMs} ms these were stuck: ${state}`);
  let hurried = 0;
  const hurry = async () => {
    const later = await admin.unsafe(
      "UPDATE webhook_deliveries SET next_attempt_at = 0 WHERE state = 'pending' AND step > 1 AND next_attempt_at > 0 RETURNING id",
    );
    hurried += later.length;
    await Bun.sleep(POLL_MS);
  };
  await hurry();
  await untilDrained(unfinished(UNSENT), { pause: hurry });
  figures.notes.drain = `took ${(tookMs / 1000).toFixed(1)} s`;
  figures.notes.webhooks = `${hurried} retries after minutes were made at once`;
}

/**
 * Sends every create again: what was accepted has its answer, what was refused is so still or was accepted
 * after all.
 */
export async function checkPromises(
  options: LoadOptions,
  load: Load,
  { admin, figures }: Books,
): Promise<void> {
  for (const card of load.promised) {
    for (let tried = 0; tried < 20; tried++) {
      const known = card.imageId;
      await create(options, card);
      if ((known && card.imageId) || card.refused || card.imageId) break;
      await Bun.sleep(POLL_MS);
    }
  }
  const rows: { id: string; state: string }[] = await admin.unsafe("SELECT id, state FROM images");
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  const ids = [...load.promised.flatMap(({ imageId }) => imageId ?? []), ...load.batched];
  for (const id of ids) {
    const state = states.get(id);
    figures.check(
      "ends",
      state === "completed" || state === "failed",
      () => `${id} was promised and is ${state ?? "gone"}`,
    );
  }
  const keyed = await oneNumber(admin, "SELECT count(DISTINCT image_id) AS n FROM idempotency_records");
  figures.check("keys", keyed === rows.length, () => `${rows.length} images belong to ${keyed} keys`);
  const stranger = rows.find(({ id }) => !ids.includes(id));
  // A batch whose partner was refused in the end may have been accepted before; single creates were asked
  // again.
  figures.check(
    "keys",
    rows.length === ids.length,
    () => `${ids.length} cards were promised, ${rows.length} are there: ${stranger?.id}`,
  );
  const failed = rows.filter(({ state }) => state === "failed").length;
  figures.notes.ends = `${ids.length} cards, ${failed} failed`;
}

/** Ledger, one charge per image, and the partner at its limit. */
export async function checkLedger(
  { workspace, admin, figures }: Books,
  partners: readonly Partner[],
): Promise<void> {
  const report = await audit(workspace.store, Date.now(), { blobs: workspace.blobs });
  for (const { check, rule, ok, broken } of report.findings)
    figures.check("ledger", ok, () => `audit ${check} (${rule}): ${JSON.stringify(broken.slice(0, 5))}`);
  const charged = await oneNumber(admin, "SELECT count(*) AS n FROM ledger_entries WHERE kind = 'settle'");
  const completed = await oneNumber(
    admin,
    "SELECT count(*) AS n FROM images WHERE state = 'completed' AND environment = 'live'",
  );
  figures.check(
    "ledger",
    charged === completed,
    () => `${charged} credits were charged for ${completed} cards`,
  );
  for (const { accountId, name, limit } of partners) {
    const [row] = await admin.unsafe(
      "SELECT credits_plan + credits_topup AS left, credits_held AS held FROM accounts WHERE id = $1",
      [accountId],
    );
    const isWell = Number(row.held) === 0 && Number(row.left) >= 0;
    figures.check("ledger", isWell, () => `${name} has ${row.left} credits and ${row.held} held`);
    if (limit !== undefined)
      figures.notes.ledger = `${charged} cards charged; ${name} used ${limit - Number(row.left)} of its ${limit}`;
  }
}

/**
 * Each picture, fronts and backs, as its row and its receipt say, and as it was served while storage failed;
 * nothing else is stored once the sweep has looked.
 */
export async function checkPictures(
  { workspace, admin, figures, client }: Books,
  fetched: readonly Picture[],
): Promise<void> {
  const served = new Map(fetched.map((picture) => [picture.name, picture]));
  const sides = { output: "sha256", back_output: "backSha256" };
  const ofSides = Object.entries(sides).map(
    ([column, hash]) => `SELECT ${column}_name AS name, ${column}_bytes AS bytes, receipt, '${hash}' AS hash
     FROM images LEFT JOIN image_receipts ON image_id = id WHERE state = 'completed' AND ${column}_name IS NOT NULL`,
  );
  const rows: { name: string; bytes: string; receipt: string | null; hash: string }[] = await admin.unsafe(
    ofSides.join(" UNION ALL "),
  );
  for (const { name, bytes, receipt, hash: promise } of rows) {
    const picture = await workspace.blobs.open("picture", name);
    const found = await picture?.bytes();
    const hash = found && sha256(found);
    const promised = receipt ? JSON.parse(receipt)[promise] : hash;
    figures.check(
      "pictures",
      found?.length === Number(bytes) && hash === promised,
      () => `${name} has ${found?.length} of ${bytes} bytes, ${hash} for ${promised}`,
    );
    const was = served.get(name);
    figures.check(
      "pictures",
      was === undefined || was.sha256 === hash,
      () => `${name} was served as ${was?.sha256}, not ${hash}, with ${was?.headers}`,
    );
  }
  const last = rows.at(-1);
  if (last) {
    const answer = await client(`/cdn/${last.name}`, {});
    figures.check(
      "pictures",
      answer?.status === 200,
      () => `/cdn/${last.name} was answered ${answer?.status}`,
    );
  }
  const orphans = await sweepFiles(workspace, { startedAt: Date.now() });
  const known = new Set(rows.map(({ name }) => name));
  for await (const name of workspace.blobs.list("picture", Date.now() + STUCK_MS))
    figures.check("pictures", known.has(name), () => `${name} belongs to no image`);
  figures.notes.pictures = `${rows.length} pictures, ${served.size} fetched during faults, ${orphans} orphans swept`;
}

export async function checkRenders({ admin, figures, nodes }: Books): Promise<void> {
  const most = await oneNumber(admin, "SELECT coalesce(max(renders), 0) AS n FROM images");
  const stale = nodes.reduce((sum, node) => sum + node.logged("image_rendered", ["end", "lease_lost"]), 0);
  figures.check("renders", most <= MAX_RENDERS, () => `an image was rendered ${most} times`);
  if (figures.faults["a node frozen past its claim"])
    figures.check("renders", stale > 0, () => "no stale claim was refused");
  const again = await oneNumber(admin, "SELECT count(*) AS n FROM images WHERE renders > 1");
  figures.notes.renders = `at most ${most}, ${again} images more than once, ${stale} stale claims refused`;
}

export async function checkWebhooks({ admin, figures }: Books, receiver: Receiver): Promise<void> {
  const rows: { event: string; path: string; state: string }[] = await admin.unsafe(
    `SELECT e.id AS event, regexp_replace(p.url, '^http://[^/]+', '') AS path, coalesce(d.state, 'none') AS state
     FROM webhook_events e JOIN webhook_endpoints p ON p.account_id = e.account_id AND p.environment = e.environment
     LEFT JOIN webhook_deliveries d ON d.event_id = e.id AND d.endpoint_id = p.id`,
  );
  for (const { event, path, state } of rows)
    figures.check(
      "webhooks",
      receiver.delivered.get(path)?.has(event) ?? false,
      () => `${event} did not arrive at ${path}, its delivery is ${state}`,
    );
  const { attempts, failed, repeats, badSignatures, mostAtOnce } = receiver.figures;
  figures.check("webhooks", badSignatures === 0, () => `${badSignatures} signatures were wrong`);
  figures.check(
    "webhooks",
    mostAtOnce <= MAX_DELIVERIES_PER_ENDPOINT,
    () => `${mostAtOnce} came at once to one endpoint`,
  );
  figures.notes.webhooks = `${attempts} attempts, ${failed} answered 500, ${repeats} came twice, at most ${mostAtOnce} at once; ${figures.notes.webhooks}`;
}

/** More calls than a minute allows, spread over all nodes. */
export async function checkRates({ workspace, figures, client, nodes }: Books): Promise<void> {
  const account = await createAccount(workspace, { name: "Hurried", tier: "starter", credits: 0 });
  const { key } = await createKey(workspace, {
    accountId: account.id,
    environment: "live",
    name: "rates",
    by: null,
  });
  const limit = RATE_LIMIT_PER_MINUTE.starter;
  // All of them within one window.
  const leftMs = RATE_WINDOW_MS - (Date.now() % RATE_WINDOW_MS);
  if (leftMs < 20_000) await Bun.sleep(leftMs + 100);
  let allowed = 0;
  for (let sent = 0; sent < limit + 30; sent += 10) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        client("/v1/usage?period=current_month", { key, ...toNode(nodes, n) }),
      ),
    );
    allowed += answers.filter((answer) => answer?.status === 200).length;
  }
  figures.check("rates", Math.abs(allowed - limit) <= 1, () => `${allowed} of ${limit} calls were allowed`);
  figures.notes.rates = `${allowed} of ${limit + 30} calls allowed, the tier has ${limit}`;
}

const toNode = (nodes: readonly Node[], n: number) => {
  const to = nodes[n % nodes.length];
  return to ? { to } : {};
};

/** Revokes a key and suspends an account, and asks every node at once. What a fault prevents is left out. */
export async function checkRefusals(
  { workspace, client, nodes, figures }: Books,
  partner: Partner,
): Promise<void> {
  const askAll = (key: string) => Promise.all(nodes.map((to) => client("/v1/images?limit=1", { key, to })));
  const expectOf = (answers: Awaited<ReturnType<typeof askAll>>, status: number, what: string) => {
    for (const answer of answers)
      if (answer && answer.status !== 503 && answer.status !== 429)
        figures.check("refusals", answer.status === status, () => `${what} was answered ${answer.status}`);
  };
  // A fault may have kept the turn before from it.
  await resumeAccount(workspace, partner.accountId);
  const { record, key } = await createKey(workspace, {
    accountId: partner.accountId,
    environment: "live",
    name: "short",
    by: null,
  });
  expectOf(await askAll(key), 200, "a new key");
  await revokeKey(workspace, record.id);
  expectOf(await askAll(key), 401, "a revoked key");
  await suspendAccount(workspace, partner.accountId, "a check");
  expectOf(await askAll(partner.keys.live), 403, "a suspended account");
  await resumeAccount(workspace, partner.accountId);
  expectOf(await askAll(partner.keys.live), 200, "a resumed account");
}

/** Accounts made last month are granted this month's credits by whichever sweep comes first, once. */
export async function checkGrants({ admin, figures }: Books, accountIds: readonly string[]): Promise<void> {
  for (const id of accountIds) {
    const [row] = await admin.unsafe(
      "SELECT count(*) FILTER (WHERE kind = 'grant' AND period = $2) AS granted, count(*) FILTER (WHERE kind = 'expire') AS expired FROM ledger_entries WHERE account_id = $1",
      [id, monthOf(Date.now())],
    );
    figures.check(
      "once",
      Number(row.granted) === 1 && Number(row.expired) === 1,
      () => `${id} was granted ${row.granted} times, and its old credits expired ${row.expired} times`,
    );
  }
}
