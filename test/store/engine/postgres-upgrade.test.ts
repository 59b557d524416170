import { expect, test } from "bun:test";
import { SQL } from "bun";
import { migrations } from "../../../db/migrations/postgres/index.ts";
import { ENGINE, TEMPLATE } from "../../postgres.ts";

const BREAKPOINT = "--> statement-breakpoint";

test.skipIf(ENGINE !== "postgres")(
  "of an older version's images those that are not deleted are listed by their metadata",
  async () => {
    const server = process.env.CARDPRESS_TEST_POSTGRES ?? "";
    const name = `${TEMPLATE}_before_lists`;
    const admin = new SQL(`${server}/postgres`, { max: 1 });
    await admin.unsafe(`DROP DATABASE IF EXISTS ${name}`);
    await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE template0`);
    const db = new SQL(`${server}/${name}`, { max: 1 });
    try {
      const at = migrations.findIndex(({ name }) => name === "0013_image_lists");
      const apply = async (some: typeof migrations) => {
        for (const { sql } of some) for (const statement of sql.split(BREAKPOINT)) await db.unsafe(statement);
      };
      await apply(migrations.slice(0, at));
      await db.unsafe(`INSERT INTO accounts
        (id, name, tier, status, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at)
        VALUES ('acct_1', 'Club', 'starter', 'active', 0, '2026-11', 0, 0, 0, 0, 0)`);
      const insert = (id: string, request: object, forgottenAt: number | null) =>
        db.unsafe(
          `INSERT INTO images
            (id, account_id, environment, state, type, external_id, request, turn, available_at, renders, created_at, updated_at, forgotten_at)
            VALUES ($1, 'acct_1', 'live', 'queued', 'player_card', '', $2, 0, 0, 0, 7, 7, $3)`,
          [id, JSON.stringify(request), forgottenAt],
        );
      await insert("img_1", { metadata: { season: "2026", "crm id": 'a"b', ["k".repeat(101)]: "x" } }, null);
      await insert("img_2", { player: {} }, null);
      await insert("img_3", { metadata: {} }, null);
      await insert("img_4", {}, 9);
      await apply(migrations.slice(at));
      const rows = await db.unsafe("SELECT * FROM image_metadata ORDER BY key").values();
      expect(rows.map((row: unknown[]) => row.map(String))).toEqual([
        ["img_1", "acct_1", "live", "crm id", 'a"b', "7"],
        ["img_1", "acct_1", "live", "season", "2026", "7"],
      ]);
    } finally {
      await db.end();
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    }
  },
);
