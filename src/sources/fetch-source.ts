import type { Blobs } from "../blobs/blobs.ts";
import type { Environment } from "../core/account.ts";
import { Refusal } from "../core/errors.ts";
import type { FailureReason } from "../core/failure-reasons.ts";
import {
  MAX_BADGE_BYTES,
  MAX_BADGE_PIXELS,
  MAX_SOURCE_BYTES,
  MAX_SOURCE_PIXELS,
  MIN_BADGE_SIDE_PX,
  MIN_SOURCE_SIDE_PX,
} from "../core/limits.ts";
import {
  EXHAUSTED_RETRY_MS,
  MAX_BADGE_SCANS,
  MAX_JPEG_SCAN_PIXELS,
  MAX_JPEG_SCANS,
  MAX_SOURCE_REDIRECTS,
  SOURCE_TIMEOUT_MS,
} from "../core/outbound-limits.ts";
import {
  SOURCE_FIELDS,
  type SourceNoun,
  sourceAnswered,
  unsupportedSource,
} from "../core/partner-refusals.ts";
import { BUILD } from "../version.ts";
import { type GuardedHead, type GuardedHttpOptions, guardedRequest } from "./guarded-http.ts";
import { GuardedHttpError } from "./guarded-http-error.ts";
import {
  checkDecodes,
  checkImage,
  type ImageFacts,
  type ImageLimits,
  UnusableImageError,
} from "./image-check.ts";
import { type SourceWatcher, type StoredSource, storeSource } from "./source-files.ts";

export interface FetchedSource extends StoredSource, ImageFacts {
  bytes: number;
}

/** On whose behalf a source is fetched. */
export interface SourceRequest {
  account?: string;
  /** Whose uploads may be referenced. */
  environment?: Environment;
  /** Aborts the fetch, because nobody wants it any more. */
  signal?: AbortSignal;
  watcher?: SourceWatcher;
}

export interface SourceFetcher {
  /** Fetches `player.source_image_url`. Throws Refusal UNSUPPORTED_IMAGE_SOURCE or SERVICE_OVERLOADED. */
  fetchPhoto(url: string, request?: SourceRequest): Promise<FetchedSource>;
  /** Fetches `branding.club_badge_url`. Throws Refusal UNSUPPORTED_IMAGE_SOURCE or SERVICE_OVERLOADED. */
  fetchBadge(url: string, request?: SourceRequest): Promise<FetchedSource>;
  /**
   * Fetches the picture of a preset's own field, such as `fields.sponsor`, by the rules for badges. Throws as
   * those do.
   */
  fetchPicture(field: string, url: string, request?: SourceRequest): Promise<FetchedSource>;
}

export interface SourceFetcherOptions extends GuardedHttpOptions {
  /** Where sources are stored. */
  blobs: Blobs;
  /** Identifies us to the hosts of photos, in the User-Agent. */
  docsUrl?: string;
  /**
   * Reads a URL of the service itself without a request: null when the requester may not have it or it does
   * not exist, undefined for any other URL.
   */
  ownPhotoAt?: (url: string, request: SourceRequest) => Promise<Uint8Array | null | undefined>;
  /** SOURCE_TIMEOUT_MS when absent. */
  timeoutMs?: number;
}

interface SourceKind {
  noun: "photo" | "badge" | "picture";
  maxBytes: number;
  limits: ImageLimits;
  /** Whether it must be decoded here; otherwise the render reports undecodable files. */
  decodes: boolean;
}

const PHOTO: SourceKind = {
  noun: "photo",
  maxBytes: MAX_SOURCE_BYTES,
  limits: {
    minSidePx: MIN_SOURCE_SIDE_PX,
    maxPixels: MAX_SOURCE_PIXELS,
    maxScans: MAX_JPEG_SCANS,
    maxScanPixels: MAX_JPEG_SCAN_PIXELS,
  },
  // The render reports photos that cannot be decoded, and decoding 40 megapixels takes long.
  decodes: false,
};
const BADGE: SourceKind = {
  noun: "badge",
  maxBytes: MAX_BADGE_BYTES,
  limits: {
    minSidePx: MIN_BADGE_SIDE_PX,
    maxPixels: MAX_BADGE_PIXELS,
    maxScans: MAX_BADGE_SCANS,
    maxScanPixels: MAX_BADGE_SCANS * MAX_BADGE_PIXELS,
  },
  decodes: true,
};

const PICTURE: SourceKind = { ...BADGE, noun: "picture" };

/** Thrown on the response's head, before its body is read. */
class UnusableAnswerError extends Error {
  override name = "UnusableAnswerError";

  constructor(
    message: string,
    /** Whether a retry a moment later may succeed. */
    readonly passes = false,
  ) {
    super(message);
  }
}

/**
 * Fetches, checks and stores photos, badges and other pictures. The caller bounds concurrency, because each
 * holds its whole file.
 */
