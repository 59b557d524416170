import { type SQL, sql } from "drizzle-orm";
import type { AccountBooks, ImageGroup } from "../../core/books.ts";
import type { Tx } from "../store.ts";
import { soundState } from "./audit-states.ts";

/** Images that ended after one time and not after another, in epoch milliseconds. */
export interface Span {
  after: number;
  until: number;
}

/**
 * The images of a span by account, end and entries: a few rows for each account. One pass along the index of
 * their ends.
 */
export async function imageGroups(tx: Tx, { after, until }: Span): Promise<ImageGroup[]> {
  const { completedAt } = tx.t.images;
  const inSpan = sql`${completedAt} > ${after} and ${completedAt} <= ${until}`;
  return tx.db
    .select({
      accountId: sql<string>`account_id`,
      environment: sql<string>`environment`,
      state: sql<string>`state`,
      isSound: sql`is_sound`.mapWith(Number),
      reserve: sql<string | null>`reserve`,
      resolution: sql<string | null>`resolution`,
      expiry: sql<string | null>`expiry`,
      images: sql`images`.mapWith(Number),
    })
    .from(sql`(${groupsWhere(tx, inSpan)}) as found`);
}

/**
 * As subqueries and not as joins: each entry is looked up by its image, whatever an engine may think of
 * reading the whole ledger instead.
 */
function groupsWhere({ t }: Tx, condition: SQL): SQL {
  const { images: i, ledgerEntries: e } = t;
  const credit = sql`${e.accountId} || ' ' || ${e.bucket} || ' ' || ${e.period} || ' ' || ${e.amount}`;
  const entry = (of: SQL, kinds: SQL) =>
    sql`(select case when count(*) <= 1 then max(${of}) else 'several' end from ${e} where ${e.imageId} = ${i.id} and ${kinds})`;
  // The conditions of the ledger's partial indexes.
  const late = sql`${e.kind} = 'expire' and ${e.imageId} is not null`;
  // Apart from the grouping: PostgreSQL would sort whole rows, requests and all, by what it then looks up.
  return sql`with looked_up as materialized (select ${i.accountId} as account_id, ${i.environment} as environment, ${i.state} as state,
      case when ${soundState(t)} then 1 else 0 end as is_sound,
      ${entry(credit, sql`${e.kind} = 'reserve'`)} as reserve,
      ${entry(sql`${e.kind} || ' ' || ${credit}`, sql`${e.kind} in ('settle', 'release')`)} as resolution,
      ${entry(credit, late)} as expiry from ${i} where ${condition})
    select account_id, environment, state, is_sound, reserve, resolution, expiry, count(*) as images
    from looked_up group by account_id, environment, state, is_sound, reserve, resolution, expiry`;
}

/**
 * What the books say at one moment: of the images that ended after a time or not at all, and of the accounts.
 */
export interface OpenBooks extends AccountBooks {
  groups: ImageGroup[];
}

/** A row of the one statement that reads the books: what it is of, up to six texts and four numbers. */
interface BookRow {
  part: string;
  texts: (string | null)[];
  numbers: number[];
}

const TEXTS = 6;
const NUMBERS = 4;

/**
 * Reads them in one statement, so that all is of one moment. `countLedger`: count every entry of the ledger
 * too, which takes seconds where there are millions.
 */
export async function openBooks(
  tx: Tx,
  { after, countLedger }: { after: number; countLedger: boolean },
): Promise<OpenBooks> {
  const { images: i, ledgerEntries: e, accounts: a, usageDays: u } = tx.t;
  const own = { credits: [a.creditsPlan, a.creditsTopup, a.creditsHeld], id: [a.id, a.planPeriod] };
  const counters = [u.requested, u.completed, u.failed, u.creditsUsed].map((count) => sql`sum(${count})`);
  const rows = await readParts(tx, [
    groupPart(tx, sql`${i.completedAt} > ${after}`),
    groupPart(tx, sql`${i.completedAt} is null`),
    entryPart(tx, "grant", sql`${e.kind} = 'grant'`),
    entryPart(tx, "expire", sql`${e.kind} = 'expire' and ${e.imageId} is null`),
    part("account", own.id.map(asSql), own.credits.map(asSql), sql`${a}`),
    part(
      "usage",
      [u.accountId, u.environment].map(asSql),
      counters,
      sql`${u} group by ${u.accountId}, ${u.environment}`,
    ),
    ...(countLedger ? [part("ledger", [], [sql`count(*)`], sql`${e}`)] : []),
  ]);
  return fromRows(rows);
}

