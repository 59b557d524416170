import type { Config } from "../config.ts";
import type { Meter } from "../core/metrics.ts";
import type { Clock, Log, Random } from "../core/ports.ts";
import type { SecretBox } from "../core/secret-box.ts";
import type { Store } from "../store/store.ts";

/** What every use case needs. */
export interface AppContext {
  /** This process among all that work on the store: its leases carry this name. */
  node: string;
  config: Config;
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  /** Counts what happens, for /metrics. */
  meter: Meter;
  /** Seals what must be readable again, such as webhook secrets. */
  secrets: SecretBox;
}

/** When a transaction happens, and where its ids come from. */
export interface Moment {
  now: number;
  random: Random;
}
