import { getTableName } from "drizzle-orm";
import { postgresTables } from "../../../db/postgres-schema.ts";
import { DATABASE_CONNECTIONS, VACUUM_PAUSE_MS } from "../../core/limits.ts";
import { patiently } from "../../core/patience.ts";
import type { RawQuery } from "../../core/ports.ts";
import { StorageUnavailable } from "../../core/storage-unavailable.ts";
import type { Store, Tx } from "../store.ts";
import { type Connection, type Connections, openConnections, transactionOn } from "./postgres-connections.ts";
import {
  asServerFault,
  CommitUnknown,
  isLost,
  isRepeatable,
  lostConnection,
  metAnother,
  unreachable,
} from "./postgres-errors.ts";
import { migratePostgres, refuseWhileOthersServe, underMigrationLock } from "./postgres-migrate.ts";

/** The limit for one query, or one transaction, with its retries. */
const DEADLINE_MS = 10_000;
/** Slightly earlier than the deadline, because the server's error tells more than a cut connection. */
const STATEMENT_TIMEOUT_MS = 8_000;
/** For commands that read everything. */
const PATIENT_MS = 60 * 60_000;
const MAX_TRIES = 5;
/** Those that personal data is deleted from, the images' first. */
const PERSONAL_TABLES = [
  postgresTables.images,
  postgresTables.imageMetadata,
  postgresTables.imagePictures,
  postgresTables.imageReceipts,
  postgresTables.webhookEvents,
  postgresTables.webhookDeliveries,
  postgresTables.deliveryAttempts,
  postgresTables.requestLog,
  postgresTables.requestPlayers,
  postgresTables.photos,
  postgresTables.setPlayers,
].map(getTableName);
/**
 * Index entries hold names too, so they go however few they are. Giving the file's end back would need the
 * table alone, and a table that is being vacuumed already needs no second time.
 */
const GENTLE_VACUUM = "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED)";

/**
 * A transaction only waits for our next query, so one that asks nothing for so long belongs to a frozen
 * process. Until it is ended by this, those that want the rows it has changed wait.
 */
const IDLE_TIMEOUT_MS = 3_000;
/** Between two tries of a transaction that met another one, growing with each. */
const CONTENTION_PAUSE_MS = 5;
const MAX_CONTENTION_PAUSE_MS = 200;

export interface PostgresOptions {
  /** Such as postgres://user:password@host:5432/database. */
  url: string;
  /** How many connections it opens at most; 20 unless given. */
  connections?: number;
  /** Let single queries take an hour, for commands that read everything. */
  patient?: boolean;
  /** How long a query or a transaction may take; 10 s unless given. */
  deadlineMs?: number;
}

export interface PostgresStore extends Store {
  /**
   * Outside of any transaction of the store. Where the connection is lost the statement is run again: it may
   * be done twice.
   */
  readonly rawQuery: RawQuery;
  /**
   * The same for several statements, separated by semicolons and possibly a transaction; a list of rows for
   * each.
   */
  script(text: string): Promise<unknown>;
  /**
   * One statement that takes its time, such as the rebuilding of an index: up to `ms`, and in no transaction.
   */
  withoutTimeout(text: string, ms: number): Promise<unknown>;
  /**
   * Runs `work` while no other process changes the database's schema. Before it changes what others serve
   * from it calls what it is given, which then throws an OperatorError.
   */
  migrating<T>(work: (refuseWhileOthersServe: () => Promise<void>) => Promise<T>): Promise<T>;
}

/**
 * Opens the database, migrates it to the newest schema and returns the store. Throws an OperatorError when it
 * cannot be reached or is newer than this program.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, patient = false, connections = DATABASE_CONNECTIONS } = options;
  const { readers: maxReaders, writers: maxWriters, statementPool: maxStatements } = shares(connections);
  const { deadlineMs = patient ? PATIENT_MS : DEADLINE_MS } = options;
  const statementTimeoutMs = patient ? PATIENT_MS : STATEMENT_TIMEOUT_MS;
  const idleTimeoutMs = patient ? PATIENT_MS : IDLE_TIMEOUT_MS;
  const limits = { url, statementTimeoutMs, idleTimeoutMs };
  const readers = openConnections({ ...limits, max: maxReaders, readOnly: true });
  const writers = openConnections({ ...limits, max: maxWriters, readOnly: false });
  try {
    await writers.use(PATIENT_MS, migratePostgres);
  } catch (error) {
    await writers.close();
    throw asOpeningError(error);
  }
  // Apart from the writers: no request waits for its rate limit behind a transaction.
  const statementPool = openConnections({ ...limits, max: maxStatements, readOnly: false });
  return {
    engine: "postgres",
    read: transactionOn(autocommit(readers, deadlineMs)),
    rawQuery: (text, parameters) =>
      autocommit(statementPool, deadlineMs)(text, parameters, false) as Promise<Record<string, unknown>[]>,
    script: (text) => script(statementPool, deadlineMs, text),
    withoutTimeout: (text, ms) => writers.use(ms, (connection) => withoutTimeout(connection, text, ms)),
    migrating: (work) =>
      writers.use(PATIENT_MS, (connection) =>
        underMigrationLock(connection, () => work(() => refuseWhileOthersServe(connection.query))),
      ),
    confirmSchema: () => writers.use(PATIENT_MS, migratePostgres),
    // Noticing others' commits would cost as much as a query.
    version: () => null,
    problem: () => null,
    write: (name, fn, { concurrent = false } = {}) => {
      const begin = `BEGIN ISOLATION LEVEL ${concurrent ? "READ COMMITTED" : "SERIALIZABLE"}, READ WRITE`;
      return repeatedly(deadlineMs, {
        work: (left) => writers.use(left, (connection) => transact(connection, begin, fn)),
        isRepeatable,
        name,
      });
    },
    // The server vacuums by itself.
    maintain: async () => {},
    erase: () => writers.use(PATIENT_MS, erase),
    close: async () => {
      await Promise.all([readers.close(), writers.close(), statementPool.close()]);
    },
  };
}

/** Two fifths for what reads, two fifths for transactions, the rest for single statements. */
function shares(connections: number) {
  const readers = Math.floor(0.4 * connections);
  return { readers, writers: readers, statementPool: connections - 2 * readers };
}

