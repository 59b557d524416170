import { SQL } from "bun";
import { OperatorError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";

/** The advisory lock of the serving machine: an arbitrary constant. */
const SERVING_LOCK = "7203115096624715";
/** How often to retry the lock after its connection was lost, ms. */
const LOOK_MS = 5_000;

/**
 * Ensures that one machine at a time serves from a database, until release(). Throws an OperatorError when another one
 * does. The lock is lost with its connection and taken again on the next; if another machine was faster, the log says
 * so.
 */
export async function lockServing(url: string, log: Log): Promise<{ release(): void }> {
  const client = new SQL(url, { max: 1, connection: { application_name: "cardpress serving" } });
  // Within a session the lock may be taken any number of times.
  const take = async () => {
    const [row] = await client.unsafe(`SELECT pg_try_advisory_lock(${SERVING_LOCK}) AS taken`);
    return row.taken === true;
  };
  const end = () => void client.close({ timeout: 0 });
  if (!(await take())) {
    end();
    throw new OperatorError(
      "Another machine serves from the database at CARDPRESS_DATABASE_URL. This version works with one at a time: stop that one first, and this one goes on with its work.",
    );
  }
  const looking = setInterval(async () => {
    // When the server cannot be reached, the store reports it.
    if (await take().catch(() => true)) return;
    log.error("serving_lock_lost", { remedy: "Another machine serves from the same database: stop one." });
  }, LOOK_MS);
  return {
    release: () => {
      clearInterval(looking);
      end();
    },
  };
}
