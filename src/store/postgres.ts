import { StorageUnavailable } from "../core/storage-unavailable.ts";
import { type Connection, openConnections, transactionOn } from "./postgres-connections.ts";
import { asServerFault, CommitUnknown, isLost, isRepeatable, unreachable } from "./postgres-errors.ts";
import { migratePostgres } from "./postgres-migrate.ts";
import type { Store, Tx } from "./store.ts";

/** Connections of one process, of each kind. PostgreSQL's own default is room for a hundred from everybody. */
const MAX_READERS = 8;
const MAX_WRITERS = 8;
/** How long one query, or one transaction with its repetitions, may take. */
const DEADLINE_MS = 10_000;
/** The server gives up a little earlier, which tells more than a cut connection. */
const STATEMENT_TIMEOUT_MS = 8_000;
/** For a command that reads everything. */
const PATIENT_MS = 60 * 60_000;
const MAX_TRIES = 5;
/** Serial transactions hold this advisory lock alone, those that may run side by side share it. Any number, always the same. */
const WRITE_LOCK = "7203115096624713";

export interface PostgresOptions {
  /** Such as postgres://user:password@host:5432/database. */
  url: string;
  /** Let single queries take an hour, for a command that reads everything. */
  patient?: boolean;
  /** How long a query or a transaction may take; 10 s unless given. */
  deadlineMs?: number;
}

/**
 * Opens the database, brings it to the newest schema and returns the store. Throws an OperatorError when it cannot be
 * reached or is newer than this program.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, patient = false } = options;
  const { deadlineMs = patient ? PATIENT_MS : DEADLINE_MS } = options;
  const statementTimeoutMs = patient ? PATIENT_MS : STATEMENT_TIMEOUT_MS;
  const readers = openConnections({ url, max: MAX_READERS, readOnly: true, statementTimeoutMs });
  const writers = openConnections({ url, max: MAX_WRITERS, readOnly: false, statementTimeoutMs });
  try {
    await writers.use(PATIENT_MS, migratePostgres);
  } catch (error) {
    await writers.close();
    throw asOpeningError(error);
  }
  const read = transactionOn(async (text, parameters, asRows) => {
    for (let tried = 1; ; tried++) {
      try {
        return await readers.use(deadlineMs, (connection) => {
          connection.begin();
          return connection.query(text, parameters.map(findable), asRows);
        });
      } catch (error) {
        if (tried < MAX_TRIES && isLost(error)) continue;
        throw asServerFault(error);
      }
    }
  });
  return {
    engine: "postgres",
    read,
    // Nothing tells of others' commits for less than a query.
    version: () => null,
    problem: () => null,
    write: async (name, fn, { sideBySide = false } = {}) => {
      const begin = `BEGIN; SELECT pg_advisory_xact_lock${sideBySide ? "_shared" : ""}(${WRITE_LOCK})`;
      const until = performance.now() + deadlineMs;
      for (let tried = 1; ; tried++) {
        try {
          const left = Math.max(1, until - performance.now());
          return await writers.use(left, (connection) => transact(connection, begin, fn));
        } catch (error) {
          if (tried < MAX_TRIES && isRepeatable(error)) continue;
          throw asServerFault(error, name);
        }
      }
    },
    // The server vacuums by itself.
    maintain: async () => {},
    erase: ({ maxBytes }) => writers.use(PATIENT_MS, (connection) => erase(connection, maxBytes)),
    close: async () => {
      await Promise.all([readers.close(), writers.close()]);
    },
  };
}

/** No text here holds a NUL, and the server refuses to look for one: what is looked for instead is found as little. */
function findable(parameter: unknown): unknown {
  return typeof parameter === "string" ? parameter.replaceAll("\0", "\ufffd") : parameter;
}

async function transact<T>(connection: Connection, begin: string, fn: (tx: Tx) => Promise<T>): Promise<T> {
  connection.begin();
  try {
    await connection.run(begin);
    const result = await fn(connection.tx);
    // A COMMIT after a failed query would roll back without a word.
    if (connection.failure() !== undefined) throw connection.failure();
    await commit(connection);
    return result;
  } catch (error) {
    if (!(error instanceof CommitUnknown)) await connection.run("ROLLBACK").catch(() => connection.cut());
    throw error;
  }
}

async function commit(connection: Connection): Promise<void> {
  try {
    await connection.run("COMMIT");
  } catch (error) {
    throw isLost(error) ? new CommitUnknown(error as Error) : error;
  }
}

/** See Store.erase. What PostgreSQL's own log and its archive keep is the server's. */
async function erase(connection: Connection, maxBytes: number | undefined): Promise<boolean> {
  connection.begin();
  const [[bytes] = [0]] = (await connection.query(
    "SELECT pg_database_size(current_database())",
    [],
    true,
  )) as unknown[][];
  if (maxBytes !== undefined && Number(bytes) > maxBytes) return false;
  await connection.run("SET statement_timeout = 0");
  try {
    await connection.run("VACUUM (FULL)");
  } finally {
    await connection.run("RESET statement_timeout");
  }
  return true;
}

function asOpeningError(error: unknown): unknown {
  const fault = asServerFault(error);
  if (!(fault instanceof StorageUnavailable)) return error;
  return unreachable(fault);
}