export function createSourceFetcher(options: SourceFetcherOptions): SourceFetcher {
  return {
    fetchPhoto: (url, request = {}) => fetchSource(url, PHOTO, request, options),
    fetchBadge: (url, request = {}) => fetchSource(url, BADGE, request, options),
    fetchPicture: (field, url, request = {}) => fetchSource(url, PICTURE, request, options, { field }),
  };
}

async function fetchSource(
  url: string,
  kind: SourceKind,
  request: SourceRequest,
  options: SourceFetcherOptions,
  noun: SourceNoun = kind === PHOTO ? "photo" : "badge",
): Promise<FetchedSource> {
  try {
    const own = await options.ownPhotoAt?.(url, request);
    if (own === null) throw new UnusableAnswerError(NO_UPLOAD);
    const body = own ?? (await download(url, kind, request, options));
    const facts = await checkSource(body, kind);
    const stored = await storeSource(options.blobs, body, request.watcher);
    return { ...stored, ...facts, bytes: body.length };
  } catch (error) {
    if (error instanceof GuardedHttpError && error.kind === "ours") throw exhausted(error);
    const reason = partnerReason(error, kind);
    if (reason === undefined) throw error;
    throw unsupportedSource(noun, reason, error);
  }
}

const NO_UPLOAD =
  "No photo that was sent with a key of this account and environment has this address, or it has expired or was deleted with the last card that showed it. Send it again with POST /v1/photos.";

async function checkSource(body: Uint8Array, kind: SourceKind): Promise<ImageFacts> {
  const facts = await checkImage(body, kind.limits);
  if (kind.decodes) await checkDecodes(body);
  return facts;
}

/** Checks uploaded bytes by the rules for fetched photos or badges. Throws UnusableImageError. */
export function checkUpload(body: Uint8Array, use: "photo" | "badge"): Promise<ImageFacts> {
  const kind = use === "photo" ? PHOTO : BADGE;
  if (body.length > kind.maxBytes)
    throw new UnusableImageError(
      `It is larger than ${megabytes(kind.maxBytes)} MB. Make it smaller or save it with stronger compression.`,
    );
  return checkSource(body, kind);
}

/** Whether a failed source may work a moment later: its host was busy, slow or unreachable. */
export function mayPass(refusal: unknown): boolean {
  const cause = refusal instanceof Error ? refusal.cause : undefined;
  if (cause instanceof GuardedHttpError)
    return ["dns", "connect", "timeout", "protocol"].includes(cause.kind);
  return cause instanceof UnusableAnswerError && cause.passes;
}

/** Why an image fails whose source was refused. */
export function failureReasonOf(refusal: unknown): FailureReason {
  const { details = [], cause } = refusal as Refusal;
  const { field = "" } = details[0] ?? {};
  const what = field === SOURCE_FIELDS.badge ? "badge" : field === SOURCE_FIELDS.photo ? "photo" : "picture";
  const isTooLarge = cause instanceof GuardedHttpError && cause.kind === "too_large";
  if (cause instanceof UnusableImageError) return what === "photo" ? cause.reason : `${what}_unusable`;
  if (isTooLarge) return what === "photo" ? "photo_too_large" : `${what}_unusable`;
  return `${what}_unreachable`;
}

async function download(
  url: string,
  kind: SourceKind,
  { account, signal }: SourceRequest,
  options: SourceFetcherOptions,
): Promise<Uint8Array> {
  const { body } = await guardedRequest(
    {
      method: "GET",
      url,
      headers: {
        "User-Agent": `cardpress/${BUILD}${options.docsUrl ? ` (+${options.docsUrl})` : ""}`,
        Accept: "image/jpeg, image/png, image/webp, */*;q=0.1",
      },
      timeoutMs: options.timeoutMs ?? SOURCE_TIMEOUT_MS,
      maxResponseBytes: kind.maxBytes,
      maxRedirects: MAX_SOURCE_REDIRECTS,
      onOversize: "fail",
      ...(account !== undefined && { party: account }),
      ...(signal !== undefined && { signal }),
      onHead: checkHead,
    },
    options,
  );
  return body;
}

function checkHead({ status, headers }: GuardedHead): void {
  if (status !== 200) throw new UnusableAnswerError(sourceAnswered(status), status === 429 || status >= 500);
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw new UnusableAnswerError(
      "The server compressed its answer although it was asked not to. Switch Content-Encoding off for pictures.",
    );
  }
}

/** The message for the partner; undefined when the fault is not the source's. */
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

/** For want of descriptors, ports or a resolver: the photo is not to blame. */
function exhausted(cause: GuardedHttpError): Refusal {
  return new Refusal(
    "SERVICE_OVERLOADED",
    "The service cannot fetch photos at the moment. Nothing was reserved; send the same request again in a few seconds.",
    { retryAfterSeconds: EXHAUSTED_RETRY_MS / 1000, cause: cause.cause },
  );
}
