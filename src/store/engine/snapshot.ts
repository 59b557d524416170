import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../../core/errors.ts";

// Whole copies of the SQLite file. They are read in plain SQL, because a copy may be of an older schema than
// this program's.

/** Longer than a concurrent write takes. */
const BUSY_TIMEOUT_MS = 10_000;

/** Opens a database for reading as it is: nothing is migrated. */
export function openAsIs(file: string): Database {
  // A read-only connection will not do: the write-ahead log's index is shared between all readers.
  const client = new Database(file, { readwrite: true });
  client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  client.run("PRAGMA query_only = ON");
  return client;
}

/**
 * Copies the database as of one moment into a new, synced file readable by this user only. Writers continue
 * meanwhile: it only reads, in one transaction. Blocks this process: about 10 s per gigabyte. Throws an
 * OperatorError, and leaves nothing, when there is no room.
 */
export function snapshotDatabase(database: string, to: string): void {
  const client = new Database(database, { readwrite: true });
  try {
    client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // VACUUM INTO accepts an empty file, and would otherwise create one that others may read.
    closeSync(openSync(to, "wx", 0o600));
    client.query("VACUUM INTO ?").run(to);
    sync(to);
    sync(dirname(to));
  } catch (error) {
    rmSync(to, { force: true });
    throw new OperatorError(
      `${database} cannot be copied to ${to}: ${(error as Error).message}. Check the free space and the permissions, and what "cardpress doctor" says of the database.`,
    );
  } finally {
    client.close();
  }
}

function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** The largest size a copy of the database can have, in bytes. */
export function databaseBytes(client: Database): number {
  const [size] = client
    .query(
      "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
    )
    .values()[0] as [number];
  return size;
}

/** The findings of `PRAGMA integrity_check`, in words; empty when every page, index and row is sound. */
export function integrityProblems(client: Database): string[] {
  return client
    .query("PRAGMA integrity_check(5)")
    .values()
    .map(([verdict]) => String(verdict))
    .filter((verdict) => verdict !== "ok");
}

/** The names of the migrations a database has. */
export function appliedMigrations(client: Database): string[] {
  return client
    .query("SELECT name FROM schema_migrations ORDER BY name")
    .values()
    .map(([name]) => String(name));
}

export interface SnapshotCounts {
  accounts: number;
  images: number;
  unfinished: number;
  ledger_entries: number;
  /** Finished pictures that are still served. */
  pictures: number;
}

/** `now` is the moment of the snapshot, epoch milliseconds. */
export function countRows(client: Database, now: number): SnapshotCounts {
  return client
    .query(
      `SELECT (SELECT count(*) FROM accounts) AS accounts,
        (SELECT count(*) FROM images) AS images,
        (SELECT count(*) FROM images WHERE completed_at IS NULL) AS unfinished,
        (SELECT count(*) FROM ledger_entries) AS ledger_entries,
        count(*) + ${hasBacks(client) ? "count(back_output_name)" : "0"} AS pictures
      FROM images WHERE ${SERVED}`,
    )
    .get({ $now: now }) as SnapshotCounts;
}

const SERVED = "output_name IS NOT NULL AND purged_at IS NULL AND expires_at > $now";

export interface SnapshotPicture {
  name: string;
  bytes: number;
  expiresAt: number;
}

/** The finished pictures that were being served at `now`, one by one, both sides of a card with two. */
export function picturesOf(client: Database, now: number): IterableIterator<SnapshotPicture> {
  const of = (prefix: string) =>
    `SELECT id, ${prefix}output_name AS name, ${prefix}output_bytes AS bytes, expires_at AS expiresAt FROM images WHERE ${SERVED}`;
  const backs = hasBacks(client) ? ` UNION ALL ${of("back_")} AND back_output_name IS NOT NULL` : "";
  return client
    .query(`SELECT name, bytes, expiresAt FROM (${of("")}${backs}) ORDER BY id`)
    .iterate({ $now: now }) as IterableIterator<SnapshotPicture>;
}

/** An earlier version's database, backed up unchanged, knows no backs. */
function hasBacks(client: Database): boolean {
  return columnsOf(client).includes("back_output_name");
}

function columnsOf(client: Database): unknown[] {
  return client.query("SELECT name FROM pragma_table_info('images')").values().flat();
}

/** The digest of every published template, and of those that unfinished images were accepted with. */
export function neededTemplates(client: Database): string[] {
  // An earlier version's database, backed up unchanged, does not have these tables.
  if (!columnsOf(client).includes("template_digest")) return [];
  const ofImages =
    "SELECT template_digest FROM images WHERE completed_at IS NULL AND template_digest IS NOT NULL";
  const { length: publishes } = client.query("SELECT name FROM pragma_table_info('templates')").values();
  const all = publishes > 0 ? `${ofImages} UNION SELECT digest FROM templates` : ofImages;
  return client
    .query(`SELECT DISTINCT template_digest FROM (${all}) ORDER BY 1`)
    .values()
    .map(([digest]) => String(digest));
}

/** The SHA-256 of every photo, badge and other picture that an unfinished image needs. */
export function neededSources(client: Database): string[] {
  // An earlier version's database, backed up unchanged, does not have this table.
  const { length: hasPictures } = client
    .query("SELECT name FROM pragma_table_info('image_pictures')")
    .values();
  const pictures = hasPictures
    ? "UNION SELECT sha256 FROM image_pictures JOIN images ON images.id = image_id WHERE completed_at IS NULL"
    : "";
  return client
    .query(
      `SELECT source_sha256 FROM images WHERE completed_at IS NULL AND source_sha256 IS NOT NULL
      UNION SELECT badge_sha256 FROM images WHERE completed_at IS NULL AND badge_sha256 IS NOT NULL
      ${pictures} ORDER BY 1`,
    )
    .values()
    .map(([sha256]) => String(sha256));
}

/** The files of uploaded photos that cards can still be made of. */
export function uploadedSources(client: Database, now: number): string[] {
  return client
    .query("SELECT DISTINCT sha256 FROM photos WHERE expires_at > $now")
    .values({ $now: now } as never)
    .map(([sha256]) => String(sha256));
}
