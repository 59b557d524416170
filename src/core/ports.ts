/** What the outside world supplies to the use cases, so that tests can control it. */

export interface Clock {
  /** Epoch milliseconds, UTC. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary origin; unaffected by changes to the time of day. */
  elapsed(): number;
  /** How long the time has gone unquestioned, in milliseconds; absent where nobody questions it. */
  settledForMs?(): number;
}

export interface Random {
  /** A new unguessable identifier: `prefix` + "_" + 24 letters and digits (about 142 bits). */
  id(prefix: string): string;
  bytes(length: number): Uint8Array;
}

export interface LogFields {
  [key: string]: unknown;
}

/** Writes one JSON line per event. Never pass it a key, a secret or the query of a photo URL. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Runs one statement in PostgreSQL's SQL, by itself, and returns its rows. */
export type RawQuery = (text: string, parameters: unknown[]) => Promise<Record<string, unknown>[]>;
