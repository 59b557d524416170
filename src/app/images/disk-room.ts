import { diskLow } from "../../core/partner-refusals.ts";
import type { Clock, Log } from "../../core/ports.ts";
import { SECOND_MS } from "../../core/time.ts";
import { inUnits } from "../../system/disk-space.ts";

/** How long one look at the disk counts: less than the largest burst of creates fills of what is kept free. */
const LOOK_MS = SECOND_MS;
/** Somebody has to make room, or the hourly clearing away has to. */
const RETRY_AFTER_SECONDS = 60;

/** Whether the disk has room for what a new image will need. */
export interface DiskRoom {
  /** Throws SERVICE_OVERLOADED where less than the minimum is free, before anything is reserved. */
  refuseWhenLow(): Promise<void>;
}

export interface DiskRoomDeps {
  clock: Clock;
  log: Log;
  /** Bytes that must stay free; 0 looks at nothing. */
  minFreeBytes: number;
  /** Bytes that are free now. */
  free: () => Promise<number>;
}

/** Looks at the disk at most once a second. What is accepted already goes on: its room is what the minimum keeps free. */
export function diskRoom({ clock, log, minFreeBytes, free }: DiskRoomDeps): DiskRoom {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLow = false;
  const look = async () => {
    // A disk that cannot be asked is told by whatever is written next.
    const bytes = await free().catch(() => Number.POSITIVE_INFINITY);
    const was = isLow;
    isLow = bytes < minFreeBytes;
    if (isLow && !was)
      log.error("disk_low", {
        free: inUnits(bytes),
        minimum: inUnits(minFreeBytes),
        remedy: "Creates are refused until there is room. The console's page Disk says what takes it.",
      });
    if (was && !isLow) log.info("disk_room_again", { free: inUnits(bytes) });
  };
  return {
    refuseWhenLow: async () => {
      if (minFreeBytes === 0) return;
      if (clock.elapsed() - lookedAt >= LOOK_MS) {
        lookedAt = clock.elapsed();
        await look();
      }
      if (isLow) throw diskLow(RETRY_AFTER_SECONDS);
    },
  };
}
