import { expect, test } from "bun:test";
import { type Unfinished, untilDrained } from "../../scripts/clustertest/checks.ts";

const STUCK_MS = 240;

/** What becomes of a queue that looks so at one moment after the other, a minute each; the last one stays. */
async function drain(
  ...looks: [count: number, pulse: string][]
): Promise<{ isDrained: boolean; ms: number }> {
  let now = 0;
  const look = async (): Promise<Unfinished> => {
    const [count, pulse] = looks[Math.min(now / 60, looks.length - 1)] ?? [0, ""];
    return { count, pulse };
  };
  const pause = async () => {
    now += 60;
  };
  return { isDrained: await untilDrained(look, { stuckMs: STUCK_MS, now: () => now, pause }), ms: now };
}

test("a cluster is slow while cards get fewer, however long that takes", async () => {
  const fewer = Array.from({ length: 30 }, (_, n): [number, string] => [30 - Math.floor(n / 3), "same"]);
  expect(await drain(...fewer, [0, ""])).toEqual({ isDrained: true, ms: 1_800 });
});

test("a cluster is slow while somebody takes cards, though none ends", async () => {
  const taken = Array.from({ length: 20 }, (_, n): [number, string] => [5, `lease ${Math.floor(n / 3)}`]);
  expect(await drain(...taken, [0, ""])).toEqual({ isDrained: true, ms: 1_200 });
});

test("a cluster is stuck once nothing has moved for longer than that", async () => {
  expect(await drain([5, "a"], [4, "b"], [4, "b"])).toEqual({ isDrained: false, ms: 360 });
});
