import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import { DAY_MS } from "../core/time.ts";
import { STAGING_SUFFIX, writeWhole } from "../system/write-whole.ts";
import type { BlobKind, Blobs } from "./blobs.ts";
import { type Bucket, NoSuchRange } from "./bucket.ts";

/** The disk space that local copies may take. */
const CACHE_BYTES = 2 * 1024 ** 3;
/** A file requested this recently may still be in use, so it stays. */
const IN_USE_MS = 15 * 60_000;

/**
 * A used object is made young again this often at most: each time is a write, and in a bucket with versions
 * another copy. What is removed for its age, after days, has not been used for all of them but one.
 */
const RENEWED_AFTER_MS = DAY_MS;
/**
 * Written to see whether the bucket takes a picture: of the size of one, since a quota may still have room
 * for less.
 */
const PROBE = { key: "probe/picture", bytes: 512 * 1024 };

export interface BucketBlobsOptions {
  /** A folder on this machine for local copies; it can be deleted at any time. */
  cache: string;
  cacheBytes?: number;
  /** RENEWED_AFTER_MS unless given. */
  renewedAfterMs?: number;
  /** Cutouts can be made again from their photo within a second, so each machine keeps its own. */
  cutouts: Blobs;
}

const keyOf = (kind: BlobKind, name: string) => `${kind}/${name}`;

/** Blobs as objects in a bucket, with local copies for programs that read files. */
export function bucketBlobs(bucket: Bucket, options: BucketBlobsOptions): Blobs {
  const { cutouts, renewedAfterMs = RENEWED_AFTER_MS } = options;
  const copies = localCopies(bucket, options);
  const dropCutoutsOfGone = async () => {
    let removed = 0;
    for await (const name of cutouts.list("cutout", Date.now() - IN_USE_MS)) {
      const [photo] = name.split("-", 1);
      if (photo === undefined || (await bucket.head(keyOf("source", photo)))) continue;
      if (await cutouts.remove("cutout", name)) removed += 1;
    }
    return removed;
  };
  const gauge = fullnessGauge(bucket);
  const ofBucket: Blobs = {
    put: async (kind, name, from) => {
      const isFile = typeof from === "object" && "path" in from;
      await gauge.put(keyOf(kind, name), isFile ? await Bun.file(from.path).bytes() : bytesOf(from));
      await copies.drop(kind, name);
      if (isFile) await rm(from.path, { force: true });
    },
    copy: async (from, to) => {
      const copied = await bucket.copy(keyOf(from.kind, from.name), keyOf(to.kind, to.name));
      return copied ? "copied" : "absent";
    },
    refresh: async (kind, name, bytes) => {
      const key = keyOf(kind, name);
      const found = await bucket.head(key);
      if (found?.bytes !== bytes) return false;
      return found.modifiedAt > Date.now() - renewedAfterMs || (await bucket.copy(key, key));
    },
    stat: async (kind, name) => {
      const found = await bucket.head(keyOf(kind, name));
      return found ? { bytes: found.bytes } : null;
    },
    open: async (kind, name) => {
      const bytes = await bucket.read(keyOf(kind, name));
      return bytes ? new Blob([bytes]) : null;
    },
    serve: (kind, name, request, headers) => serve(bucket, keyOf(kind, name), request, headers),
    local: copies.path,
    remove: async (kind, name, { unlessYoungerThan } = {}) => {
      const found = await bucket.head(keyOf(kind, name));
      if (!found || (unlessYoungerThan !== undefined && found.modifiedAt > unlessYoungerThan)) return false;
      await bucket.remove(keyOf(kind, name));
      await copies.drop(kind, name);
      return true;
    },
    removeStartingWith: async (kind, beginning) => {
      for await (const { key } of bucket.list(keyOf(kind, beginning))) {
        await bucket.remove(key);
        await copies.drop(kind, key.slice(kind.length + 1));
      }
    },
    list: async function* (kind, until) {
      for await (const { key, modifiedAt } of bucket.list(`${kind}/`))
        if (modifiedAt <= until) yield key.slice(kind.length + 1);
    },
    // Objects are written atomically; only copies here can be interrupted.
    tidy: async (until) =>
      (await copies.tidy(until)) + (await copies.dropGone()) + (await dropCutoutsOfGone()),
    isWritable: gauge.isWritable,
  };
  return byKind(ofBucket, cutouts);
}

/**
 * Writes, and knows by it whether the bucket takes more: no read says so, since a full one is read as ever.
 */
function fullnessGauge(bucket: Bucket) {
  // Unknown at first.
  let takesWrites = false;
  const put = async (key: string, bytes: Uint8Array) => {
    takesWrites = await bucket.put(key, bytes).then(
      () => true,
      (error) => {
        takesWrites = false;
        throw error;
      },
    );
  };
  const look = async () => {
    if (takesWrites) return bucket.check();
    await put(PROBE.key, new Uint8Array(PROBE.bytes));
    await bucket.remove(PROBE.key);
  };
  return {
    put,
    isWritable: () =>
      look().then(
        () => true,
        () => false,
      ),
  };
}

