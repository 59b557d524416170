import { Database } from "bun:sqlite";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const DAY_MS = 86_400_000;
/** The current time in the filled database. */
export const FILLED_AT = Date.parse("2026-11-15T12:00:00.000Z");
/** When the image with that number was created: they are spread over thirty days. */
export const createdAtOf = (number: number, images: number) =>
  FILLED_AT - Math.trunc(((images - number) * 30 * DAY_MS) / images);

/** The image's id. Like real ones, ids are unordered: every index on them is accessed at random places. */
export const idOf = (number: number) =>
  `img_${String(Number((BigInt(number) * SCATTER) & 0xffff_ffffn)).padStart(24, "0")}`;
/** 2^32 divided by the golden ratio, odd, so that products of different numbers differ (Knuth, TAOCP 6.4). */
const SCATTER = 2_654_435_761n;

/**
 * Fills a new database with consistent accounts, images and entries, like a busy installation after a month: 90 % of
 * the images completed, 9 % failed, a few waiting; the previous month over, with credits expired and granted again; and
 * every image's end announced to one webhook endpoint of its account.
 */
export async function fillDatabase(file: string, images: number, perAccount = 10_000): Promise<void> {
  await openSqliteStore(file).close();
  const db = new Database(file);
  db.run("PRAGMA synchronous = OFF");
  const accounts = Math.max(1, Math.ceil(images / perAccount));
  const plan = perAccount * 2;
  const n = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < `;
  const now = FILLED_AT;
  db.transaction(() => {
    db.run(
      `${n}${accounts}) INSERT INTO accounts (id, name, tier, status, suspended_reason, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at) SELECT 'acct_' || i, 'Club ' || i, 'scale', 'active', NULL, ${plan}, '2026-11', ${plan}, 0, 0, ${now}, ${now} FROM n`,
    );
    const image = `'img_' || printf('%024d', (i * ${SCATTER}) & 4294967295)`;
    // Of a hundred images 90 are completed and 9 failed; only the newest few overall still wait.
    const state = `CASE WHEN i >= ${images} - 50 THEN 'queued' WHEN i % 100 < 90 THEN 'completed' ELSE 'failed' END`;
    const request = JSON.stringify({
      type: "player_card",
      player: {
        name: "Maya Okafor",
        external_id: "x".repeat(20),
        source_image_url: "https://photos.example/".padEnd(120, "p"),
      },
      style: { preset: "club_card" },
    });
    db.run(
      `${n}${images}) INSERT INTO images (id, account_id, environment, state, type, external_id, request, source_sha256, turn, available_at, renders,
        failure_code, failure_message, output_name, output_width, output_height, output_content_type, output_bytes, created_at, updated_at, completed_at, expires_at)
       SELECT ${image}, 'acct_' || (i / ${perAccount}), 'live', s, 'player_card', 'player-' || i, ?, printf('%064d', i), i, 0, s <> 'queued',
        iif(s = 'failed', 'IMAGE_PROCESSING_FAILED', NULL), iif(s = 'failed', 'No player was found.', NULL), iif(s = 'completed', ${image} || '-' || i || '.png', NULL),
        1024, 1280, 'image/png', 1600000, t, t, iif(s = 'queued', NULL, t + 2000), iif(s = 'completed', t + 2592000000, NULL)
       FROM (SELECT i, ${state} AS s, ${now} - ((${images} - i) * ${30 * DAY_MS}) / ${images} AS t FROM n)`,
      [request],
    );
    const entry = (kind: string, select: string) =>
      db.run(`INSERT INTO ledger_entries SELECT ${select.replaceAll("KIND", `'${kind}'`)}`);
    entry(
      "grant",
      `'led_g' || id, id, KIND, 'plan', '2026-10', ${plan}, NULL, 'monthly plan credits', 0 FROM accounts`,
    );
    entry(
      "expire",
      `'led_e' || id, id, KIND, 'plan', '2026-10', ${plan}, NULL, 'plan credits do not roll over', 0 FROM accounts`,
    );
    entry(
      "grant",
      `'led_n' || id, id, KIND, 'plan', '2026-11', ${plan}, NULL, 'monthly plan credits', 0 FROM accounts`,
    );
    const of = "account_id, KIND, 'plan', '2026-11', 1, id, NULL, created_at FROM images";
    entry("reserve", `'led_r' || substr(id, 5), ${of}`);
    entry("settle", `'led_s' || substr(id, 5), ${of} WHERE state = 'completed'`);
    entry("release", `'led_l' || substr(id, 5), ${of} WHERE state = 'failed'`);
    db.run(`UPDATE accounts SET
      credits_plan = ${plan} - (SELECT count(*) FROM images WHERE account_id = accounts.id AND state <> 'failed'),
      credits_held = (SELECT count(*) FROM images WHERE account_id = accounts.id AND state = 'queued')`);
    db.run(
      `INSERT INTO usage_days SELECT account_id, 'live', date(created_at / 1000, 'unixepoch'), count(*), sum(state = 'completed'), sum(state = 'failed'), sum(state = 'completed') FROM images GROUP BY 1, 3`,
    );
    fillWebhooks(db, now);
    db.run(
      `INSERT INTO idempotency_records SELECT account_id, 'live', 'key-' || id, printf('%064d', 1), id, '{"success":true,"data":{"image_id":"' || id || '"}}', created_at, created_at + 259200000 FROM images WHERE created_at > ${now} - 259200000`,
    );
  })();
  db.close();
}

/** One endpoint per account; all but the last few events arrived at the first attempt. */
function fillWebhooks(db: Database, now: number): void {
  db.run(
    `INSERT INTO webhook_endpoints SELECT 'ep_' || id, id, 'live', 'https://hooks.example/' || id, NULL, 'v1.sealed', NULL, NULL,
      'enabled', NULL, NULL, NULL, ${now}, NULL, 0, 0 FROM accounts`,
  );
  const result = `"result":{"image_url":"https://cards.example/cdn/' || output_name || '","width":1024,"height":1280,"content_type":"image/png"}`;
  db.run(
    `INSERT INTO webhook_events SELECT 'evt_' || substr(id, 5), account_id, environment, 'image.' || state, id,
      '{"type":"image.' || state || '","timestamp":"2026-11-15T12:00:00.000Z","environment":"live","data":{"image_id":"' || id || '","status":"' || state
      || iif(state = 'completed', '",${result}', '","failure":{"code":"IMAGE_PROCESSING_FAILED"}') || '}}', completed_at
     FROM images WHERE completed_at IS NOT NULL`,
  );
  const pending = `created_at > ${now} - 5000`;
  db.run(
    `INSERT INTO webhook_deliveries SELECT 'dlv_' || substr(id, 5), id, 'ep_' || account_id, account_id, environment, type,
      iif(${pending}, 'pending', 'delivered'), NOT (${pending}), NOT (${pending}), iif(${pending}, created_at, NULL), NULL, NULL,
      created_at, created_at, iif(${pending}, NULL, created_at) FROM webhook_events`,
  );
  db.run(
    `INSERT INTO delivery_attempts SELECT id, 1, created_at, 80, 200, NULL, NULL FROM webhook_deliveries WHERE attempts = 1`,
  );
}
