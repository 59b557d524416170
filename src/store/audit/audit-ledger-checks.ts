import { and, eq, notExists, type SQL, sql } from "drizzle-orm";
import { LEDGER_EFFECTS } from "../../core/credits.ts";
import type { Tx } from "../store.ts";
import type { AuditCheck, AuditRun, Breach, LedgerGroup } from "./audit-rule.ts";

/**
 * A few rows per account and month, read in one statement with the accounts, so that balances and entries are
 * of one moment.
 */
function groupsOf(tx: Tx, run: AuditRun): Promise<LedgerGroup[]> {
  run.groups ??= loadGroups(tx);
  return run.groups;
}

async function loadGroups({ db, t }: Tx): Promise<LedgerGroup[]> {
  const { ledgerEntries: e, accounts: a } = t;
  // The expression keeps the index out: scanning and sorting the table is quicker than an index lookup per
  // row.
  const owner = sql<string>`coalesce(${e.accountId}, '')`;
  const number = (query: SQL, name: string) => sql<number>`${query}`.mapWith(Number).as(name);
  const sums = db
    .select({
      accountId: owner.as("owner"),
      bucket: e.bucket,
      period: e.period,
      kind: sql<string>`${e.kind}`.as("kind"),
      entries: number(sql`count(*)`, "entries"),
      amount: number(sql`sum(${e.amount})`, "amount"),
      least: number(sql`min(${e.amount})`, "least"),
      most: number(sql`max(${e.amount})`, "most"),
      withImage: number(sql`count(${e.imageId})`, "with_image"),
    })
    .from(e)
    .groupBy(owner, e.bucket, e.period, e.kind)
    .as("sums");
  return db
    .select({
      accountId: sums.accountId,
      bucket: sums.bucket,
      period: sums.period,
      kind: sums.kind,
      entries: sums.entries,
      amount: sums.amount,
      least: sums.least,
      most: sums.most,
      withImage: sums.withImage,
      planPeriod: a.planPeriod,
      plan: a.creditsPlan,
      topup: a.creditsTopup,
      held: a.creditsHeld,
    })
    .from(sums)
    .leftJoin(a, eq(a.id, sql`${sums.accountId}`));
}

/**
 * The balance that entries add up to. The late expiry of a released credit comes out right: released, then
 * expired.
 */
function sum(groups: LedgerGroup[], of: "available" | "held"): number {
  // An unknown kind counts as nothing here; another check reports it.
  const effects: Record<string, (typeof LEDGER_EFFECTS)["grant"] | undefined> = LEDGER_EFFECTS;
  return groups.reduce((total, { kind, amount }) => total + (effects[kind]?.[of] ?? 0) * amount, 0);
}

const balances: AuditCheck = {
  name: "balances",
  rule: "every balance of an account is the sum of its ledger entries, and none is below zero",
  find: async (tx, run) => {
    const { db, t } = tx;
    const { accounts: a, ledgerEntries: e } = t;
    const breaches: Breach[] = [];
    for (const [id, groups] of Map.groupBy(await groupsOf(tx, run), ({ accountId }) => accountId)) {
      const [first] = groups;
      if (!first || first.plan === null) continue;
      const kept = [first.plan, first.topup, first.held];
      const inBucket = (bucket: string) =>
        sum(
          groups.filter((group) => group.bucket === bucket),
          "available",
        );
      const right = [inBucket("plan"), inBucket("topup"), sum(groups, "held")];
      if (String(kept) !== String(right) || right.some((balance) => balance < 0))
        breaches.push({
          id,
          detail: `kept plan/topup/held ${kept.join("/")}, entries say ${right.join("/")}`,
        });
    }
    const none = db.select({ id: e.id }).from(e).where(eq(e.accountId, a.id));
    const unfounded = await db
      .select({ id: a.id, detail: sql<string>`'has credits and no entries'` })
      .from(a)
      .where(and(sql`(${a.creditsPlan}, ${a.creditsTopup}, ${a.creditsHeld}) <> (0, 0, 0)`, notExists(none)))
      .limit(run.limit);
    return [...breaches, ...unfounded].slice(0, run.limit);
  },
};

const months: AuditCheck = {
  name: "months",
  rule: "the plan credits of a month that is over are all used, held or expired; none belong to a month to come",
  find: async (tx, run) => {
    const ofPlans = (await groupsOf(tx, run)).filter(
      ({ bucket, plan }) => bucket === "plan" && plan !== null,
    );
    const breaches: Breach[] = [];
    for (const groups of Map.groupBy(ofPlans, (b) => `${b.accountId} ${b.period}`).values()) {
      const [first] = groups;
      if (!first) continue;
      const { accountId: id, period, planPeriod, plan } = first;
      const left = sum(groups, "available");
      const expected = period === planPeriod ? (plan ?? 0) : 0;
      if (left !== expected || period > (planPeriod ?? ""))
        breaches.push({ id, detail: `${period} has ${left} credits left, should have ${expected}` });
    }
    return breaches.slice(0, run.limit);
  },
};

