/** What the outside world supplies to the use cases, so that tests can hold it still. */

export interface Clock {
  /** Epoch milliseconds, UTC. */
  now(): number;
  /** Milliseconds since some moment; goes on evenly whatever the time of day is set to. */
  elapsed(): number;
}

export interface Random {
  /** A new unguessable identifier: `prefix` + "_" + 24 letters and digits (about 142 bits). */
  id(prefix: string): string;
  bytes(length: number): Uint8Array;
}

export interface LogFields {
  [key: string]: unknown;
}

/** One JSON line per event. Never given a key, a secret or a photo address's query. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}
