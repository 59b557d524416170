import type { GetObjectCommandOutput, S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { patiently } from "../core/patience.ts";
import { StorageUnavailable } from "../core/storage-unavailable.ts";

/**
 * Limit per attempt, beside the transfer: storages answer within milliseconds, and what takes longer has
 * stalled.
 */
const TRY_MS = 2_500;
/** What each megabyte of a transfer may take longer: 16 Mbit/s. */
const MEGABYTE_MS = 500;
const CONNECT_MS = 2_000;
/**
 * The first attempt and two retries, with growing pauses: together short enough for a request that waits for
 * them.
 */
const MAX_TRIES = 3;

/** Another way to send requests than the library's own. */
export type RequestHandler = NonNullable<S3ClientConfig["requestHandler"]>;

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

/** What was asked for, all of it. */
export interface BucketBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** The Content-Range of an answer with a part. */
  contentRange: string | undefined;
}

/** The few requests made to an S3-compatible storage. Each rejects with StorageUnavailable when it fails. */
export interface Bucket {
  put(key: string, body: Uint8Array, contentType?: string): Promise<void>;
  /** Undefined when the object is absent. */
  head(key: string): Promise<Omit<BucketObject, "key"> | undefined>;
  /** The whole object. Undefined when it is absent. */
  read(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /**
   * The object, or the part of it that `range` asks for as a request's Range header does. Undefined when it
   * is absent.
   */
  get(key: string, range?: string): Promise<BucketBytes | undefined>;
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
  options: { tryMs?: number; requestHandler?: RequestHandler } = {},
): Promise<Bucket> {
  const { tryMs = TRY_MS } = options;
  const s3 = await import("@aws-sdk/client-s3");
  const { bucket: Bucket, endpoint } = settings;
  const client = clientOf(s3, settings, tryMs, options.requestHandler);
  const request = requester(tryMs);
  const get: Bucket["get"] = async (Key, Range) => {
    for (let tries = 1; ; tries++) {
      const found = await request(`get ${Key}`, (sent) =>
        client.send(new s3.GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }), sent),
      );
      if (!found) return undefined;
      try {
        return { bytes: await wholeBody(found, tryMs), contentRange: found.ContentRange };
      } catch (error) {
        if (tries === MAX_TRIES) throw new StorageUnavailable(error as Error, `read ${Key} from the bucket`);
      }
    }
  };
  const noBucket = new StorageUnavailable(new Error(`there is no bucket ${Bucket} at ${endpoint}`));
  return {
    put: async (Key, Body, ContentType) => {
      const object = { Bucket, Key, Body, ...(ContentType && { ContentType }) };
      const kept = await request(
        `put ${Key}`,
        async (sent) => ofStorage(await client.send(new s3.PutObjectCommand(object), sent)),
        transferMs(Body.length),
      );
      if (!kept) throw noBucket;
    },
    read: async (key) => (await get(key))?.bytes,
    head: async (Key) => {
      const found = await request(`look for ${Key}`, async (sent) =>
        ofStorage(await client.send(new s3.HeadObjectCommand({ Bucket, Key }), sent)),
      );
      return found && { bytes: found.ContentLength ?? 0, modifiedAt: found.LastModified?.getTime() ?? 0 };
    },
    get,
    copy: async (from, Key) => {
      const CopySource = `${Bucket}/${from}`;
      const copied = await request(`copy ${from}`, async (sent) => {
        // S3 only allows copying an object onto itself when something changes, so the metadata is replaced.
        const copying = new s3.CopyObjectCommand({ Bucket, Key, CopySource, MetadataDirective: "REPLACE" });
        return ofStorage((await client.send(copying, sent)).CopyObjectResult ?? {});
      });
      return copied !== undefined;
    },
    remove: async (Key) => {
      await request(`remove ${Key}`, (sent) =>
        client.send(new s3.DeleteObjectCommand({ Bucket, Key }), sent),
      );
    },
    list: async function* (Prefix) {
      let ContinuationToken: string | undefined;
      do {
        const next: { ContinuationToken?: string } = ContinuationToken ? { ContinuationToken } : {};
        const page = await request(`list ${Prefix}`, (sent) =>
          client.send(new s3.ListObjectsV2Command({ Bucket, Prefix, ...next }), sent),
        );
        for (const { Key = "", Size = 0, LastModified } of page?.Contents ?? [])
          yield { key: Key, bytes: Size, modifiedAt: LastModified?.getTime() ?? 0 };
        ContinuationToken = page?.NextContinuationToken;
      } while (ContinuationToken);
    },
    check: async () => {
      const found = await request("look for the bucket", (sent) =>
        client.send(new s3.HeadBucketCommand({ Bucket }), sent),
      );
      if (!found) throw noBucket;
    },
  };
}

