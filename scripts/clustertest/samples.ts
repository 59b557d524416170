import { SQL } from "bun";
import { DATABASE_CONNECTIONS } from "../../src/core/limits.ts";
import { processes } from "../soak/processes.ts";
import type { Figures } from "./figures.ts";
import type { Node } from "./node.ts";

const EVERY_MS = 5_000;
/** Those of a node that was killed may outlive the start of the next one. */
const MAX_CONNECTIONS = 2 * DATABASE_CONNECTIONS;
/** A node's server process was measured at 150 to 250 MB. */
const MAX_SERVER_MB = 600;

/** Looks at connections and memory now and then. */
export function startSamples(databaseUrl: string, nodes: readonly Node[]) {
  const connections: number[] = [];
  const memory: number[] = [];
  const look = async () => {
    const admin = new SQL(databaseUrl, { max: 1, connectionTimeout: 3 });
    const counted = admin.unsafe(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()",
    );
    const [row] = await Promise.race([counted.catch(() => []), Bun.sleep(EVERY_MS - 1_000).then(() => [])]);
    await admin.close({ timeout: 0 });
    if (row) connections.push(Number(row.n));
    const pids = nodes.map((node) => node.pid());
    for (const { pid, memoryMb } of processes()) if (pids.includes(pid)) memory.push(Math.round(memoryMb));
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  return {
    stop: (figures: Figures) => {
      clearInterval(timer);
      const most = Math.max(0, ...connections);
      const mb = Math.max(0, ...memory);
      // The checks' own connections count too.
      const bound = MAX_CONNECTIONS * nodes.length + 20;
      figures.check("flat", most <= bound, () => `there were ${most} connections to PostgreSQL`);
      figures.check("flat", mb <= MAX_SERVER_MB, () => `a node took ${mb} MB`);
      figures.notes.flat = `at most ${most} connections and ${mb} MB a server process, at the end ${connections.at(-1)} and ${memory.at(-1)} MB`;
    },
  };
}
