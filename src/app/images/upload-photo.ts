import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import {
  MAX_UPLOADED_BYTES,
  MAX_UPLOADED_PHOTOS,
  SOURCE_BYTES_PER_DAY,
  UPLOAD_LIFETIME_MS,
} from "../../core/limits.ts";
import { HOUR_MS, SECOND_MS } from "../../core/time.ts";
import { checkUpload } from "../../sources/fetch-source.ts";
import { UnusableImageError } from "../../sources/image-check.ts";
import { storeSource } from "../../sources/source-files.ts";
import { findPhoto, insertPhoto, type Photo, uploadsOf } from "../../store/images/photos.ts";
import type { Account } from "../../store/people/accounts.ts";
import type { AppContext } from "../context.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import type { DiskRoom } from "./disk-room.ts";
import { refuseWhenSpent } from "./fetch-sources.ts";
import type { SourceKeeper } from "./source-keeper.ts";

export interface UploadDeps extends AppContext {
  blobs: Blobs;
  keeper: SourceKeeper;
  room: DiskRoom;
  /** Of photos and badges fetched and sent. */
  sourceBytes: DailyBytes;
}

export interface Upload {
  account: Account;
  environment: Environment;
  bytes: Uint8Array;
  use: "photo" | "badge";
  /** How long it is kept, if not as long as uploads usually are. */
  keptMs?: number;
}

/** Room is made by time alone: this is how soon somebody may look again. */
const FULL_RETRY_MS = HOUR_MS;

/** Throws RATE_LIMIT_EXCEEDED when an account may send no more for now; before its bytes are read. */
export async function refuseFullUploads(deps: UploadDeps, account: Account): Promise<void> {
  await deps.room.refuseWhenLow();
  await refuseWhenSpent(deps.sourceBytes, account, SOURCE_BYTES_PER_DAY[account.tier], "photos and badges");
  const { count, bytes } = await uploadsOf(deps.store.read, account.id, deps.clock.now());
  const maxBytes = MAX_UPLOADED_BYTES[account.tier];
  if (count < MAX_UPLOADED_PHOTOS && bytes < maxBytes) return;
  throw new Refusal(
    "RATE_LIMIT_EXCEEDED",
    `The account has ${count} photos of ${Math.round(bytes / 1024 ** 2)} MB here, and may have ${MAX_UPLOADED_PHOTOS} of ${maxBytes / 1024 ** 3} GB at a time. They go after ${UPLOAD_LIFETIME_MS / 86_400_000} days; until then send the addresses of photos that you host.`,
    { retryAfterSeconds: FULL_RETRY_MS / SECOND_MS },
  );
}

/**
 * Keeps a photo or badge that a partner sent, checked like a fetched one, until it expires. Throws
 * UNSUPPORTED_IMAGE_SOURCE where it cannot be used.
 */
export async function uploadPhoto(
  deps: UploadDeps,
  { account, environment, bytes, use, keptMs = UPLOAD_LIFETIME_MS }: Upload,
): Promise<Photo> {
  // Whether it can be used or not, it was sent.
  await deps.sourceBytes.spend(account.id, bytes.length);
  const facts = await checkUpload(bytes, use).catch((error) => {
    if (!(error instanceof UnusableImageError)) throw error;
    throw new Refusal("UNSUPPORTED_IMAGE_SOURCE", `The ${use} cannot be used. ${error.message}`, {
      details: [{ field: "file", message: error.message }],
      cause: error,
    });
  });
  const hold = deps.keeper.hold();
  let used = false;
  try {
    const { sha256 } = await storeSource(deps.blobs, bytes, hold);
    const photo = await deps.store.write(
      "keep upload",
      async (tx) => {
        const now = deps.clock.now();
        const fresh: Photo = {
          ...facts,
          id: deps.random.id("pho"),
          accountId: account.id,
          environment,
          sha256,
          bytes: bytes.length,
          createdAt: now,
          expiresAt: now + keptMs,
        };
        await insertPhoto(tx, fresh);
        return fresh;
      },
      { concurrent: true },
    );
    used = true;
    return photo;
  } finally {
    await hold.close(used);
  }
}

/** An upload's bytes; null when this account has none of this id in this environment, or not any more. */
export async function uploadBytes(
  { store, blobs, clock }: Pick<UploadDeps, "store" | "blobs" | "clock">,
  scope: { accountId: string; environment: Environment; id: string },
): Promise<Uint8Array | null> {
  const photo = await findPhoto(store.read, { ...scope, now: clock.now() });
  const blob = photo && (await blobs.open("source", photo.sha256));
  return blob ? blob.bytes() : null;
}