function clientOf(
  s3: typeof import("@aws-sdk/client-s3"),
  { endpoint, region, accessKeyId, secretAccessKey }: BucketSettings,
  tryMs: number,
  requestHandler?: RequestHandler,
): S3Client {
  return new s3.S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Self-hosted storages have no host name per bucket.
    forcePathStyle: true,
    maxAttempts: MAX_TRIES,
    // Not every storage supports the newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: requestHandler ?? {
      requestTimeout: tryMs,
      connectionTimeout: CONNECT_MS,
      socketTimeout: tryMs,
      throwOnRequestTimeout: true,
    },
  });
}

const transferMs = (bytes: number) => (bytes / 2 ** 20) * MEGABYTE_MS;

/**
 * The answer, if a storage gave it: each names the object's ETag. A proxy on the way that lost the storage,
 * or shows a page of its own, may say 200 all the same, and what is believed to be kept then is lost.
 */
function ofStorage<T extends { ETag?: string | undefined }>(answer: T): T {
  if (!answer.ETag) throw new Error("the answer has no ETag, so no storage gave it");
  return answer;
}

/** The bytes of an answer, all of them: a connection that breaks off or stalls rejects. */
async function wholeBody(found: GetObjectCommandOutput, tryMs: number): Promise<Uint8Array<ArrayBuffer>> {
  const { Body, ContentLength } = found;
  const stalled = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => stalled.reject(new Error("the transfer stalled")),
    tryMs + transferMs(ContentLength ?? 0),
  );
  try {
    ofStorage(found);
    const bytes = await Promise.race([Body?.transformToByteArray(), stalled.promise]);
    // Without a length it came in chunks, the last of which is marked.
    if (bytes && bytes.length === (ContentLength ?? bytes.length)) return bytes as Uint8Array<ArrayBuffer>;
    throw new Error(`the transfer broke off after ${bytes?.length} of ${ContentLength} bytes`);
  } catch (error) {
    (Body as { destroy?: () => void } | undefined)?.destroy?.();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

type Send<T> = (sent: { abortSignal: AbortSignal; requestTimeout: number }) => Promise<T>;

/**
 * Sends requests, each try of which may take `tryMs` and what its transfer takes; undefined when the object
 * is absent. What is waited for beside transfers counts as patience: a create makes several requests, and its
 * partner waits for their sum.
 */
function requester(tryMs: number) {
  return async <T>(what: string, send: Send<T>, transferMs = 0): Promise<T | undefined> => {
    try {
      // The signal ends whatever the request handler's own timeouts miss, and what a request has no time left
      // for.
      return await patiently(MAX_TRIES * tryMs, (limitMs) =>
        send({
          abortSignal: AbortSignal.timeout(Math.ceil(limitMs) + MAX_TRIES * transferMs),
          requestTimeout: tryMs + transferMs,
        }),
      );
    } catch (error) {
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
      if (status === 404) return undefined;
      if (status === 416) throw new NoSuchRange((error as Error).message);
      throw new StorageUnavailable(error as Error, `${what} in the bucket`);
    }
  };
}
