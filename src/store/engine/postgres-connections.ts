import { SQL } from "bun";
import { drizzle } from "drizzle-orm/pg-proxy";
import PQueue from "p-queue";
import { postgresTables } from "../../../db/postgres-schema.ts";
import type { Database, Tx } from "../store.ts";
import { NoAnswer } from "./postgres-errors.ts";

/** Time limit for opening a connection, in seconds, the driver's unit. */
const CONNECT_SECONDS = 5;
/** Unused for so long a connection is closed: firewalls forget silent ones, and tell neither end. */
const MAX_IDLE_MS = 60_000;
/**
 * The server looks after so many seconds of silence whether we are still there, and after a minute gives up a
 * connection whose end it never learnt of, with what it holds. By itself it would after two hours.
 */
const KEEPALIVE = {
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

type Query = (text: string, parameters: unknown[], asRows: boolean) => Promise<unknown[]>;

/** One connection to the server, unusable for good once lost. Its queries run one after another. */
export interface Connection {
  /**
   * For queries in its transaction; stays the same object, so that statements prepared for it stay prepared.
   */
  readonly tx: Tx;
  /** Rejects everything after a failure, because the server has aborted the transaction. */
  readonly query: Query;
  /**
   * Runs a statement regardless of an earlier failure; several, without parameters, when separated by
   * semicolons.
   */
  run(text: string): Promise<unknown>;
  /**
   * What a transaction begins with besides: its limits, where a pooler is in between, which keeps nothing of
   * a session; else empty.
   */
  readonly limits: string;
  /** Clears the failure, for a new transaction. */
  begin(): void;
  /** The first failure of a query since begin(). */
  failure(): unknown;
  isOpen(): boolean;
  /** Ends it at once; pending queries reject. */
  cut(): void;
}

export interface ConnectionOptions {
  url: string;
  /** The maximum number of connections. */
  max: number;
  readOnly: boolean;
  /** The server's own limit for a statement, ms. */
  statementTimeoutMs: number;
  /** How long a transaction may ask nothing before the server ends it, ms. */
  idleTimeoutMs: number;
}

export interface Connections {
  /**
   * Lends a connection to `work`. After `deadlineMs`, including the wait for a free one, cuts it and throws
   * NoAnswer: a frozen server and a dead network raise no error of their own.
   */
  use<T>(deadlineMs: number, work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A connection that nobody uses, and since when, in ms of performance.now(). */
interface Idle {
  connection: Connection;
  since: number;
}

/**
 * A custom pool: a single hung connection must be cut without the others, and Drizzle keeps prepared
 * statements per connection.
 */
export function openConnections(options: ConnectionOptions): Connections {
  const places = new PQueue({ concurrency: options.max });
  const idle: Idle[] = [];
  /** Those unused since before this moment. The first has been idle longest. */
  const cutIdleSince = (moment: number) => {
    while (idle[0] && idle[0].since <= moment) idle.shift()?.connection.cut();
  };
  const pruning = setInterval(() => cutIdleSince(performance.now() - MAX_IDLE_MS), MAX_IDLE_MS / 2).unref();
  const lent = async <T>(late: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> => {
    late.throwIfAborted();
    let connection = idle.pop()?.connection;
    while (connection && !connection.isOpen()) connection = idle.pop()?.connection;
    const used = connection ?? (await connect(options, late));
    late.addEventListener("abort", used.cut);
    try {
      late.throwIfAborted();
      return await work(used);
    } finally {
      late.removeEventListener("abort", used.cut);
      if (used.isOpen()) idle.push({ connection: used, since: performance.now() });
    }
  };
  return {
    use: (deadlineMs, work) => {
      const late = new AbortController();
      const began = performance.now();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          const reason = new NoAnswer(deadlineMs);
          late.abort(reason);
          // What silenced this connection may have silenced all: each would cost its next user as long.
          cutIdleSince(began);
          reject(reason);
        }, deadlineMs);
        places
          .add(() => lent(late.signal, work))
          .then(resolve, reject)
          .finally(() => clearTimeout(timer));
      });
    },
    close: async () => {
      clearInterval(pruning);
      await places.onIdle();
      for (const { connection } of idle.splice(0)) connection.cut();
    },
  };
}

