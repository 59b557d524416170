import type { Bucket } from "../../blobs/bucket.ts";
import type { BucketFault } from "../../blobs/try-bucket.ts";
import { EXPORT_TRY_MS } from "../../core/outbound-limits.ts";
import { SecretUnreadableError } from "../../core/secret-box.ts";
import { GuardedHttpError, type GuardedHttpOptions } from "../../sources/guarded-http.ts";
import { guardedS3 } from "../../sources/guarded-s3.ts";
import type { AccountBucket } from "../../store/exports/exports.ts";
import type { AppContext } from "../context.ts";

export interface ExportContext extends AppContext {
  /** How hosts are resolved, and which authorities are trusted besides the public ones. */
  outbound?: Pick<GuardedHttpOptions, "resolve" | "ca">;
}

/** Where an account's objects are. */
export const placeOf = ({ endpoint, bucket }: Pick<AccountBucket, "endpoint" | "bucket">): string =>
  `${endpoint} ${bucket}`;

/** Opens an account's own bucket; sends nothing yet. Throws SecretUnreadableError. */
export async function openOwnBucket(
  { secrets, config, outbound = {} }: ExportContext,
  own: AccountBucket,
  signal?: AbortSignal,
): Promise<Bucket> {
  const { accountId, endpoint, region, bucket, accessKeyId } = own;
  const secretAccessKey = secrets.open(own.secretAccessKey, accountId);
  // Loaded here and not before: most services have no bucket.
  const { openBucket } = await import("../../blobs/bucket.ts");
  const { resolve, ca } = outbound;
  const options = {
    ...(resolve && { resolve }),
    ...(ca !== undefined && { ca }),
    allowedOrigins: config.exportAllowedOrigins,
  };
  return openBucket(
    { endpoint, region, bucket, accessKeyId, secretAccessKey },
    { tryMs: EXPORT_TRY_MS, requestHandler: guardedS3(options, { party: `bucket of ${accountId}`, signal }) },
  );
}

const RIGHT_OF: Partial<Record<BucketFault["doing"], string>> = {
  write: "s3:PutObject",
  read: "s3:GetObject",
  remove: "s3:DeleteObject",
};

/** What storages answer, by its code, as what the person who named the bucket can do about it. */
const WORDS: Record<string, string> = {
  InvalidAccessKeyId: "The storage does not know the access key id. Copy the key's id and its secret again.",
  SignatureDoesNotMatch:
    "The storage refused the signature: the secret access key does not belong to the access key id. Copy both again.",
  NoSuchBucket: "There is no bucket of this name. Make it, or correct the name.",
  PermanentRedirect:
    "The bucket is in another region, or at another address. Name those that your storage shows for it.",
  AuthorizationHeaderMalformed:
    "The bucket is in another region. Name the one that your storage shows for it.",
  RequestTimeTooSkewed: "The storage's clock and this service's differ by minutes. Tell the operator.",
  QuotaExceeded: "The storage's quota is used up. Make room, or raise it.",
};

/** Of what a storage says in its own words, which may be a page. */
const MAX_ANSWER_CHARS = 300;

/** Why something could not be done in a partner's bucket, with what helps. */
export function bucketWords(error: unknown, doing?: BucketFault["doing"]): string {
  const words = wordsOf(error, doing).replace(/\p{Cc}+/gu, " ");
  return words.length > MAX_ANSWER_CHARS ? `${words.slice(0, MAX_ANSWER_CHARS)}…` : words;
}

/** This service's own fault, which says nothing about the bucket; its message is for the partner. */
export class OwnFault extends Error {}

/** Whether an attempt ended because of this service: no picture, no database, no socket to be had. */
export function isOwnFault(error: unknown): boolean {
  return causesOf(error).some(
    (each) => each instanceof OwnFault || (each instanceof GuardedHttpError && each.kind === "ours"),
  );
}

type StorageError = Error & { Code?: string; $metadata?: { httpStatusCode?: number } };

/** An error and what caused it, the outermost first. */
function causesOf(error: unknown): StorageError[] {
  const chain: StorageError[] = [];
  for (let e = error; e instanceof Error; e = e.cause) chain.push(e);
  return chain;
}

function wordsOf(error: unknown, doing?: BucketFault["doing"]): string {
  const chain = causesOf(error);
  if (chain.some((each) => each instanceof SecretUnreadableError))
    return "This service cannot read the key's secret any more. Write the secret again.";
  const guarded = chain.find((each) => each instanceof GuardedHttpError || each instanceof OwnFault);
  if (guarded) return guarded.message;
  for (const each of chain) {
    const known = WORDS[each.name] ?? WORDS[each.Code ?? ""];
    if (known !== undefined) return known;
  }
  if (/there is no bucket/.test(String(error))) return WORDS.NoSuchBucket ?? "";
  const status = chain.map(({ $metadata }) => $metadata?.httpStatusCode).find((code) => code !== undefined);
  if (status === 301 || status === 307) return WORDS.PermanentRedirect ?? "";
  if (status === 403) {
    const right = doing && RIGHT_OF[doing];
    return `The key may not ${doing ?? "use"} objects in the bucket. Give it the right${right ? ` ${right}` : "s s3:PutObject, s3:GetObject and s3:DeleteObject"} for the keys that cards get.`;
  }
  if (status !== undefined && status >= 500)
    return `The storage answered ${status}: it is overloaded, or has a fault of its own.`;
  return `The storage could not be used: ${chain.at(-1)?.message ?? String(error)}`;
}
