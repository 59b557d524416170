import PQueue from "p-queue";
import { AppError } from "../core/errors.ts";
import {
  MAX_BADGE_BYTES,
  MAX_SOURCE_BYTES,
  MAX_SOURCE_FETCHES,
  MAX_SOURCE_PIXELS,
  MAX_SOURCE_REDIRECTS,
  MAX_WAITING_SOURCE_FETCHES,
  MIN_BADGE_SIDE_PX,
  MIN_SOURCE_SIDE_PX,
  MIN_SOURCE_TIMEOUT_MS,
  SOURCE_TIMEOUT_MS,
} from "../core/limits.ts";
import { VERSION } from "../version.ts";
import { type GuardedHead, type GuardedHttpOptions, guardedRequest } from "./guarded-http.ts";
import { GuardedHttpError } from "./guarded-http-error.ts";
import { checkImage, type ImageFacts, UnusableImageError } from "./image-check.ts";
import { type StoredSource, storeSource } from "./source-files.ts";

export interface FetchedSource extends StoredSource, ImageFacts {
  bytes: number;
}

export interface SourceFetcher {
  /** Brings `player.source_image_url`. Throws AppError UNSUPPORTED_IMAGE_SOURCE or SERVICE_OVERLOADED. */
  fetchPhoto(url: string): Promise<FetchedSource>;
  /** Brings `branding.club_badge_url`. Throws AppError UNSUPPORTED_IMAGE_SOURCE or SERVICE_OVERLOADED. */
  fetchBadge(url: string): Promise<FetchedSource>;
}

export interface SourceFetcherOptions extends GuardedHttpOptions {
  /** Absolute. */
  sourcesDir: string;
  /** Tells the hosts of photos who is asking; goes into the User-Agent. */
  docsUrl?: string;
  /** The file behind an address of the service itself, which is read without a request; undefined for all others. */
  ownPhotoAt?: (url: string) => string | undefined;
  /** SOURCE_TIMEOUT_MS when absent; less when the fetch had to wait for its turn. */
  timeoutMs?: number;
}

interface SourceKind {
  field: string;
  noun: string;
  maxBytes: number;
  minSidePx: number;
}

const PHOTO: SourceKind = {
  field: "player.source_image_url",
  noun: "photo",
  maxBytes: MAX_SOURCE_BYTES,
  minSidePx: MIN_SOURCE_SIDE_PX,
};
const BADGE: SourceKind = {
  field: "branding.club_badge_url",
  noun: "badge",
  maxBytes: MAX_BADGE_BYTES,
  minSidePx: MIN_BADGE_SIDE_PX,
};

/** Thrown from the answer's head, before its body is read. */
class UnusableAnswerError extends Error {
  override name = "UnusableAnswerError";
}

/** Fetches, checks and stores photos and badges; at most MAX_SOURCE_FETCHES at once, so that memory is bounded. */
export function createSourceFetcher(options: SourceFetcherOptions): SourceFetcher {
  const queue = new PQueue({ concurrency: MAX_SOURCE_FETCHES });
  const enqueue = (url: string, kind: SourceKind) => {
    if (queue.size >= MAX_WAITING_SOURCE_FETCHES) throw overloaded();
    const queuedAt = performance.now();
    return queue.add(() => {
      const waitedMs = performance.now() - queuedAt;
      if (SOURCE_TIMEOUT_MS - waitedMs < MIN_SOURCE_TIMEOUT_MS) throw overloaded();
      const timeoutMs = Math.min(options.timeoutMs ?? SOURCE_TIMEOUT_MS, SOURCE_TIMEOUT_MS - waitedMs);
      return fetchSource(url, kind, { ...options, timeoutMs });
    });
  };
  return {
    fetchPhoto: async (url) => enqueue(url, PHOTO),
    fetchBadge: async (url) => enqueue(url, BADGE),
  };
}

async function fetchSource(
  url: string,
  kind: SourceKind,
  options: SourceFetcherOptions,
): Promise<FetchedSource> {
  try {
    const own = options.ownPhotoAt?.(url);
    const body = own === undefined ? await download(url, kind, options) : await Bun.file(own).bytes();
    const facts = await checkImage(body, { minSidePx: kind.minSidePx, maxPixels: MAX_SOURCE_PIXELS });
    const stored = await storeSource(options.sourcesDir, body);
    return { ...stored, ...facts, bytes: body.length };
  } catch (error) {
    const reason = partnerReason(error, kind);
    if (reason === undefined) throw error;
    throw unsupported(kind, reason, error);
  }
}

async function download(url: string, kind: SourceKind, options: SourceFetcherOptions): Promise<Uint8Array> {
  const { body } = await guardedRequest(
    {
      method: "GET",
      url,
      headers: {
        "User-Agent": `cardpress/${VERSION}${options.docsUrl ? ` (+${options.docsUrl})` : ""}`,
        Accept: "image/jpeg, image/png, image/webp, */*;q=0.1",
      },
      timeoutMs: options.timeoutMs ?? SOURCE_TIMEOUT_MS,
      maxResponseBytes: kind.maxBytes,
      maxRedirects: MAX_SOURCE_REDIRECTS,
      onOversize: "fail",
      onHead: checkHead,
    },
    options,
  );
  return body;
}

function checkHead({ status, headers }: GuardedHead): void {
  if (status === 429 || status >= 500) {
    throw new UnusableAnswerError(`The address answered ${status}. Try again later, or host it elsewhere.`);
  }
  if (status !== 200) {
    throw new UnusableAnswerError(
      `The address answered ${status}. Check that it is public and opens in a private browser window.`,
    );
  }
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw new UnusableAnswerError(
      "The server compressed its answer although it was asked not to. Switch Content-Encoding off for pictures.",
    );
  }
}

/** What to tell the partner; undefined when the fault is not the source's. */
function partnerReason(error: unknown, kind: SourceKind): string | undefined {
  if (error instanceof UnusableAnswerError || error instanceof UnusableImageError) return error.message;
  if (!(error instanceof GuardedHttpError)) return undefined;
  if (error.kind === "too_large") {
    const limit = `${megabytes(kind.maxBytes)} MB`;
    const size = error.declaredBytes === undefined ? "" : ` It has ${megabytes(error.declaredBytes)} MB.`;
    return `The ${kind.noun} is larger than ${limit}.${size} Make it smaller or save it with stronger compression.`;
  }
  if (error.kind === "timeout")
    return `${error.message} Host the ${kind.noun} on a faster server or try again.`;
  return error.message;
}

/** Rounded up to tenths, so that a file just over the limit does not read as being at it. */
function megabytes(bytes: number): string {
  return String(Math.ceil((bytes / 1024 ** 2) * 10) / 10);
}

function unsupported(kind: SourceKind, reason: string, cause: unknown): AppError {
  return new AppError(
    "UNSUPPORTED_IMAGE_SOURCE",
    `The ${kind.noun} in ${kind.field} cannot be used. ${reason}`,
    {
      details: [{ field: kind.field, message: reason }],
      cause,
    },
  );
}

function overloaded(): AppError {
  return new AppError(
    "SERVICE_OVERLOADED",
    "Too many photos are being fetched at once. Nothing was charged; send the same request again in a few seconds.",
    { retryAfterSeconds: 5 },
  );
}