interface Repeated<T> {
  work: (leftMs: number) => Promise<T>;
  isRepeatable: (error: unknown) => boolean;
  name?: string;
}

/** Does it again after an error that may not come again, all within one deadline. */
function repeatedly<T>(deadlineMs: number, { work, isRepeatable, name }: Repeated<T>): Promise<T> {
  return patiently(deadlineMs, async (limitMs) => {
    const until = performance.now() + limitMs;
    for (let tried = 1; ; tried++) {
      try {
        return await work(Math.max(1, until - performance.now()));
      } catch (error) {
        // Of those that meet one wins each time, so those that go on trying get through.
        const isContended = metAnother(error);
        const mayTry = isContended ? performance.now() < until : tried < MAX_TRIES;
        if (!mayTry || !isRepeatable(error)) throw asServerFault(error, name);
        if (isContended) await Bun.sleep(Math.min(tried * CONTENTION_PAUSE_MS, MAX_CONTENTION_PAUSE_MS));
      }
    }
  });
}

/** Each query by itself, again where the connection was lost. */
function autocommit(connections: Connections, deadlineMs: number): Connection["query"] {
  return (text, parameters, asRows) =>
    repeatedly(deadlineMs, {
      work: (left) =>
        connections.use(left, (connection) =>
          one(connection, () => connection.query(text, parameters.map(findable), asRows)),
        ),
      isRepeatable: isLost,
    });
}

/** A query by itself; through a pooler in a transaction, which keeps its session and limits for as long. */
async function one<T>(connection: Connection, query: () => Promise<T>): Promise<T> {
  connection.begin();
  if (connection.limits === "") return query();
  try {
    await connection.run(`BEGIN${connection.limits}`);
    const found = await query();
    await connection.run("COMMIT");
    return found;
  } catch (error) {
    await connection.run("ROLLBACK").catch(() => connection.cut());
    throw error;
  }
}

async function script(connections: Connections, deadlineMs: number, text: string): Promise<unknown> {
  try {
    return await connections.use(deadlineMs, async (connection) => {
      try {
        return await connection.run(text);
      } catch (error) {
        // It may have begun a transaction.
        await connection.run("ROLLBACK").catch(() => connection.cut());
        throw error;
      }
    });
  } catch (error) {
    throw asServerFault(error);
  }
}

/** Postgres stores no NUL and refuses to search for one, so it is replaced by something equally absent. */
function findable(parameter: unknown): unknown {
  return typeof parameter === "string" ? parameter.replaceAll("\0", "\ufffd") : parameter;
}

async function transact<T>(connection: Connection, begin: string, fn: (tx: Tx) => Promise<T>): Promise<T> {
  connection.begin();
  try {
    await connection.run(begin + connection.limits);
    const result = await fn(connection.tx);
    // After a failed query, COMMIT would silently roll back.
    if (connection.failure() !== undefined) throw connection.failure();
    await commit(connection);
    return result;
  } catch (error) {
    if (!(error instanceof CommitUnknown)) await connection.run("ROLLBACK").catch(() => connection.cut());
    throw error;
  }
}

async function commit(connection: Connection): Promise<void> {
  // Nothing was asked of the server any more, so nothing can have been committed.
  if (!connection.isOpen()) throw lostConnection();
  try {
    await connection.run("COMMIT");
  } catch (error) {
    throw isLost(error) ? new CommitUnknown(error as Error) : error;
  }
}

/**
 * See Store.erase. Nobody waits: rows that are gone leave their pages, which is VACUUM's own work without
 * FULL, at its own gentle pace. The tables belong to every server, so whichever comes first does it, and none
 * again for hours.
 */
async function erase(connection: Connection): Promise<boolean> {
  connection.begin();
  const recent = await connection.query(
    "SELECT 1 FROM pg_stat_user_tables WHERE relid = $1::regclass AND last_vacuum > now() - $2::bigint * interval '1 ms'",
    [PERSONAL_TABLES[0], VACUUM_PAUSE_MS],
    true,
  );
  if (recent.length > 0) return false;
  await withoutTimeout(connection, `${GENTLE_VACUUM} ${PERSONAL_TABLES.join(", ")}`, PATIENT_MS);
  return true;
}

/** `ms`: the server's limit for the statement; 0 for none. */
async function withoutTimeout(connection: Connection, text: string, ms: number): Promise<void> {
  connection.begin();
  // What is set through a pooler would hold for the next user of that session.
  if (connection.limits !== "") {
    await connection.run(text);
    return;
  }
  await connection.run(`SET statement_timeout = ${ms}`);
  try {
    await connection.run(text);
  } finally {
    await connection.run("RESET statement_timeout");
  }
}

function asOpeningError(error: unknown): unknown {
  const fault = asServerFault(error);
  if (!(fault instanceof StorageUnavailable)) return error;
  return unreachable(fault);
}
