import type { AppContext } from "../app/context.ts";
import type { Accepted } from "../app/images/accept-image.ts";
import { imageView } from "../app/images/image-view.ts";
import type { Environment } from "../core/account.ts";
import { publicStatus } from "../core/image-state.ts";
import { MAX_PREFERRED_WAIT_S } from "../core/picture-limits.ts";
import { SECOND_MS } from "../core/time.ts";
import { findImageAnswer } from "../store/images/image-reads.ts";
import type { Caller } from "./auth.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

/**
 * The answer to an accepted create: 202, or, where the request prefers to wait and the image has ended by
 * then, 200 with the image. A caller who leaves while waiting cancels nothing.
 */
export async function created(
  deps: Pick<AppContext, "store" | "config" | "endings">,
  exchange: Exchange,
  { account, environment }: Caller,
  { answer, replayed }: Accepted,
): Promise<Response> {
  const headers = { Location: answer.poll_url, ...(replayed ? { "Idempotent-Replayed": "true" } : {}) };
  const scope = { accountId: account.id, environment, id: answer.image_id };
  return (
    (await onceEnded(deps, exchange, scope, headers)) ?? success(exchange, answer, { status: 202, headers })
  );
}

/**
 * Serves `Prefer: wait=N`: the answer with the image. Undefined where no wait was asked for, or the image is
 * still processing when it is over.
 */
export async function onceEnded(
  deps: Pick<AppContext, "store" | "config" | "endings">,
  exchange: Exchange,
  scope: { accountId: string; environment: Environment; id: string },
  headers: Record<string, string> = {},
): Promise<Response | undefined> {
  const seconds = preferredWait(exchange.request.headers.get("prefer"));
  if (seconds === 0) return undefined;
  const ended = async () => {
    const image = await findImageAnswer(deps.store.read, scope);
    return image && publicStatus(image.state) !== "processing" ? image : undefined;
  };
  await deps.endings.wait(scope.id, {
    accountId: scope.accountId,
    ms: seconds * SECOND_MS,
    signal: exchange.request.signal,
    isOver: async () => (await ended()) !== undefined,
  });
  const image = await ended();
  if (!image) return undefined;
  return success(exchange, imageView(image, { config: deps.config, progress: null }), {
    headers: { ...headers, "Preference-Applied": `wait=${seconds}` },
  });
}

/**
 * Whole seconds to wait, at most MAX_PREFERRED_WAIT_S; 0 without such a preference. What cannot be understood
 * is as if it were not there (RFC 7240, 2).
 */
export function preferredWait(prefer: string | null): number {
  for (const preference of prefer?.split(",") ?? []) {
    const [name = "", value = ""] = (preference.split(";")[0] ?? "").split("=").map((part) => part.trim());
    // The first one counts.
    if (name.toLowerCase() !== "wait") continue;
    const digits = /^(?:"(\d{1,9})"|(\d{1,9}))$/.exec(value);
    return digits ? Math.min(Number(digits[1] ?? digits[2]), MAX_PREFERRED_WAIT_S) : 0;
  }
  return 0;
}