/** The given store, with cutouts kept in another. */
function byKind(all: Blobs, cutouts: Blobs): Blobs {
  const of = (kind: BlobKind) => (kind === "cutout" ? cutouts : all);
  return {
    ...all,
    put: (kind, ...rest) => of(kind).put(kind, ...rest),
    refresh: (kind, ...rest) => of(kind).refresh(kind, ...rest),
    stat: (kind, ...rest) => of(kind).stat(kind, ...rest),
    open: (kind, ...rest) => of(kind).open(kind, ...rest),
    serve: (kind, ...rest) => of(kind).serve(kind, ...rest),
    local: (kind, ...rest) => of(kind).local(kind, ...rest),
    remove: (kind, ...rest) => of(kind).remove(kind, ...rest),
    removeStartingWith: (kind, ...rest) => of(kind).removeStartingWith(kind, ...rest),
    list: (kind, ...rest) => of(kind).list(kind, ...rest),
    tidy: async (until) => (await all.tidy(until)) + (await cutouts.tidy(until)),
  };
}

function bytesOf(from: Uint8Array | string): Uint8Array {
  return typeof from === "string" ? new TextEncoder().encode(from) : from;
}

/**
 * Answers with the object once all of it is here, at most some megabytes: of an answer that is under way
 * nobody could tell that storage broke off, and what a cache took for the whole would be shown for as long as
 * the picture lives.
 */
async function serve(
  bucket: Bucket,
  key: string,
  request: Request,
  headers: HeadersInit,
): Promise<Response | null> {
  const answer = new Headers(headers);
  answer.set("Accept-Ranges", "bytes");
  if (request.method === "HEAD") {
    const known = await bucket.head(key);
    if (!known) return null;
    answer.set("Content-Length", String(known.bytes));
    return new Response(null, { headers: answer });
  }
  try {
    const found = await bucket.get(key, request.headers.get("range") ?? undefined);
    if (!found) return null;
    if (found.contentRange) answer.set("Content-Range", found.contentRange);
    return new Response(found.bytes, { status: found.contentRange ? 206 : 200, headers: answer });
  } catch (error) {
    if (!(error instanceof NoSuchRange)) throw error;
    const known = await bucket.head(key);
    return new Response(null, {
      status: 416,
      headers: { ...Object.fromEntries(answer), "Content-Range": `bytes */${known?.bytes ?? "*"}` },
    });
  }
}

/** Local copies of objects, fetched on request; the least recently used are removed to free space. */
function localCopies(bucket: Bucket, { cache, cacheBytes = CACHE_BYTES }: BucketBlobsOptions) {
  const pathOf = (kind: BlobKind, name: string) => join(cache, kind, name);
  const inFlight = new Map<string, Promise<void>>();

  const fetchOnce = (kind: BlobKind, name: string, path: string): Promise<void> => {
    const known = inFlight.get(path);
    if (known) return known;
    const fetched = fetchCopy(kind, name, path).finally(() => inFlight.delete(path));
    inFlight.set(path, fetched);
    return fetched;
  };
  const fetchCopy = async (kind: BlobKind, name: string, path: string) => {
    const bytes = await bucket.read(keyOf(kind, name));
    if (!bytes) return;
    await mkdir(join(cache, kind), { recursive: true });
    await writeWhole(path, bytes);
    await makeRoom(cache, cacheBytes);
  };
  return {
    path: async (kind: BlobKind, name: string) => {
      const path = pathOf(kind, name);
      const now = new Date();
      // Touching the file makes it the last one to be removed.
      const isHere = await utimes(path, now, now).then(
        () => true,
        () => false,
      );
      if (!isHere) await fetchOnce(kind, name, path);
      return path;
    },
    drop: (kind: BlobKind, name: string) => rm(pathOf(kind, name), { force: true }),
    /**
     * What another machine removed from the bucket must not live on here. Returns how many copies it removed.
     */
    dropGone: async () => {
      let removed = 0;
      for (const { path, modifiedAt } of await filesIn(cache)) {
        if (path.endsWith(STAGING_SUFFIX) || modifiedAt > Date.now() - IN_USE_MS) continue;
        if (await bucket.head(relative(cache, path))) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
    tidy: async (until: number) => {
      let removed = 0;
      for (const { path, modifiedAt } of await filesIn(cache)) {
        if (!path.endsWith(STAGING_SUFFIX) || modifiedAt > until) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
  };
}

async function makeRoom(cache: string, cacheBytes: number): Promise<void> {
  const files = await filesIn(cache);
  let held = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const lately = Date.now() - IN_USE_MS;
  for (const { path, bytes, modifiedAt } of files.toSorted((a, b) => a.modifiedAt - b.modifiedAt)) {
    if (held <= cacheBytes || modifiedAt > lately) return;
    await rm(path, { force: true });
    held -= bytes;
  }
}

async function filesIn(cache: string): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
  const entries = await readdir(cache, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        const info = await stat(path).catch(() => undefined);
        return info && { path, bytes: info.size, modifiedAt: info.mtimeMs };
      }),
  );
  return files.filter((file) => file !== undefined);
}
