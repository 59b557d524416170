import { expect, test } from "bun:test";
import { benchWebhooks } from "../../scripts/bench/webhook-storm.ts";

test("with one receiver hanging and one failing, all others get every event exactly once", async () => {
  const report = await benchWebhooks({
    events: 40,
    endpoints: 12,
    hanging: 1,
    failing: 1,
    eventsPerSecond: Number.POSITIVE_INFINITY,
  });
  expect(report).toMatchObject({ healthyEndpoints: 10, deliveries: 400, incomplete: 0, repeats: 0 });
  expect(report.attempts.hanging).toBeGreaterThan(0);
});
