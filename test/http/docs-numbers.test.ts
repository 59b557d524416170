import { expect, test } from "bun:test";
import { join } from "node:path";
import { DELIVERY_JITTER, DELIVERY_WAITS_MS, MAX_RETRY_AFTER_MS } from "../../src/core/delivery-schedule.ts";
import * as limits from "../../src/core/limits.ts";
import * as outbound from "../../src/core/outbound-limits.ts";
import { MAX_PREFERRED_WAIT_S } from "../../src/core/picture-limits.ts";
import { MAX_ACCOUNT_PRINT_FILES } from "../../src/core/print-limits.ts";
import {
  MAX_RENDER_ATTEMPTS,
  MAX_RENDER_VALIDITY_MS,
  RENDER_RETRY_MS,
} from "../../src/core/render-address.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/core/time.ts";

const { MAX_SOURCE_REDIRECTS, SOURCE_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS } = outbound;
/** As the limits count them, and the guides call them. */
const MB = 1024 ** 2;
const GB = 1024 * MB;

/** Words of each guide that name a limit of the code. */
const FACTS: Record<string, string[]> = {
  operating: [
    `says every ${limits.NODE_BEAT_MS / SECOND_MS} seconds that it lives`,
    `take up after ${limits.NODE_SILENCE_MS / SECOND_MS} seconds, at the latest when its lease ends after ${limits.LEASE_MS / SECOND_MS}`,
    `at most ${outbound.MAX_DELIVERIES_PER_ENDPOINT} deliveries at a time`,
    `gives up its card after ${limits.JOB_HEARTBEAT_MS / SECOND_MS} seconds`,
    `gives no answer for ${limits.REQUEST_STORAGE_MS / SECOND_MS} seconds`,
  ],
  "operating-cluster": [
    `at most ${limits.DATABASE_CONNECTIONS} connections`,
    `more than ${limits.DATABASE_CLOCK_TOLERANCE_MS / SECOND_MS} seconds from the database's clock`,
    `taken up after ${limits.NODE_SILENCE_MS / SECOND_MS} seconds`,
  ],
  "operating-capacity": [
    `holds more than ${limits.WORKER_MEMORY_BYTES / MB / 1000} GB is replaced`,
    `less than ${limits.MIN_FREE_DISK_BYTES / MB} MB left`,
    `between ${limits.QUICKLY_REWRITTEN_BYTES / MB} and ${limits.MAX_REWRITTEN_BYTES / MB} MB`,
    `photos and cutouts after ${limits.SOURCE_RETENTION_MS / DAY_MS} days`,
    `the log of requests after ${limits.REQUEST_LOG_RETENTION_MS / DAY_MS}`,
    `stored answers after ${limits.IDEMPOTENCY_RETENTION_MS / HOUR_MS} hours`,
  ],
  troubleshooting: [
    `took longer than ${limits.RENDER_TIMEOUT_MS} ms`,
    `${limits.MIN_FREE_DISK_BYTES / MB} MB of disk`,
  ],
  "rate-limits": [
    ...Object.entries(limits.RATE_LIMIT_PER_MINUTE).map(
      ([tier, n]) => `| ${tier.padEnd(7)} | ${String(n).padEnd(17)} |`,
    ),
    `limited by client address: ${limits.REFUSED_KEYS_PER_MINUTE} a minute`,
    `lately: ${limits.PLACEHOLDER_BYTES_PER_DAY / GB} GB`,
  ],
  photos: [
    `at most ${limits.MAX_SOURCE_BYTES / MB} MB `,
    `at most ${limits.MAX_BADGE_BYTES / MB} MB `,
    `at most ${limits.MAX_SOURCE_PIXELS / 1e6} megapixels, at least ${limits.MIN_SOURCE_SIDE_PX} on`,
    `at most ${limits.MAX_BADGE_PIXELS / 1e6} megapixels, at least ${limits.MIN_BADGE_SIDE_PX} on`,
    `at most ${outbound.MAX_JPEG_SCANS}, and ${outbound.MAX_JPEG_SCAN_PIXELS / limits.MAX_SOURCE_PIXELS} at`,
    `at most ${MAX_SOURCE_REDIRECTS} redirects, answers within ${SOURCE_TIMEOUT_MS / SECOND_MS} seconds`,
    `again for ${outbound.FAILED_LOOKUP_KEPT_MS / SECOND_MS} seconds`,
    `environment for ${limits.UPLOAD_LIFETIME_MS / DAY_MS} days`,
    `have ${count(limits.MAX_UPLOADED_PHOTOS)} of them at a time`,
    Object.entries(limits.MAX_UPLOADED_BYTES)
      .map(([tier, bytes]) => `${bytes / GB} GB ${tier === "starter" ? "together " : ""}(${tier})`)
      .join(", ")
      .replace(/, (?=\d+ GB \(scale)/, " or "),
    Object.entries(limits.SOURCE_BYTES_PER_DAY)
      .map(([tier, bytes]) => `${bytes / GB} GB ${tier === "starter" ? "fetched " : ""}(${tier})`)
      .join(", ")
      .replace(/, (?=\d+ GB \(scale)/, " or "),
  ],
  sets: [
    `up to ${count(limits.MAX_SET_PLAYERS)} players and ${limits.MAX_PARALLELS} parallels, each of at most ${count(limits.MAX_PARALLEL_SIZE)} cards`,
    `up to ${limits.MAX_SETS} sets`,
  ],
  webhooks: [
    `up to ${outbound.MAX_WEBHOOK_ENDPOINTS} endpoints`,
    `within ${WEBHOOK_TIMEOUT_MS / SECOND_MS} seconds`,
    `after ${DELIVERY_WAITS_MS.slice(1, 4).map(span).join(", ")}, then ${DELIVERY_WAITS_MS.slice(4, -1)
      .map((ms) => ms / HOUR_MS)
      .join(", ")} and ${(DELIVERY_WAITS_MS.at(-1) ?? 0) / HOUR_MS} hours`,
    DELIVERY_JITTER === 0.2 ? "give or take a fifth" : "",
    MAX_RETRY_AFTER_MS === DAY_MS ? "up to a day" : "",
    outbound.WEBHOOK_GIVE_UP_MS === 5 * DAY_MS ? "Five days of nothing but failures" : "",
    `kept for ${outbound.WEBHOOK_RETENTION_MS / DAY_MS} days`,
    `For ${outbound.WEBHOOK_SECRET_OVERLAP_MS / HOUR_MS} hours the old and the new`,
  ],
  "on-demand": [
    `at most ${MAX_RENDER_VALIDITY_MS / DAY_MS} days ahead`,
    MAX_RENDER_ATTEMPTS === 3 && RENDER_RETRY_MS === HOUR_MS ? "after an hour, three times in all" : "",
  ],
  idempotency: [
    `1 to ${limits.MAX_IDEMPOTENCY_KEY_CHARS} visible`,
    `kept for ${limits.IDEMPOTENCY_RETENTION_MS / HOUR_MS} hours`,
  ],
  pagination: [
    `looks at ${count(limits.MAX_LIST_EXAMINED)} finished cards`,
    `1 to ${limits.MAX_LIST_LIMIT}, default ${limits.DEFAULT_LIST_LIMIT}`,
  ],
  batches: [
    `may have ${count(limits.MAX_OPEN_BATCH_CARDS)} cards of batches waiting`,
    `up to ${count(limits.MAX_BATCH_CARDS)} cards`,
  ],
  quickstart: [`up to ${MAX_PREFERRED_WAIT_S} seconds`],
  printing: [MAX_ACCOUNT_PRINT_FILES === 3 ? "three files written at a time" : ""],
  testing: [`after ${limits.OWN_PLACEHOLDER_BYTES_PER_DAY / MB} MB of different test pictures`],
};

function count(n: number): string {
  return n.toLocaleString("en");
}

function span(ms: number): string {
  return ms < MINUTE_MS ? `${ms / SECOND_MS} seconds` : `${ms / MINUTE_MS} minutes`;
}

test("the limits that the guides name are those of the code", async () => {
  const missing: string[] = [];
  for (const [name, facts] of Object.entries(FACTS)) {
    const file = Bun.file(join(import.meta.dir, `../../src/http/docs/guides/${name}.md`));
    const guide = (await file.text()).replace(/\*\*|\s+/g, (found) => (found === "**" ? "" : " "));
    for (const fact of facts)
      if (fact === "" || !guide.includes(fact.replace(/\s+/g, " "))) missing.push(`${name}: ${fact}`);
  }
  expect(missing).toEqual([]);
});
