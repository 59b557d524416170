import fc from "fast-check";

// Everything that can happen to credits, images and replays, and how often.

export const ACCOUNTS = 2;
const account = fc.nat(ACCOUNTS - 1);
const environment = fc.constantFrom("live" as const, "live" as const, "test" as const);
const create = { account, environment, key: fc.nat(4), payload: fc.nat(1) };
export const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant("create" as const), ...create }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("burst" as const),
      account,
      count: fc.integer({ min: 2, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("torn create" as const), ...create, after: fc.nat(2) }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant("claim" as const), environment }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("finish" as const),
      // Any lease ever given out: most are the current one, some were lost long ago.
      lease: fc.nat(9),
      kind: fc.constantFrom(
        "completed" as const,
        "refused" as const,
        "fault" as const,
        "given_back" as const,
      ),
      torn: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("pass" as const),
      ms: fc.constantFrom(3_000, 91_000, 73 * 3_600_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("next month" as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("sweep" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("restart" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("grant" as const),
      account,
      amount: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("change plan" as const), account, credits: fc.nat(4) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("suspend" as const), account }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("resume" as const), account }) },
);
export type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
