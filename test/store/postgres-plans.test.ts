import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { fillPostgres } from "../../scripts/bench/fill.ts";
import { QUESTIONS } from "../../scripts/bench/questions.ts";
import { transactionOn } from "../../src/store/postgres-connections.ts";
import type { Tx } from "../../src/store/store.ts";
import { ENGINE, openTestPostgresStore, postgresUrl } from "../postgres.ts";

// The plans PostgreSQL makes with so many rows that reading a table whole is dearer than an index. They grow with
// partners' images; accounts, endpoints and days are read whole by operators' pages, and are few.
const LARGE =
  /Seq Scan on (images|ledger_entries|idempotency_records|webhook_events|webhook_deliveries|delivery_attempts)\b/;
const IMAGES = 20_000;

describe.skipIf(ENGINE !== "postgres")("on Postgres no large table is read whole for:", () => {
  let client: SQL;
  beforeAll(async () => {
    const name = `plans ${crypto.randomUUID()}`;
    await (await openTestPostgresStore(name)).close();
    await fillPostgres(postgresUrl(name), {
      images: IMAGES,
      perAccount: 1_000,
      hasGiant: true,
      queued: 2_000,
    });
    client = new SQL(postgresUrl(name), { max: 1 });
  });
  afterAll(() => client.close());

  /** The plans of what `work` asks, a step a line. */
  async function plansOf(work: (tx: Tx) => Promise<unknown>): Promise<string> {
    const steps: string[] = [];
    const query = async (text: string, parameters: unknown[], asRows: boolean) => {
      const plan: { "QUERY PLAN": string }[] = await client.unsafe(`EXPLAIN ${text}`, parameters);
      steps.push(...plan.map((step) => step["QUERY PLAN"]));
      const asked = client.unsafe(text, parameters);
      return asRows ? asked.values() : asked;
    };
    await work(transactionOn(query));
    return steps.join("\n");
  }

  test.each(Object.entries(QUESTIONS))("%s", async (_, ask) => {
    expect(await plansOf((tx) => ask(tx, IMAGES))).not.toMatch(LARGE);
  });

  test("a page of those in the making sorts no more than the page has of each state", async () => {
    const plan = await plansOf((tx) =>
      (QUESTIONS["list, processing"] as (tx: Tx, n: number) => Promise<unknown>)(tx, IMAGES),
    );
    expect(plan.match(/Limit .*\n\s+->\s+Index (Only )?Scan Backward using images_list_state/g)).toHaveLength(
      3,
    );
  });
});
