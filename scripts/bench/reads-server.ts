import { Database } from "bun:sqlite";
import { join } from "node:path";
import { listen } from "../../src/http/server.ts";
import { jsonLog, stdoutByTurn } from "../../src/log.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { ampleQueue, idlePool } from "../../test/fakes.ts";
import { testConfig } from "../../test/harness.ts";

// The servers that reads.ts and nodes.ts measure, each in a process of its own:
// bun reads-server.ts <bare|cardpress> FOLDER ORIGIN [further settings as JSON]

export interface ReadsServerReport {
  port: number;
  /** CPU time of this process so far, in microseconds. */
  processorUs: number;
}

const [, , kind, dir = "", photos = "", settings = "{}"] = process.argv;
const { port } = kind === "bare" ? bare() : await cardpress();
process.on("message", report);
report();

function report(): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ port, processorUs: user + system } satisfies ReadsServerReport);
}

/** The minimum that could be called an image server. */
function bare(): { port: number } {
  const db = new Database(join(dir, "cardpress.db"), { readonly: true });
  const find = db.query("SELECT id, state, created_at, completed_at, output_name FROM images WHERE id = ?");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: { "/v1/images/:id": (request) => Response.json(find.get(request.params.id)) },
  });
  return { port: server.port ?? 0 };
}

/**
 * The real service's HTTP side on the real store, with nothing to render and rate limits that are never
 * reached.
 */
async function cardpress(): Promise<{ port: number }> {
  const config = testConfig(dir, { CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos, ...JSON.parse(settings) });
  const workspace = await openWorkspace(config, jsonLog(stdoutByTurn()));
  const deps = buildDeps(workspace, { pool: idlePool, queue: ampleQueue() });
  const { take } = deps.limiter;
  const limiter = { ...deps.limiter, take: (key: string) => take(key, Number.MAX_SAFE_INTEGER) };
  return listen({ ...deps, limiter, isDraining: () => false }, { host: "127.0.0.1", port: 0 });
}
