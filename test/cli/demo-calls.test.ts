import { expect, test } from "bun:test";
import { pollUntilEnded, TooSoon } from "../../src/cli/demo-calls.ts";
import { RATE_LIMIT_PER_MINUTE } from "../../src/core/limits.ts";

const MINUTE_MS = 60_000;

/** A service whose card is ready after `readyMs`, and a clock that only sleeping moves. */
function slowService(readyMs: number) {
  let now = 0;
  const asked: number[] = [];
  return {
    asked,
    sleep: async (ms: number) => {
      now += ms;
    },
    ask: async () => {
      asked.push(now);
      const inWindow = asked.filter((at) => Math.floor(at / MINUTE_MS) === Math.floor(now / MINUTE_MS));
      // Beside the polls the demo makes the card and fetches it.
      if (inWindow.length > RATE_LIMIT_PER_MINUTE.starter - 2) throw new TooSoon("too many", MINUTE_MS);
      return now >= readyMs ? { status: "completed" } : { status: "processing", progress: null };
    },
  };
}

test("a first card of minutes stays within the request budget of the demo's account", async () => {
  const { ask, asked, sleep } = slowService(4 * MINUTE_MS);
  expect(await pollUntilEnded(ask, () => {}, sleep)).toEqual({ status: "completed" });
  const windows = Map.groupBy(asked, (at) => Math.floor(at / MINUTE_MS));
  for (const requests of windows.values())
    expect(requests.length).toBeLessThan(RATE_LIMIT_PER_MINUTE.starter - 20);
  // Somebody looks on: a quick card is seen at once.
  expect(asked.filter((at) => at < 1_000).length).toBeGreaterThanOrEqual(4);
});

test("an answer of too many requests is waited out, not the end", async () => {
  const slept: number[] = [];
  const answers = [new TooSoon("too many", 7_000), { status: "completed" }];
  const ask = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const sleep = async (ms: number) => void slept.push(ms);
  expect(await pollUntilEnded(ask, () => {}, sleep)).toEqual({ status: "completed" });
  expect(slept).toEqual([7_000]);
});
