import { setTimeout as sleep } from "node:timers/promises";
import { REQUEST_STORAGE_MS, SOURCE_HOLD_MS, SOURCE_LEAVING_MS } from "../core/limits.ts";
import { patiently, withoutDeadlineBudget } from "../core/patience.ts";
import type { RawQuery } from "../core/ports.ts";
import { StorageUnavailable } from "../core/storage-unavailable.ts";
import { DATABASE_NOW as NOW } from "./database-clock.ts";
import type { SharedHolds } from "./holds.ts";

/** How often a create looks whether a removal is over. */
const LOOK_MS = 50;
/** Stands for the holder of a source that is being removed. */
const LEAVING = "leaving";

/**
 * Holds in a table of the database that the processes share; each ends by itself some time after its process
 * was killed.
 */
export function sharedHolds({ rawQuery, name }: { rawQuery: RawQuery; name: string }): SharedHolds {
  let opened = 0;
  const isLeaving = async (sha256: string) => {
    const found = await rawQuery(
      `SELECT 1 FROM source_holds WHERE sha256 = $1 AND holder = '${LEAVING}' AND until > ${NOW}`,
      [sha256],
    );
    return found.length > 0;
  };
  /**
   * The wait counts as one for the database: it is over soon, unless the server that removes it has died
   * or cannot say so.
   */
  const untilLeft = (sha256: string) =>
    patiently(REQUEST_STORAGE_MS, async (limitMs) => {
      for (const until = performance.now() + limitMs; await isLeaving(sha256); ) {
        if (performance.now() >= until)
          throw new StorageUnavailable(
            new Error("another server has not yet said that it removed the photo"),
          );
        await sleep(LOOK_MS);
      }
    });
  /**
   * A request that has no time left must not leave a row that others wait for: then it goes once the request
   * is over.
   */
  const remove = async (condition: string, values: unknown[]) => {
    const removed = () => rawQuery(`DELETE FROM source_holds WHERE ${condition}`, values);
    try {
      await removed();
    } catch (error) {
      void withoutDeadlineBudget(removed).catch(() => {});
      throw error;
    }
  };
  return {
    open: () => {
      const holder = `${name}.${++opened}`;
      return {
        add: async (sha256) => {
          await rawQuery(
            `INSERT INTO source_holds (holder, sha256, until) VALUES ($1, $2, ${NOW} + $3::bigint)
             ON CONFLICT (holder, sha256) DO UPDATE SET until = excluded.until`,
            [holder, sha256, SOURCE_HOLD_MS],
          );
          // A statement of its own: one sees only what was there when it began.
          await untilLeft(sha256);
        },
        close: () => remove("holder = $1", [holder]),
      };
    },
    announce: async (sha256) => {
      const announced = await rawQuery(
        `INSERT INTO source_holds AS h (holder, sha256, until) VALUES ('${LEAVING}', $1, ${NOW} + $2::bigint)
         ON CONFLICT (holder, sha256) DO UPDATE SET until = excluded.until WHERE h.until <= ${NOW} RETURNING until`,
        [sha256, SOURCE_LEAVING_MS],
      );
      const [mine] = announced;
      if (!mine) return undefined;
      // Its end tells it from one that somebody else makes later.
      const withdraw = () =>
        remove(`holder = '${LEAVING}' AND sha256 = $1 AND until = $2::bigint`, [sha256, mine.until]);
      const held = await rawQuery(
        `SELECT 1 FROM source_holds WHERE sha256 = $1 AND holder <> '${LEAVING}' AND until > ${NOW} LIMIT 1`,
        [sha256],
      );
      if (held.length === 0) return { withdraw };
      await withdraw();
      return undefined;
    },
    sweep: async () => void (await rawQuery(`DELETE FROM source_holds WHERE until <= ${NOW}`, [])),
  };
}
