import { diskLow } from "../../core/partner-refusals.ts";
import type { Clock, Log } from "../../core/ports.ts";
import { SECOND_MS } from "../../core/time.ts";
import { inUnits } from "../../system/disk-space.ts";

/** How long a reading is reused: the largest burst of creates fills less than the reserve in that time. */
const LOOK_MS = SECOND_MS;
/** An operator, or the hourly clean-up, has to make room first. */
const RETRY_AFTER_SECONDS = 60;

/** Whether the disk has room for a new image. */
export interface DiskRoom {
  /** Throws SERVICE_OVERLOADED, before anything is reserved, when less than the minimum is free. */
  refuseWhenLow(): Promise<void>;
}

export interface DiskRoomDeps {
  clock: Clock;
  log: Log;
  /** Bytes that must stay free; 0 turns the check off. */
  minFreeBytes: number;
  /** Bytes currently free. */
  free: () => Promise<number>;
}

/** Reads the disk at most once a second. Work already accepted continues: the minimum is its reserve. */
export function diskRoom({ clock, log, minFreeBytes, free }: DiskRoomDeps): DiskRoom {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLow = false;
  const look = async () => {
    // If the disk cannot be queried, the next write will report why.
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