const asSql = (column: unknown): SQL => sql`${column}`;

function groupPart(tx: Tx, condition: SQL): SQL {
  const texts = ["account_id", "environment", "state", "reserve", "resolution", "expiry"];
  const numbers = [sql`is_sound`, sql`images`];
  return part(
    "images",
    texts.map((name) => sql.raw(name)),
    numbers,
    sql`(${groupsWhere(tx, condition)}) as groups_of_images`,
  );
}

function entryPart({ t }: Tx, kind: "grant" | "expire", condition: SQL): SQL {
  const e = t.ledgerEntries;
  const owner = [e.accountId, e.bucket, e.period].map(asSql);
  const numbers = [sql`count(*)`, sql`sum(${e.amount})`, sql`min(${e.amount})`];
  return part(kind, owner, numbers, sql`${e} where ${condition} group by ${sql.join(owner, sql`, `)}`);
}

/** A select with the columns of all parts. */
function part(name: string, texts: SQL[], numbers: SQL[], from: SQL): SQL {
  const column = (type: "text" | "bigint", values: SQL[], count: number) =>
    Array.from(
      { length: count },
      (_, n) => sql`cast(${values[n] ?? sql`null`} as ${sql.raw(type)}) as ${sql.raw(`${type}${n}`)}`,
    );
  const columns = [...column("text", texts, TEXTS), ...column("bigint", numbers, NUMBERS)];
  return sql`select ${sql.raw(`'${name}'`)} as part, ${sql.join(columns, sql`, `)} from ${from}`;
}

async function readParts({ db }: Tx, parts: SQL[]): Promise<BookRow[]> {
  const named = (type: string, count: number) => Array.from({ length: count }, (_, n) => `${type}${n}`);
  const names = [...named("text", TEXTS), ...named("bigint", NUMBERS)];
  const fields = Object.fromEntries(
    names.map((name) => [name, sql<string | number | null>`${sql.raw(name)}`]),
  );
  const rows = await db
    .select({ part: sql<string>`part`, ...fields })
    .from(sql`(${sql.join(parts, sql` union all `)}) as books`);
  return rows.map((row: Record<string, unknown>) => ({
    part: String(row.part),
    texts: named("text", TEXTS).map((name) => row[name] as string | null),
    numbers: named("bigint", NUMBERS).map((name) => Number(row[name] ?? 0)),
  }));
}

function fromRows(rows: BookRow[]): OpenBooks {
  const books: OpenBooks = { groups: [], accounts: [], entries: [], usage: [], ledgerEntries: null };
  for (const { part, texts, numbers } of rows) {
    const [accountId, second, third] = texts.map((text) => text ?? "") as [string, string, string];
    const [n0, n1, n2, n3] = numbers as [number, number, number, number];
    const [reserve = null, resolution = null, expiry = null] = texts.slice(3);
    if (part === "images")
      books.groups.push({
        accountId,
        environment: second,
        state: third,
        reserve,
        resolution,
        expiry,
        isSound: n0,
        images: n1,
      });
    else if (part === "account")
      books.accounts.push({ id: accountId, planPeriod: second, plan: n0, topup: n1, held: n2 });
    else if (part === "usage")
      books.usage.push({
        accountId,
        environment: second,
        requested: n0,
        completed: n1,
        failed: n2,
        creditsUsed: n3,
      });
    else if (part === "ledger") books.ledgerEntries = n0;
    else
      books.entries.push({
        accountId,
        kind: part as "grant" | "expire",
        bucket: second,
        period: third,
        entries: n0,
        amount: n1,
        least: n2,
      });
  }
  return books;
}
