import { tryBucket } from "../../blobs/try-bucket.ts";
import { Refusal } from "../../core/errors.ts";
import { keyPatternFault } from "../../core/export-key.ts";
import { EXHAUSTED_RETRY_MS, SOURCE_TIMEOUT_MS } from "../../core/outbound-limits.ts";
import { SecretUnreadableError } from "../../core/secret-box.ts";
import { checkAddress, GuardedHttpError } from "../../sources/guarded-http.ts";
import {
  type AccountBucket,
  accountsWithoutBucket,
  countWaiting,
  deleteBucket,
  dropUnexported,
  failedExports,
  findBucket,
  type ImageExport,
  noteExport,
  putBucket,
  restartExports,
  sealedBucketSecrets,
} from "../../store/exports/exports.ts";
import { findAccount } from "../../store/people/accounts.ts";
import { type Actor, logAction } from "../operations/activity.ts";
import { accountNotFound } from "../people/manage-account.ts";
import { bucketWords, type ExportContext, openOwnBucket } from "./own-bucket.ts";
import { noteOf } from "./record-export.ts";

/** Everything about an account's own bucket that may be shown: all but its secret. */
export type OwnBucket = Omit<AccountBucket, "secretAccessKey">;

export interface BucketInput {
  endpoint: string;
  region: string;
  bucket: string;
  keyPattern: string;
  accessKeyId: string;
  /** Empty: the one that is kept, where address and key id stay the same. */
  secretAccessKey: string;
}

interface Asker {
  accountId: string;
  /** The user who asks, for the audit log; absent on the command line. */
  by?: Actor;
}

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Longer ones are no keys. */
const MAX_KEY_CHARS = 512;
/** What is shown of those that failed, and counted of those that wait. */
const MAX_SHOWN = 50;
export const MAX_COUNTED_EXPORTS = 10_000;
/** Rows per transaction, so that requests never wait long for the writer. */
const BATCH = 200;

/**
 * Names the bucket into which an account's live cards are put too, from the next one on. Throws a Refusal for
 * an address that is not on the public internet, and for what no storage would accept.
 */
export async function setBucket(
  context: ExportContext,
  { accountId, by = null }: Asker,
  input: BucketInput,
): Promise<OwnBucket> {
  const { store, clock, random } = context;
  const checked = checkedInput(input);
  const endpoint = await checkedEndpoint(context, accountId, checked.endpoint);
  const row = await store.write("set bucket", async (tx) => {
    if (!(await findAccount(tx, accountId))) throw accountNotFound(accountId);
    const known = await findBucket(tx, accountId);
    const now = clock.now();
    const fresh: AccountBucket = {
      ...checked,
      accountId,
      endpoint,
      secretAccessKey: sealedSecret(context, { ...checked, accountId, endpoint }, known),
      failingSince: null,
      pausedUntil: null,
      lastError: null,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
    };
    await putBucket(tx, fresh);
    const subject = `${fresh.bucket} at ${endpoint}`;
    await logAction(tx, { by, accountId, action: "bucket.set", subject }, { now, random });
    return fresh;
  });
  return withoutSecret(row);
}

/** A secret goes to the address it was given for, and to no other. */
function sealedSecret(
  { secrets }: ExportContext,
  { accountId, secretAccessKey, endpoint, accessKeyId }: BucketInput & { accountId: string },
  known: AccountBucket | undefined,
): string {
  if (secretAccessKey !== "") return secrets.seal(secretAccessKey, accountId);
  if (known && known.endpoint === endpoint && known.accessKeyId === accessKeyId) return known.secretAccessKey;
  throw invalid("secret_access_key", "It is empty. With a new address or key, write its secret too.");
}

/** Puts nothing more into it. What is there stays, and is its owner's to remove. */
export async function removeBucket(context: ExportContext, { accountId, by = null }: Asker): Promise<void> {
  const { store, clock, random } = context;
  await store.write("remove bucket", async (tx) => {
    const known = await findBucket(tx, accountId);
    if (!known || !(await deleteBucket(tx, accountId))) throw noBucket();
    const subject = `${known.bucket} at ${known.endpoint}`;
    await logAction(tx, { by, accountId, action: "bucket.removed", subject }, { now: clock.now(), random });
  });
  await dropExports(context, accountId);
}

/**
 * Forgets what waits for buckets that are no longer named, such as after a process was killed while it
 * removed one, or while it was sending to it.
 */
export async function dropUnnamed(context: Pick<ExportContext, "store">): Promise<void> {
  for (const accountId of await accountsWithoutBucket(context.store.read, BATCH))
    await dropExports(context, accountId);
}

async function dropExports({ store }: Pick<ExportContext, "store">, accountId: string): Promise<void> {
  const drop = () =>
    store.write("drop exports", (tx) => dropUnexported(tx, accountId, BATCH), { concurrent: true });
  while ((await drop()).length === BATCH);
}

/** The accounts whose bucket's secret was sealed with another key, or altered. */
export async function unreadableBuckets({
  store,
  secrets,
}: Pick<ExportContext, "store" | "secrets">): Promise<string[]> {
  const rows = await sealedBucketSecrets(store.read);
  return rows.filter((row) => !isReadable(secrets, row)).map(({ accountId }) => accountId);
}

