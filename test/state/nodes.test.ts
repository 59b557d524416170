import { afterAll, describe, expect, test } from "bun:test";
import { NODE_BEAT_MS, NODE_SILENCE_MS } from "../../src/core/limits.ts";
import { DAY_MS } from "../../src/core/time.ts";
import { isOtherTime } from "../../src/state/database-clock.ts";
import { type Nodes, onlyNode } from "../../src/state/nodes.ts";
import { sharedNodes } from "../../src/state/shared-nodes.ts";
import { type FakeClock, fakeClock } from "../harness.ts";
import { ENGINE, openTestPostgresStore } from "../postgres.ts";

test("to the only node of a store all others have ended", async () => {
  expect(await onlyNode("node_a").ended(["node_a", "node_b"])).toEqual(["node_b"]);
});

const opened: ReturnType<typeof openTestPostgresStore>[] = [];
afterAll(async () => {
  for (const store of opened) await (await store).close();
});

describe.skipIf(ENGINE !== "postgres")("nodes on Postgres", () => {
  const load = { workers: 2, renderMs: 500 };

  async function start() {
    const store = openTestPostgresStore(`nodes ${crypto.randomUUID()}`);
    opened.push(store);
    const { rawQuery } = await store;
    const node = (name: string, clock = fakeClock()) => ({
      clock,
      ...sharedNodes({ rawQuery, clock, name, version: "1.0.0" }),
    });
    /** As if it had beaten last `ms` ago. */
    const silence = (name: string, ms: number) =>
      rawQuery("UPDATE nodes SET seen_at = seen_at - $2::bigint WHERE name = $1", [name, ms]);
    return { node, silence };
  }

  /** Beats long enough to judge who is silent. */
  async function live(node: Nodes & { clock: FakeClock }) {
    for (let passed = 0; passed <= NODE_SILENCE_MS; passed += NODE_BEAT_MS) {
      await node.beat(load);
      node.clock.advance(NODE_BEAT_MS);
    }
  }

  test("each knows what the other living ones can do", async () => {
    const { node, silence } = await start();
    const [a, b, c] = [node("node_a"), node("node_b"), node("node_c")];
    await a.beat({ workers: 1, renderMs: 100.4 });
    await c.beat(load);
    await silence("node_c", NODE_SILENCE_MS);
    await b.beat(load);
    expect(b.others()).toEqual([{ workers: 1, renderMs: 100 }]);
    await a.beat(load);
    expect(a.others()).toEqual([load]);
    await b.strike("node_b");
    await a.beat(load);
    expect(a.others()).toEqual([]);
  });

  test("each knows how far its clock is from the database's", async () => {
    const { node } = await start();
    const ahead = { ...fakeClock(), now: () => Date.now() + 35 * DAY_MS };
    const [a, b] = [node("node_a", ahead), node("node_b", { ...fakeClock(), now: Date.now })];
    await a.beat(load);
    await b.beat(load);
    // Plus nothing: the tenth of a second that the other may be behind rounds to a zero below zero.
    expect([a, b].map(({ aheadMs }) => Math.round(aheadMs() / DAY_MS) + 0)).toEqual([35, 0]);
    expect([a, b].map(({ aheadMs }) => isOtherTime(aheadMs()))).toEqual([true, false]);
  });

  test("one that fell silent or was struck off has ended, and one that lives has not", async () => {
    const { node, silence } = await start();
    const [a, b, c, d] = [node("node_a"), node("node_b"), node("node_c"), node("node_d")];
    for (const each of [b, c, d]) await each.beat(load);
    await live(a);
    expect(await a.ended(["node_a", "node_b", "node_c", "node_d"])).toEqual([]);
    await silence("node_b", NODE_SILENCE_MS);
    await c.strike("node_c");
    expect(await a.ended(["node_a", "node_b", "node_b", "node_c", "node_d"])).toEqual(["node_b", "node_c"]);
    await b.beat(load);
    expect(await a.ended(["node_b"])).toEqual([]);
  });

  test("a node that has just started, or could not beat itself, declares none ended but its predecessor", async () => {
    const { node, silence } = await start();
    const [a, b] = [node("node_a"), node("node_b")];
    await b.beat(load);
    await silence("node_b", NODE_SILENCE_MS);
    await a.strike("node_before");
    expect(await a.ended(["node_b", "node_before"])).toEqual(["node_before"]);
    await live(a);
    expect(await a.ended(["node_b"])).toEqual(["node_b"]);
    // The database was away, for all of them.
    a.clock.advance(NODE_SILENCE_MS);
    await a.beat(load);
    expect(await a.ended(["node_b"])).toEqual([]);
    await live(a);
    expect(await a.ended(["node_b"])).toEqual(["node_b"]);
  });
});
