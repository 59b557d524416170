import { statfs } from "node:fs/promises";
import type { AppContext } from "../app/context.ts";
import type { Blobs } from "../blobs/blobs.ts";
import type { RenderPool } from "../render/pool.ts";
import { isOtherTime } from "../state/database-clock.ts";
import type { Nodes } from "../state/nodes.ts";
import type { Store } from "../store/store.ts";
import type { DataFolder } from "../system/data-folder.ts";
import { lacksDescriptors } from "../system/descriptors.ts";
import { COMMIT, VERSION } from "../version.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

export interface HealthDeps extends AppContext {
  folder: DataFolder;
  blobs: Blobs;
  nodes: Pick<Nodes, "aheadMs">;
  pool: RenderPool;
  /** True once the process has been asked to stop. */
  isDraining: () => boolean;
}

/** GET /live: the process responds. Says nothing about browsers, because a restart would not repair them. */
export function live(exchange: Exchange): Response {
  return liveAnswer(standardHeaders(exchange));
}

/** Says which program it is too: an operator who has replaced it sees that the new one answers. */
export function liveAnswer(headers: Record<string, string>): Response {
  return Response.json({ status: "ok", version: VERSION, commit: COMMIT }, { headers });
}

/** Each prerequisite of a create, and whether it is met. */
export async function readiness(deps: HealthDeps): Promise<Record<string, boolean>> {
  const descriptors = !lacksDescriptors();
  const [database, disk] = await Promise.all([isWritable(deps), takesPictures(deps)]);
  // Cards accepted by another time than the others go by would be due at once there, or never.
  const accepting = !deps.isDraining() && !isOtherTime(deps.nodes.aheadMs());
  return { database, renderer: deps.pool.health().takesWork, disk, descriptors, accepting };
}

/**
 * GET /ready: 200 when a create would be accepted now and rendered, at once or as soon as the first worker
 * has opened its pages; otherwise 503 with the failing checks.
 */
export async function ready(deps: HealthDeps, exchange: Exchange): Promise<Response> {
  return readyAnswer(deps, standardHeaders(exchange));
}

export async function readyAnswer(deps: HealthDeps, headers: Record<string, string>): Promise<Response> {
  const checks = await readiness(deps);
  const ok = Object.values(checks).every(Boolean);
  return Response.json(
    { status: ok ? "ready" : "not_ready", checks },
    { status: ok ? 200 : 503, headers: { ...headers, "Cache-Control": "no-store" } },
  );
}

/** Longer than any of our writes takes; a probe must get its response within seconds. */
const PROBE_PATIENCE_MS = 2_000;

/** The pending probe write: probes must not queue up behind each other. */
const inFlight = new WeakMap<Store, Promise<boolean>>();

async function isWritable({ store, log }: AppContext): Promise<boolean> {
  const problem = store.problem();
  if (problem !== null) {
    log.error("database_unusable", { problem });
    return false;
  }
  const probe = inFlight.get(store) ?? tryToWrite(store).finally(() => inFlight.delete(store));
  inFlight.set(store, probe);
  return Promise.race([probe, Bun.sleep(PROBE_PATIENCE_MS).then(() => false)]);
}

async function tryToWrite({ write }: Store): Promise<boolean> {
  try {
    await write("probe", async () => {}, { concurrent: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a photo and its picture could be written now. Also false while the folder is moved away. */
async function takesPictures({ folder, blobs, config }: HealthDeps): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder.root);
    return bavail * bsize >= config.minFreeDiskBytes && (await blobs.isWritable());
  } catch {
    return false;
  }
}
