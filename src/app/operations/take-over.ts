import { leaseHolderOf } from "../../core/lease.ts";
import type { Nodes } from "../../state/nodes.ts";
import { leaseTokens } from "../../store/engine/lease-holders.ts";
import { releaseExportsOf } from "../../store/exports/exports.ts";
import { releaseClaims } from "../../store/webhooks/deliveries.ts";
import type { AppContext } from "../context.ts";
import { requeueAbandoned } from "./sweep.ts";

/**
 * Requeues the renders, deliveries and exports of processes that have ended, without waiting for their leases
 * to expire. What a process does all the same that was only frozen changes nothing: its leases are lost.
 */
export async function takeOver(context: AppContext & { nodes: Nodes }): Promise<void> {
  const { store, clock, log, nodes } = context;
  const all = await leaseTokens(store.read);
  const ended = new Set(await nodes.ended(all.map(leaseHolderOf)));
  const tokens = all.filter((token) => ended.has(leaseHolderOf(token)));
  if (tokens.length === 0) return;
  const cutShort = await store.write(
    "release claims",
    (tx) => releaseClaims(tx, { now: clock.now(), tokens }),
    { concurrent: true },
  );
  if (cutShort > 0) log.info("deliveries_resumed", { count: cutShort });
  const released = await store.write("release exports", (tx) => releaseExportsOf(tx, tokens, clock.now()), {
    concurrent: true,
  });
  if (released > 0) log.info("exports_resumed", { count: released });
  const requeued = await requeueAbandoned(context, { tokens });
  if (requeued > 0) log.info("renders_resumed", { count: requeued });
}
