import { createHash } from "node:crypto";

// The draw is a promise: with the same cards and seed anybody gets the same packs, with any program and for
// good. The guide on sets says how, step by step; nothing of it may change.

const BLOCK_BYTES = 32;
const WORD_BYTES = 4;
const WORDS = 2 ** 32;

/** Numbers from 0 below a bound, drawn from a seed: SHA-256 of the seed and a counter, in 32-bit words. */
function drawer(seed: string): (below: number) => number {
  let block = Buffer.alloc(0);
  let blocks = 0;
  let at = BLOCK_BYTES;
  const word = () => {
    if (at >= BLOCK_BYTES) {
      block = createHash("sha256").update(`${seed}:${blocks++}`).digest();
      at = 0;
    }
    at += WORD_BYTES;
    return block.readUInt32BE(at - WORD_BYTES);
  };
  return (below) => {
    // Words beyond the last multiple would favour the small numbers.
    const most = WORDS - (WORDS % below);
    let drawn = word();
    while (drawn >= most) drawn = word();
    return drawn % below;
  };
}

/** Fisher and Yates' shuffle of a copy, from the end. */
function shuffled<T>(items: readonly T[], draw: (below: number) => number): T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last--) {
    const chosen = draw(last + 1);
    [order[last], order[chosen]] = [order[chosen] as T, order[last] as T];
  }
  return order;
}

/**
 * Deals shuffled cards into packs, each card at most once, and no player twice in a pack: a card whose player
 * is in the pack already waits for the next one. Undefined when a pack cannot be filled.
 */
export function drawPacks<Card extends { player: number }>(
  cards: readonly Card[],
  { seed, packs, size }: { seed: string; packs: number; size: number },
): Card[][] | undefined {
  const order = shuffled(cards, drawer(seed));
  // Each player's cards by their places in the order: the first card that fits is the lowest of their first.
  const waiting = new Map<number, number[]>();
  for (let at = order.length - 1; at >= 0; at--) {
    const { player } = order[at] as Card;
    const own = waiting.get(player) ?? [];
    own.push(at);
    waiting.set(player, own);
  }
  const lists = [...waiting.values()].sort((a, b) => lowest(b) - lowest(a));
  const dealt: Card[][] = [];
  for (let pack = 0; pack < packs; pack++) {
    if (lists.length < size) return undefined;
    const chosen = lists.splice(-size).reverse();
    dealt.push(chosen.map((own) => order[own.pop() as number] as Card));
    for (const own of chosen) if (own.length > 0) putBack(lists, own);
  }
  return dealt;
}

const lowest = (list: number[]) => list.at(-1) as number;

/** Inserts a list where it belongs: they lie by their lowest numbers, from high to low. */
function putBack(lists: number[][], own: number[]): void {
  let [from, to] = [0, lists.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (lowest(lists[middle] as number[]) > lowest(own)) from = middle + 1;
    else to = middle;
  }
  lists.splice(from, 0, own);
}