/** Where a pooler is in between, by address: it refuses the limits that a session is to begin with. */
const pooled = new Set<string>();

/** `late` cuts it while it is being opened; afterwards that is up to its user. */
async function connect(options: ConnectionOptions, late: AbortSignal): Promise<Connection> {
  try {
    const connection = await connectOnce(options, late);
    if (pooled.has(options.url) || (await hasLimits(connection, options))) return connection;
    connection.cut();
  } catch (error) {
    if (pooled.has(options.url) || !/unsupported startup parameter/.test(String(error))) throw error;
  }
  pooled.add(options.url);
  return connectOnce(options, late);
}

/**
 * A pooler may also be set to pass by what it does not know. Unprepared, since it may not know that either.
 */
async function hasLimits({ run }: Connection, { statementTimeoutMs }: ConnectionOptions): Promise<boolean> {
  const [found] = (await run("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")) as {
    setting: string;
  }[];
  return found?.setting === String(statementTimeoutMs);
}

async function connectOnce(options: ConnectionOptions, late: AbortSignal): Promise<Connection> {
  const { url, readOnly, statementTimeoutMs, idleTimeoutMs } = options;
  const isPooled = pooled.has(url);
  const limits = {
    statement_timeout: String(statementTimeoutMs),
    idle_in_transaction_session_timeout: String(idleTimeoutMs),
    default_transaction_read_only: readOnly ? "on" : "off",
    ...KEEPALIVE,
  };
  let isOpen = true;
  const client = new SQL(url, {
    max: 1,
    connectionTimeout: CONNECT_SECONDS,
    onclose: () => {
      isOpen = false;
    },
    // With a pooler the next statement may come to another session, which knows nothing of what this one has
    // prepared.
    prepare: !isPooled,
    connection: { application_name: "cardpress", ...(isPooled ? {} : limits) },
  });
  const cut = () => {
    isOpen = false;
    void client.close({ timeout: 0 });
  };
  late.addEventListener("abort", cut, { once: true });
  // After losing its connection a client continues on a new one, outside any transaction; a reserved
  // connection does not.
  const reserved = await client.reserve();
  let failure: unknown;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => PromiseLike<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const query: Query = (text, parameters, asRows) =>
    inTurn(async () => {
      if (failure !== undefined) throw failure;
      try {
        const asked = reserved.unsafe(text, parameters);
        return (await (asRows ? asked.values() : asked)) as unknown[];
      } catch (error) {
        failure = error;
        throw error;
      }
    });
  return {
    tx: transactionOn(query),
    limits: isPooled ? asStatements(options) : "",
    query,
    run: (text) => inTurn(() => reserved.unsafe(text)),
    begin: () => {
      failure = undefined;
    },
    failure: () => failure,
    isOpen: () => isOpen,
    cut,
  };
}

function asStatements({ readOnly, statementTimeoutMs, idleTimeoutMs }: ConnectionOptions): string {
  const timeouts = `SET LOCAL statement_timeout = ${statementTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`;
  return `; ${timeouts}${readOnly ? "; SET TRANSACTION READ ONLY" : ""}`;
}

/** Rows that refer to these may still be written meanwhile: their keys do not change. */
function lock<Query>(found: Query, how: { skipLocked?: true }): Query {
  const lockable = found as unknown as { for(strength: "no key update", how: object): Query };
  return lockable.for("no key update", how);
}

/**
 * A transaction whose queries run through `query`: rows as lists of values in column order where they are
 * read.
 */
export function transactionOn(query: Query): Tx {
  const db = drizzle(async (text, parameters, method) => ({
    rows: await query(text, parameters, method === "all"),
  }));
  return {
    // The Postgres and SQLite builders behave alike as long as they are awaited.
    db: db as unknown as Database,
    t: postgresTables,
    rawQuery: (text, parameters) => query(text, parameters, false) as Promise<Record<string, unknown>[]>,
    // Concurrent claims skip a row being taken, instead of waiting for it and finding it gone.
    claimable: (found) => lock(found, { skipLocked: true }),
    locked: (found) => lock(found, {}),
  };
}
