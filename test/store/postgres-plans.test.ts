import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { FILLED_AT, fillPostgres } from "../../scripts/bench/fill.ts";
import { QUESTIONS } from "../../scripts/bench/questions.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { enqueueAllMissing } from "../../src/jobs/jobs.ts";
import { openJobs } from "../../src/jobs/open-jobs.ts";
import { transactionOn } from "../../src/store/engine/postgres-connections.ts";
import type { Tx } from "../../src/store/store.ts";
import { silentLog } from "../harness.ts";
import { ENGINE, openTestPostgresStore, postgresUrl } from "../postgres.ts";

// The plans PostgreSQL makes with so many rows that reading a table whole is dearer than an index. They grow
// with partners' images; accounts, endpoints and days are read whole by operators' pages, and are few.
const LARGE =
  /Seq Scan on (images|image_metadata|ledger_entries|idempotency_records|webhook_events|webhook_deliveries|delivery_attempts)\b/;
const IMAGES = 20_000;

describe.skipIf(ENGINE !== "postgres")("on Postgres no large table is read whole for:", () => {
  const name = `plans ${crypto.randomUUID()}`;
  let client: SQL;
  beforeAll(async () => {
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

  test("an audit of what has come since the seals, its queue's jobs among it", async () => {
    const store = await openTestPostgresStore(name);
    try {
      const jobs = await openJobs(store, silentLog);
      await enqueueAllMissing((after) => store.write("adopt", (tx) => jobs.enqueueMissing(tx, after)));
      await jobs.close();
      await audit(store, FILLED_AT, { write: store.write });
    } finally {
      await store.close();
    }
    await client.unsafe("ANALYZE");
    const plans = await plansOf(async (tx) => {
      const report = await audit({ read: tx }, FILLED_AT, { sinceSealed: true });
      expect(report).toMatchObject({ ok: true, full: false });
    });
    expect(plans).toMatch(/ on job/);
    expect(plans).not.toMatch(LARGE);
  });

  test.each(["console, deliveries", "console, deliveries of both environments"])(
    "a page of %s reads no more than the page along their index, and sorts nothing",
    async (question) => {
      const plan = await plansOf((tx) =>
        (QUESTIONS[question] as (tx: Tx, n: number) => Promise<unknown>)(tx, IMAGES),
      );
      expect(plan).toMatch(/Limit .*\n(.*\n)*?\s*->\s+Index Scan Backward using webhook_deliveries_account/);
      expect(plan).not.toMatch(/->\s+(Incremental )?Sort|^Sort/m);
    },
  );

  test("a page of those in the making sorts no more than the page has of each state", async () => {
    const plan = await plansOf((tx) =>
      (QUESTIONS["list, processing"] as (tx: Tx, n: number) => Promise<unknown>)(tx, IMAGES),
    );
    expect(plan.match(/Limit .*\n\s+->\s+Index (Only )?Scan Backward using images_list_state/g)).toHaveLength(
      3,
    );
  });
});
