import type { Config } from "../config.ts";
import type { Meter } from "../core/metrics.ts";
import type { Clock, Log, Random } from "../core/ports.ts";
import type { SecretBox } from "../core/secret-box.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Store } from "../store/store.ts";
import type { Endings } from "./images/endings.ts";

/** Dependencies shared by all use cases. */
export interface AppContext {
  /** Identifies this process among all that use the store; its leases carry this name. */
  node: string;
  config: Config;
  store: Store;
  /** The queue of renders. */
  jobs: Jobs;
  clock: Clock;
  random: Random;
  log: Log;
  /** Counters and timers for /metrics. */
  meter: Meter;
  /** Tells waiting creates that their images have ended. */
  endings: Endings;
  /** Encrypts what must be readable again, such as webhook secrets. */
  secrets: SecretBox;
}

/** When a transaction happens, and the source of its ids. */
export interface Moment {
  now: number;
  random: Random;
  /** The time may be wrong: no month begins by it. */
  isDoubtful?: boolean;
}
