import type { GetObjectCommandOutput } from "@aws-sdk/client-s3";
import { StorageUnavailable } from "../core/storage-unavailable.ts";

/** Limit per attempt. Pictures are a few megabytes; a transfer that takes longer has stalled. */
const TRY_MS = 10_000;
const CONNECT_MS = 3_000;
/** The first attempt and two retries, with growing pauses. */
const MAX_TRIES = 3;

/** A bucket's location and credentials. */
export interface BucketSettings {
  /** Such as https://s3.eu-central-1.amazonaws.com, or that of a self-hosted storage. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface BucketObject {
  key: string;
  bytes: number;
  /** Time of the last write, epoch ms, by the storage's clock. */
  modifiedAt: number;
}

/** The few requests made to an S3-compatible storage. Each rejects with StorageUnavailable when it fails. */
export interface Bucket {
  put(key: string, body: Uint8Array): Promise<void>;
  /** Undefined when the object is absent. */
  head(key: string): Promise<Omit<BucketObject, "key"> | undefined>;
  /** `range` as in a request's Range header. Undefined when the object is absent. */
  get(key: string, range?: string): Promise<GetObjectCommandOutput | undefined>;
  /** Copying an object onto itself renews its modification time. False when it is absent. */
  copy(from: string, to: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  list(beginning: string): AsyncIterable<BucketObject>;
  /** Rejects when the bucket does not exist or may not be used. */
  check(): Promise<void>;
}

/** The requested range lies outside the object. */
export class NoSuchRange extends Error {
  override name = "NoSuchRange";
}

/** Opens a bucket; loads the S3 library only now. Sends no request yet. */
export async function openBucket(
  settings: BucketSettings,
  options: { tryMs?: number } = {},
): Promise<Bucket> {
  const { tryMs = TRY_MS } = options;
  const s3 = await import("@aws-sdk/client-s3");
  const { bucket: Bucket, endpoint, region, accessKeyId, secretAccessKey } = settings;
  const client = new s3.S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Self-hosted storages have no host name per bucket.
    forcePathStyle: true,
    maxAttempts: MAX_TRIES,
    // Not every storage supports the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      requestTimeout: tryMs,
      connectionTimeout: CONNECT_MS,
      socketTimeout: tryMs,
      throwOnRequestTimeout: true,
    },
  });
  const noBucket = new StorageUnavailable(new Error(`there is no bucket ${Bucket} at ${endpoint}`));
  return {
    put: async (Key, Body) => {
      const kept = await ask(`put ${Key}`, (sent) =>
        client.send(new s3.PutObjectCommand({ Bucket, Key, Body }), sent),
      );
      if (!kept) throw noBucket;
    },
    head: async (Key) => {
      const found = await ask(`look for ${Key}`, (sent) =>
        client.send(new s3.HeadObjectCommand({ Bucket, Key }), sent),
      );
      return found && { bytes: found.ContentLength ?? 0, modifiedAt: found.LastModified?.getTime() ?? 0 };
    },
    get: (Key, Range) =>
      ask(`get ${Key}`, (sent) =>
        client.send(new s3.GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }), sent),
      ),
    copy: async (from, Key) => {
      const CopySource = `${Bucket}/${from}`;
      const copied = await ask(`copy ${from}`, (sent) =>
        // S3 only allows copying an object onto itself when something changes, so the metadata is replaced.
        client.send(
          new s3.CopyObjectCommand({ Bucket, Key, CopySource, MetadataDirective: "REPLACE" }),
          sent,
        ),
      );
      return copied !== undefined;
    },
    remove: async (Key) => {
      await ask(`remove ${Key}`, (sent) => client.send(new s3.DeleteObjectCommand({ Bucket, Key }), sent));
    },
    list: async function* (Prefix) {
      let ContinuationToken: string | undefined;
      do {
        const next: { ContinuationToken?: string } = ContinuationToken ? { ContinuationToken } : {};
        const page = await ask(`list ${Prefix}`, (sent) =>
          client.send(new s3.ListObjectsV2Command({ Bucket, Prefix, ...next }), sent),
        );
        for (const { Key = "", Size = 0, LastModified } of page?.Contents ?? [])
          yield { key: Key, bytes: Size, modifiedAt: LastModified?.getTime() ?? 0 };
        ContinuationToken = page?.NextContinuationToken;
      } while (ContinuationToken);
    },
    check: async () => {
      const found = await ask("look for the bucket", (sent) =>
        client.send(new s3.HeadBucketCommand({ Bucket }), sent),
      );
      if (!found) throw noBucket;
    },
  };
}

type Send<T> = (sent: { abortSignal: AbortSignal }) => Promise<T>;

/** Sends a request; undefined when the object it names is absent. */
async function ask<T>(what: string, send: Send<T>): Promise<T | undefined> {
  try {
    // Catches whatever the request handler's own timeouts miss.
    return await send({ abortSignal: AbortSignal.timeout(MAX_TRIES * TRY_MS) });
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === 404) return undefined;
    if (status === 416) throw new NoSuchRange((error as Error).message);
    throw new StorageUnavailable(error as Error, `${what} in the bucket`);
  }
}
