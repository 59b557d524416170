import { beforeEach, expect, test } from "bun:test";
import { type Challenges, challenges } from "../../../src/app/people/challenges.ts";
import { secretBox } from "../../../src/core/secret-box.ts";
import { memoryState } from "../../../src/state/memory-state.ts";
import { sharedState } from "../../../src/state/shared-state.ts";
import { type FakeClock, fakeClock, seededRandom } from "../../harness.ts";
import { ENGINE, openTestPostgresStore } from "../../postgres.ts";

let clock: FakeClock;
let issued: Challenges;
beforeEach(() => {
  clock = fakeClock();
  issued = challenges({ clock, random: seededRandom(), state: memoryState(clock.now) });
});

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

test("a flood of challenges pushes nobody's out", async () => {
  const mine = text(await issued.make("sign in"));
  const others = new Set<string>();
  for (let n = 0; n < 20_000; n++) others.add(text(await issued.make("sign in")));
  expect(others.size).toBe(20_000);
  expect(await issued.isOpen(mine, "sign in")).toBeTrue();
});

test("a challenge is for one purpose, for five minutes and for one answer", async () => {
  const one = text(await issued.make("sign in"));
  expect(await issued.isOpen(one, "add to usr_1")).toBeFalse();
  clock.advance(299_999);
  expect(await issued.isOpen(one, "sign in")).toBeTrue();
  clock.advance(1);
  expect(await issued.isOpen(one, "sign in")).toBeFalse();
  const other = text(await issued.make("sign in"));
  expect(await Promise.all([issued.spend(other), issued.spend(other)])).toEqual([true, false]);
  expect(await issued.isOpen(other, "sign in")).toBeFalse();
  // Written otherwise it is still the same one.
  expect([await issued.isOpen(`${other}=`, "sign in"), await issued.spend(`${other}==`)]).toEqual([
    false,
    false,
  ]);
});

test("what was not made here is no challenge", async () => {
  const made = await issued.make("sign in");
  const later = made.slice();
  later[6] = (later[6] ?? 0) ^ 1;
  const elsewhere = await challenges({ clock, random: seededRandom(2), state: memoryState(clock.now) }).make(
    "sign in",
  );
  for (const other of [later, elsewhere, made.slice(1), new Uint8Array(made.length), new Uint8Array()])
    expect(await issued.isOpen(text(other), "sign in")).toBeFalse();
});

test.skipIf(ENGINE !== "postgres")(
  "any machine takes the answer to another's challenge, once among all",
  async () => {
    const store = await openTestPostgresStore(`challenges ${crypto.randomUUID()}`);
    const machine = (seed: number) => {
      const random = seededRandom(seed);
      const secrets = secretBox(new Uint8Array(32), random.bytes);
      return challenges({
        clock,
        random,
        state: sharedState({ rawQuery: store.rawQuery, now: clock.now, secrets }),
      });
    };
    const [here, there] = [machine(2), machine(3)];
    const made = text(await here.make("sign in"));
    expect(await there.isOpen(made, "sign in")).toBeTrue();
    expect((await Promise.all([here.spend(made), there.spend(made)])).toSorted()).toEqual([false, true]);
    expect(await here.isOpen(made, "sign in")).toBeFalse();
    await store.close();
  },
);
