import { setTimeout as sleep } from "node:timers/promises";
import { SOURCE_HOLD_MS, SOURCE_LEAVING_MS } from "../core/limits.ts";
import type { Ask } from "../core/ports.ts";
import { DATABASE_NOW as NOW } from "./database-clock.ts";
import type { SharedHolds } from "./holds.ts";

/** How often a create looks whether a removal is over. */
const LOOK_MS = 50;
/** Stands for the holder of a source that is being removed. */
const LEAVING = "leaving";

/** Holds in a table of the database that the processes share; each ends by itself some time after its process was killed. */
export function sharedHolds({ ask, name }: { ask: Ask; name: string }): SharedHolds {
  let opened = 0;
  const isLeaving = async (sha256: string) => {
    const found = await ask(
      `SELECT 1 FROM source_holds WHERE sha256 = $1 AND holder = '${LEAVING}' AND until > ${NOW}`,
      [sha256],
    );
    return found.length > 0;
  };
  const withdraw = async (sha256: string) =>
    void (await ask(`DELETE FROM source_holds WHERE holder = '${LEAVING}' AND sha256 = $1`, [sha256]));
  return {
    open: () => {
      const holder = `${name}.${++opened}`;
      return {
        add: async (sha256) => {
          await ask(
            `INSERT INTO source_holds (holder, sha256, until) VALUES ($1, $2, ${NOW} + $3::bigint)
             ON CONFLICT (holder, sha256) DO UPDATE SET until = excluded.until`,
            [holder, sha256, SOURCE_HOLD_MS],
          );
          // A statement of its own: one sees only what was there when it began.
          while (await isLeaving(sha256)) await sleep(LOOK_MS);
        },
        close: async () => void (await ask("DELETE FROM source_holds WHERE holder = $1", [holder])),
      };
    },
    announce: async (sha256) => {
      const announced = await ask(
        `INSERT INTO source_holds AS h (holder, sha256, until) VALUES ('${LEAVING}', $1, ${NOW} + $2::bigint)
         ON CONFLICT (holder, sha256) DO UPDATE SET until = excluded.until WHERE h.until <= ${NOW} RETURNING 1 AS mine`,
        [sha256, SOURCE_LEAVING_MS],
      );
      if (announced.length === 0) return false;
      const held = await ask(
        `SELECT 1 FROM source_holds WHERE sha256 = $1 AND holder <> '${LEAVING}' AND until > ${NOW} LIMIT 1`,
        [sha256],
      );
      if (held.length > 0) await withdraw(sha256);
      return held.length === 0;
    },
    withdraw,
    sweep: async () => void (await ask(`DELETE FROM source_holds WHERE until <= ${NOW}`, [])),
  };
}
