import { OperatorError, Refusal } from "../../core/errors.ts";
import { StorageUnavailable } from "../../core/storage-unavailable.ts";

/** No answer came in time: the server is frozen or cannot be reached. */
export class NoAnswer extends Error {
  override name = "NoAnswer";

  constructor(afterMs: number) {
    super(`PostgreSQL gave no answer within ${Number((afterMs / 1000).toFixed(1))} s`);
  }
}

/** The connection was lost during the commit, so it is unknown whether the transaction was committed. */
export class CommitUnknown extends Error {
  override name = "CommitUnknown";

  constructor(cause: Error) {
    super(`the connection was lost during the commit: ${cause.message}`, { cause });
  }
}

/**
 * SQLSTATEs after which the same work may well succeed on a retry (PostgreSQL manual, appendix A): another
 * transaction wrote the same key first, a serialization failure, a deadlock.
 */
const REPEATABLE = /^(23505|40001|40P01)$/;
/**
 * SQLSTATEs that are about the server, not the query: connection, other transactions, resources,
 * intervention, system; read-only.
 */
const OUT_OF_ORDER = /^(08|40|53|57|58|XX|25006|25P03|55P03)/;

const LOST = "ERR_POSTGRES_CONNECTION_CLOSED";

/** As the driver says it. */
export function lostConnection(): Error {
  return Object.assign(new Error("the connection was closed"), { code: LOST });
}

const NUL_IN_TEXT = "22021";
const LACKS_RIGHT = "42501";

/** Whether nothing was committed and a retry makes sense. */
export function isRepeatable(error: unknown): boolean {
  if (reasonOf(error) instanceof CommitUnknown) return false;
  const state = stateOf(error);
  return REPEATABLE.test(state) || isLost(error);
}

/** Whether another transaction changed what this one read or writes, or each waited for the other. */
export function metAnother(error: unknown): boolean {
  return /^40/.test(stateOf(error));
}

/** Whether the connection was lost before an answer came. */
export function isLost(error: unknown): boolean {
  const cause = reasonOf(error);
  return cause !== undefined && (cause.code === LOST || /^(57P0|25P03)/.test(stateOf(error)));
}

/** Translates server trouble into the store's own errors; returns any other error unchanged. */
export function asServerFault(error: unknown, during?: string): unknown {
  if (error instanceof Refusal || error instanceof StorageUnavailable) return error;
  const cause = reasonOf(error);
  if (!cause) return error;
  if (stateOf(error) === NUL_IN_TEXT) return refusedNul(error);
  const isFault =
    cause instanceof NoAnswer ||
    cause instanceof CommitUnknown ||
    /^ERR_POSTGRES_(?!SERVER_ERROR)/.test(cause.code) ||
    OUT_OF_ORDER.test(stateOf(error));
  return isFault ? new StorageUnavailable(cause, during) : error;
}

/** Form fields and addresses may contain a NUL, which SQLite stores and Postgres does not. */
function refusedNul(cause: unknown): Refusal {
  return new Refusal(
    "INVALID_REQUEST",
    "A text holds a NUL character, which cannot be stored. Leave it out.",
    {
      cause,
    },
  );
}

/** Whether the database's user lacks a right, however the error was wrapped or renamed on its way. */
export function mayNot(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause)
    if ("errno" in e && e.errno === LACKS_RIGHT) return true;
  return false;
}

/** The SQLSTATE; "" for an error that did not come from the server. */
function stateOf(error: unknown): string {
  const cause = reasonOf(error);
  return cause && "errno" in cause && typeof cause.errno === "string" ? cause.errno : "";
}

/** The error of the driver or the pool, unwrapped if Drizzle has wrapped it. */
function reasonOf(error: unknown): (Error & { code: string }) | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof NoAnswer || e instanceof CommitUnknown) return Object.assign(e, { code: e.name });
    if ("code" in e && typeof e.code === "string" && e.code.startsWith("ERR_POSTGRES_"))
      return e as Error & { code: string };
  }
  return undefined;
}

/** What to tell the operator when the database refuses the connection. */
export function unreachable({ message }: Error): OperatorError {
  return new OperatorError(
    `The database at CARDPRESS_DATABASE_URL cannot be used: ${message}. Look whether the server runs and takes connections from here, and whether user, password and database are right.`,
  );
}
