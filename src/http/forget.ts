import { type ForgetDeps, forgetImage, forgetPlayer } from "../app/images/forget-image.ts";
import { MAX_EXTERNAL_ID_CHARS } from "../core/image-request.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { isoTime } from "../core/time.ts";
import type { Caller } from "./auth.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

/** DELETE /v1/images/{image_id} */
export async function deleteImage(
  deps: ForgetDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  const deletedAt = await forgetImage(deps, { accountId: account.id, environment, id });
  return success(exchange, { image_id: id, deleted_at: isoTime(deletedAt) });
}

/** DELETE /v1/players/{external_id} */
export async function deletePlayer(
  deps: ForgetDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  externalId: string,
): Promise<Response> {
  checkExternalId(externalId);
  const count = await forgetPlayer(deps, { accountId: account.id, environment, externalId });
  return success(exchange, { images_deleted: count, deleted_at: isoTime(deps.clock.now()) });
}

/** Throws INVALID_REQUEST for what no player can be called by. */
export function checkExternalId(externalId: string): void {
  const { length } = [...externalId];
  if (length < 1 || length > MAX_EXTERNAL_ID_CHARS)
    throw invalidRequest([
      {
        field: "path external_id",
        message: `must be text of 1 to ${MAX_EXTERNAL_ID_CHARS} characters, percent-encoded in UTF-8.`,
      },
    ]);
}
