import type { Log } from "../core/ports.ts";
import type { PostgresStore } from "../store/engine/postgres.ts";
import type { Store } from "../store/store.ts";
import type { OpenJobs } from "./jobs.ts";
import { rowJobs } from "./row-jobs.ts";

/** The queue of renders that belongs to a store's engine. */
export async function openJobs(store: Store, log: Pick<Log, "warn">): Promise<OpenJobs> {
  if (store.engine === "sqlite") return rowJobs(store);
  // Loaded here and not before: a service on SQLite does without it.
  const { openBossJobs } = await import("./open-boss.ts");
  return openBossJobs(store as PostgresStore, log);
}
