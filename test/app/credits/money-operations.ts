import fc from "fast-check";

// Everything that can happen to credits, images and replays, and how often.

export const ACCOUNTS = 2;
const account = fc.nat(ACCOUNTS - 1);
const environment = fc.constantFrom("live" as const, "live" as const, "test" as const);
const create = { account, environment, key: fc.nat(4), payload: fc.nat(1) };
/** One time in four; null otherwise. */
const sometimes = (arbitrary: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
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
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("batch" as const),
      account,
      environment,
      // Without a key the cards are told apart by their own words.
      key: fc.constantFrom(null, null, 0, 1),
      cards: fc.uniqueArray(fc.record({ player: fc.nat(3), payload: fc.constantFrom(0, 0, 0, 1) }), {
        minLength: 1,
        maxLength: 4,
        selector: ({ player }) => player,
      }),
      torn: sometimes(fc.nat(12)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("photo" as const),
      end: fc.constantFrom("fetched" as const, "fetched" as const, "refused" as const, "busy" as const),
      torn: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("cancel" as const),
      // Any batch ever accepted, sometimes asked for by the other account.
      batch: fc.nat(4),
      stranger: fc.constantFrom(false, false, false, true),
      torn: sometimes(fc.nat(4)),
    }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant("claim" as const), environment }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("finish" as const),
      // Any lease ever given out: most are the current one, some were lost long ago.
      lease: fc.nat(9),
      kind: fc.constantFrom("completed" as const, "refused" as const, "fault" as const, "requeued" as const),
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