/** Whether all entries of a group can have the shape of their kind. */
function isSound({ kind, bucket, period, entries, least, most, withImage }: LedgerGroup): boolean {
  if (least <= 0 || !["plan", "topup"].includes(bucket) || !/^\d{4}-\d\d$/.test(period)) return false;
  if (kind === "grant") return withImage === 0;
  if (kind === "expire") return bucket === "plan";
  return ["reserve", "settle", "release"].includes(kind) && withImage === entries && most === 1;
}

const entries: AuditCheck = {
  name: "entries",
  rule: "every entry has a known kind and bucket, a positive amount, an account, and an image that exists when it pays for one; a month is granted and expires once",
  find: async (tx, run) => {
    const { t } = tx;
    const { limit } = run;
    const e = t.ledgerEntries;
    const groups = await groupsOf(tx, run);
    const misshapen = await Promise.all(
      groups
        .filter((group) => !isSound(group))
        .slice(0, limit)
        .map(({ accountId, bucket, period, kind }) =>
          entriesWhere(
            tx,
            and(
              eq(e.accountId, accountId),
              sql`(${e.bucket}, ${e.period}, ${e.kind}) = (${bucket}, ${period}, ${kind})`,
              sql`not (${shapeOf(t)})`,
            ),
            limit,
          ),
        ),
    );
    const gone = groups
      .filter(({ plan }) => plan === null)
      .map(({ accountId: id }) => ({ id, detail: "has entries and is gone" }));
    const repeated = groups
      .filter(
        ({ kind, bucket, entries, withImage }) =>
          bucket === "plan" && (kind === "grant" || kind === "expire") && entries - withImage > 1,
      )
      .map(({ accountId: id, kind, period, entries, withImage }) => ({
        id,
        detail: `${entries - withImage} times ${kind} of ${period}`,
      }));
    const lost = (await mayHaveLostImages(tx)) ? await entriesWhere(tx, hasNoImage(t), limit) : [];
    return [...misshapen.flat(), ...lost, ...gone, ...repeated].slice(0, limit);
  },
};

function shapeOf({ ledgerEntries: e }: Tx["t"]): SQL {
  return sql`${e.amount} > 0 and ${e.bucket} in ('plan', 'topup') and ${e.period} like '____-__' and case ${e.kind}
    when 'grant' then ${e.imageId} is null
    when 'expire' then ${e.bucket} = 'plan'
    else ${e.kind} in ('reserve', 'settle', 'release') and ${e.imageId} is not null and ${e.amount} = 1 end`;
}

function entriesWhere({ db, t }: Tx, condition: SQL | undefined, limit: number): Promise<Breach[]> {
  const e = t.ledgerEntries;
  const detail = sql<string>`${e.kind} || ' of ' || ${e.amount} || ' for ' || coalesce(${e.imageId}, 'no image')`;
  return db.select({ id: e.id, detail }).from(e).where(condition).limit(limit);
}

function hasNoImage({ ledgerEntries: e, images: i }: Tx["t"]): SQL {
  return sql`${e.imageId} is not null and not exists (select 1 from ${i} where ${i.id} = ${e.imageId})`;
}

/**
 * Whether looking up the image of each entry is worthwhile. `payments` finds every image without its entries,
 * so with equally many entries and images none can be left over; counting is ten times faster than looking
 * each one up.
 */
async function mayHaveLostImages(tx: Tx): Promise<boolean> {
  const { db, t } = tx;
  const { ledgerEntries: e, images: i } = t;
  const counted = sql`(select
    (select count(*) from ${e} where ${e.kind} = 'reserve') as reserved, (select count(*) from ${e} where ${e.kind} in ('settle', 'release')) as ended,
    (select count(*) from ${i} where ${i.environment} = 'live') as images, (select count(*) from ${i} where ${i.environment} = 'live' and ${i.state} in ('completed', 'failed')) as finished) as counted`;
  const odd = await db
    .select({ odd: sql`1` })
    .from(counted)
    .where(sql`counted.reserved <> counted.images or counted.ended <> counted.finished`);
  const lateExpiry = sql`${e.kind} = 'expire' and ${hasNoImage(t)}`;
  return odd.length > 0 || (await entriesWhere(tx, lateExpiry, 1)).length > 0;
}

export const LEDGER_CHECKS: readonly AuditCheck[] = [balances, months, entries];