function isReadable(
  secrets: ExportContext["secrets"],
  { accountId, secretAccessKey }: Pick<AccountBucket, "accountId" | "secretAccessKey">,
): boolean {
  try {
    secrets.open(secretAccessKey, accountId);
    return true;
  } catch (error) {
    if (error instanceof SecretUnreadableError) return false;
    throw error;
  }
}

export interface BucketStatus {
  bucket: OwnBucket | undefined;
  /** Cards that wait to be put there, up to MAX_COUNTED_EXPORTS. */
  waiting: number;
  /** The latest of those given up. */
  failed: ImageExport[];
}

export async function bucketStatus(
  { store }: Pick<ExportContext, "store">,
  accountId: string,
): Promise<BucketStatus> {
  const [bucket, waiting, failed] = await Promise.all([
    findBucket(store.read, accountId),
    countWaiting(store.read, accountId, MAX_COUNTED_EXPORTS),
    failedExports(store.read, accountId, MAX_SHOWN),
  ]);
  return { bucket: bucket && withoutSecret(bucket), waiting, failed };
}

/**
 * Writes, reads and removes a small object under the pattern's prefix. Returns what is wrong in words, or
 * undefined when all of it works. Throws a Refusal where no bucket is named.
 */
export async function testBucket(context: ExportContext, accountId: string): Promise<string | undefined> {
  const own = await findBucket(context.store.read, accountId);
  if (!own) throw noBucket();
  const prefix = own.keyPattern.slice(0, own.keyPattern.indexOf("{"));
  const key = `${prefix}cardpress-test-${context.random.id("try")}`;
  try {
    const fault = await tryBucket(await openOwnBucket(context, own), key, ["write", "read", "remove"]);
    return fault && bucketWords(fault.error, fault.doing);
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
    return bucketWords(error);
  }
}

/** Sends everything again that was given up; returns how many cards. */
export async function sendAgain(context: ExportContext, { accountId, by = null }: Asker): Promise<number> {
  const { store, clock, random } = context;
  if (!(await findBucket(store.read, accountId))) throw noBucket();
  const at = clock.now();
  for (let count = 0; ; ) {
    const restarted = await store.write("restart exports", async (tx) => {
      const failed = await failedExports(tx, accountId, BATCH);
      const imageIds = failed.map(({ imageId }) => imageId);
      if (imageIds.length === 0) return [];
      const ids = new Set(await restartExports(tx, { accountId, imageIds, now: at }));
      for (const { imageId, keys } of failed)
        if (ids.has(imageId)) await noteExport(tx, imageId, noteOf(keys, "pending", null));
      return [...ids];
    });
    count += restarted.length;
    if (restarted.length === BATCH) continue;
    const subject = `${count} ${count === 1 ? "card" : "cards"}`;
    if (count > 0)
      await store.write("log sent again", (tx) =>
        logAction(tx, { by, accountId, action: "bucket.sent_again", subject }, { now: at, random }),
      );
    return count;
  }
}

function checkedInput(input: BucketInput): BucketInput {
  const trimmed = Object.fromEntries(
    Object.entries(input).map(([name, text]) => [name, text.trim()]),
  ) as unknown as BucketInput;
  const { region, bucket, keyPattern, accessKeyId, secretAccessKey } = trimmed;
  if (!BUCKET_NAME.test(bucket))
    throw invalid(
      "bucket",
      "It must be a bucket's name: 3 to 63 lower-case letters, digits, dots and hyphens.",
    );
  if (!/^[a-z0-9-]{1,64}$/i.test(region))
    throw invalid(
      "region",
      "It must be a region such as eu-central-1; most storages of your own take us-east-1.",
    );
  if (!/^[!-~]{1,512}$/.test(accessKeyId)) throw invalid("access_key_id", "Copy the id of the key.");
  if (secretAccessKey.length > MAX_KEY_CHARS || /[^!-~]/.test(secretAccessKey))
    throw invalid("secret_access_key", "Copy the secret of the key, without spaces.");
  const fault = keyPatternFault(keyPattern);
  if (fault !== undefined) throw invalid("key_pattern", fault);
  return trimmed;
}

async function checkedEndpoint(context: ExportContext, accountId: string, text: string): Promise<string> {
  const url = URL.parse(text);
  if (!url || url.search || url.hash || url.username)
    throw invalid(
      "endpoint",
      "It must be the storage's address, such as https://s3.eu-central-1.amazonaws.com.",
    );
  try {
    const options = { ...context.outbound, allowedOrigins: context.config.exportAllowedOrigins };
    const party = `bucket of ${accountId}`;
    const checked = await checkAddress({ url: text, timeoutMs: SOURCE_TIMEOUT_MS, party }, options);
    return checked.replace(/\/+$/, "");
  } catch (error) {
    if (!(error instanceof GuardedHttpError)) throw error;
    if (error.kind === "ours") {
      const retryAfterSeconds = EXHAUSTED_RETRY_MS / 1000;
      throw new Refusal("SERVICE_OVERLOADED", error.message, { retryAfterSeconds, cause: error.cause });
    }
    throw invalid("endpoint", error.message, error);
  }
}

function invalid(field: string, message: string, cause?: unknown): Refusal {
  return new Refusal("INVALID_REQUEST", `${field}: ${message}`, { details: [{ field, message }], cause });
}

function noBucket(): Refusal {
  return new Refusal("NOT_FOUND", "The account names no bucket of its own. Name one first.");
}

function withoutSecret({ secretAccessKey: _, ...rest }: AccountBucket): OwnBucket {
  return rest;
}
