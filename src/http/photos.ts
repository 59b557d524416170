import { refuseFullUploads, type UploadDeps, uploadPhoto } from "../app/images/upload-photo.ts";
import {
  MAX_UPLOAD_BODY_BYTES,
  MAX_UPLOADS,
  MAX_UPLOADS_PER_ACCOUNT,
  UPLOAD_TIMEOUT_MS,
} from "../core/limits.ts";
import { uploadUrl } from "../core/own-photos.ts";
import { invalidRequest, overloaded } from "../core/partner-refusals.ts";
import { isoTime } from "../core/time.ts";
import type { Photo } from "../store/images/photos.ts";
import type { Caller } from "./auth.ts";
import { readUpload } from "./body.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

const USES = ["photo", "badge"] as const;
/** Uploads finish within seconds. */
const BUSY_RETRY_SECONDS = 5;

/** Accounts with uploads in progress, one entry per upload. */
const receiving: string[] = [];

/** POST /v1/photos */
export async function createPhoto(deps: UploadDeps, exchange: Exchange, caller: Caller): Promise<Response> {
  const { account, environment } = caller;
  await refuseFullUploads(deps, account);
  const own = receiving.filter((id) => id === account.id).length;
  if (own >= MAX_UPLOADS_PER_ACCOUNT || receiving.length >= MAX_UPLOADS) throw overloaded(BUSY_RETRY_SECONDS);
  receiving.push(account.id);
  try {
    const limits = { timeoutMs: UPLOAD_TIMEOUT_MS, maxBytes: MAX_UPLOAD_BODY_BYTES };
    const { file, fields } = await readUpload(exchange.request, limits);
    const unknown = [...fields.keys()].filter((name) => name !== "use");
    const use = USES.find((known) => known === (fields.get("use") ?? "photo"));
    const details = unknown.map((field) => ({ field, message: "is not a field of this form. Remove it." }));
    if (!use) details.push({ field: "use", message: `must be one of ${USES.join(", ")}.` });
    if (!use || details.length > 0) throw invalidRequest(details);
    const photo = await uploadPhoto(deps, { account, environment, bytes: file.bytes, use });
    return success(exchange, photoView(photo, deps.config.baseUrl), { status: 201 });
  } finally {
    receiving.splice(receiving.indexOf(account.id), 1);
  }
}

/** The public view of an upload. */
function photoView(photo: Photo, baseUrl: string) {
  return {
    photo_id: photo.id,
    url: uploadUrl({ baseUrl }, photo.id),
    content_type: photo.contentType,
    width: photo.width,
    height: photo.height,
    bytes: photo.bytes,
    created_at: isoTime(photo.createdAt),
    expires_at: isoTime(photo.expiresAt),
  };
}
