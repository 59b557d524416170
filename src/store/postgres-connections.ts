import { SQL } from "bun";
import { drizzle } from "drizzle-orm/pg-proxy";
import PQueue from "p-queue";
import { postgresTables } from "../../db/postgres-schema.ts";
import { NoAnswer } from "./postgres-errors.ts";
import type { Database, Tx } from "./store.ts";

/** How long a new connection may take, in seconds: the driver's unit. */
const CONNECT_SECONDS = 5;

type Query = (text: string, parameters: unknown[], asRows: boolean) => Promise<unknown[]>;

/** One connection to the server, which ends for good when it is lost. Its queries run one after another. */
export interface Connection {
  /** For queries in its transaction; stays the same object, so that what is prepared for it stays prepared. */
  readonly tx: Tx;
  /** Runs nothing more after a failure: the server has given the transaction up. */
  readonly query: Query;
  /** Runs a statement outside of that rule; several, without parameters, where separated by semicolons. */
  run(text: string): Promise<unknown>;
  /** Forgets the failure: a new transaction begins. */
  begin(): void;
  /** The first failure of a query since begin(). */
  failure(): unknown;
  isOpen(): boolean;
  /** Ends it at once; what waits for an answer rejects. */
  cut(): void;
}

export interface ConnectionOptions {
  url: string;
  /** The most of them at a time. */
  max: number;
  readOnly: boolean;
  /** What the server itself is told to end after, ms. */
  statementTimeoutMs: number;
}

export interface Connections {
  /**
   * Lends a connection to `work`. After `deadlineMs`, the wait for a free one included, it is cut and NoAnswer thrown:
   * a frozen server and a dead network give no error of their own.
   */
  use<T>(deadlineMs: number, work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A pool of our own: one connection that hangs must be cut alone, and Drizzle keeps what is prepared by connection. */
export function openConnections(options: ConnectionOptions): Connections {
  const places = new PQueue({ concurrency: options.max });
  const idle: Connection[] = [];
  const lent = async <T>(late: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> => {
    late.throwIfAborted();
    let connection = idle.pop();
    while (connection && !connection.isOpen()) connection = idle.pop();
    const used = connection ?? (await connect(options));
    late.addEventListener("abort", used.cut);
    try {
      late.throwIfAborted();
      return await work(used);
    } finally {
      late.removeEventListener("abort", used.cut);
      if (used.isOpen()) idle.push(used);
    }
  };
  return {
    use: (deadlineMs, work) => {
      const late = new AbortController();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          const reason = new NoAnswer(deadlineMs);
          late.abort(reason);
          reject(reason);
        }, deadlineMs);
        places
          .add(() => lent(late.signal, work))
          .then(resolve, reject)
          .finally(() => clearTimeout(timer));
      });
    },
    close: async () => {
      await places.onIdle();
      for (const connection of idle.splice(0)) connection.cut();
    },
  };
}

async function connect({ url, readOnly, statementTimeoutMs }: ConnectionOptions): Promise<Connection> {
  let isOpen = true;
  const client = new SQL(url, {
    max: 1,
    connectionTimeout: CONNECT_SECONDS,
    onclose: () => {
      isOpen = false;
    },
    connection: {
      application_name: "cardpress",
      statement_timeout: String(statementTimeoutMs),
      idle_in_transaction_session_timeout: String(statementTimeoutMs),
      default_transaction_read_only: readOnly ? "on" : "off",
    },
  });
  // A client that lost its connection goes on with a new one, outside of any transaction; a reserved connection does not.
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
    query,
    run: (text) => inTurn(() => reserved.unsafe(text)),
    begin: () => {
      failure = undefined;
    },
    failure: () => failure,
    isOpen: () => isOpen,
    cut: () => {
      isOpen = false;
      void client.close({ timeout: 0 });
    },
  };
}

/** What queries need to run through `query`: rows as lists of values, in the order of the columns, where they are read. */
export function transactionOn(query: Query): Tx {
  const db = drizzle(async (text, parameters, method) => ({
    rows: await query(text, parameters, method === "all"),
  }));
  return {
    // Equal where queries are awaited builders.
    db: db as unknown as Database,
    t: postgresTables,
    // Others pass by what one is just taking, instead of waiting for it and finding it gone.
    claimable: (found) =>
      (found as unknown as { for(strength: "update", how: { skipLocked: true }): typeof found }).for(
        "update",
        { skipLocked: true },
      ),
  };
}
