import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { drawPacks } from "../../src/core/draw-packs.ts";

interface Card {
  player: number;
  name: string;
}

/** So many cards of each of so many players. */
const cardsOf = (players: number, each: number): Card[] =>
  Array.from({ length: players * each }, (_, at) => {
    const player = Math.floor(at / each);
    return { player, name: `${player}/${at % each}` };
  });

/** Drawn by the program in the guide, in another language: neither may ever change. */
const GOLDEN = [
  ["5/0", "1/0", "3/2"],
  ["1/2", "0/2", "5/2"],
  ["4/1", "0/0", "2/1"],
  ["0/1", "3/0", "4/2"],
];
const GOLDEN_DIGEST = "cc991f86193900d07ffbdd119bbe9eee0bef66ca933e37d1b50a0868ae9fc595";

const names = (packs: Card[][] | undefined) => packs?.map((pack) => pack.map(({ name }) => name));

test("a seed gives the packs that it always gave", () => {
  const drawn = drawPacks(cardsOf(6, 3), { seed: "cup final 2027, 2:1", packs: 4, size: 3 });
  expect(names(drawn)).toEqual(GOLDEN);
  const many = drawPacks(cardsOf(40, 100), { seed: "Übersteiger ⚽", packs: 600, size: 5 });
  expect(
    createHash("sha256")
      .update(JSON.stringify(names(many)))
      .digest("hex"),
  ).toBe(GOLDEN_DIGEST);
});

test("each card is in one pack at most, and no player twice in one", () => {
  const cards = cardsOf(7, 30);
  for (const seed of ["a", "b", "c"]) {
    const packs = drawPacks(cards, { seed, packs: 30, size: 5 }) ?? [];
    const all = packs.flat().map(({ name }) => name);
    expect(new Set(all).size).toBe(150);
    for (const pack of packs) expect(new Set(pack.map(({ player }) => player)).size).toBe(5);
  }
});

test("cards of players who are in the pack already wait for the next one, in their order", () => {
  const seed = "x";
  const cards = cardsOf(3, 4);
  const order = names(drawPacks(cards, { seed, packs: 12, size: 1 }))?.flat() ?? [];
  const expected: string[][] = [];
  let rest = order;
  for (let pack = 0; pack < 4; pack++) {
    const players = new Set<string>();
    const taken = rest.filter((name) => {
      const [player = ""] = name.split("/");
      if (players.has(player) || players.size === 3) return false;
      players.add(player);
      return true;
    });
    expected.push(taken);
    rest = rest.filter((name) => !taken.includes(name));
  }
  expect(names(drawPacks(cards, { seed, packs: 4, size: 3 }))).toEqual(expected);
});

test("every order of four cards comes about as often", () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 2_400; n++) {
    const order = names(drawPacks(cardsOf(4, 1), { seed: String(n), packs: 1, size: 4 }))?.join() ?? "";
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(counts.size).toBe(24);
  for (const times of counts.values()) expect(Math.abs(times - 100)).toBeLessThan(45);
});

test("a pack that cannot be filled is no pack", () => {
  expect(drawPacks(cardsOf(2, 9), { seed: "a", packs: 1, size: 3 })).toBeUndefined();
  expect(drawPacks(cardsOf(5, 1), { seed: "a", packs: 2, size: 3 })).toBeUndefined();
  expect(drawPacks([], { seed: "a", packs: 1, size: 1 })).toBeUndefined();
});
