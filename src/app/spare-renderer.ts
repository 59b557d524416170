import { Refusal } from "../core/errors.ts";
import type { Renderer, RenderPool } from "../render/pool.ts";

const WAIT_FOR_RENDERER_MS = 30_000;
const BUSY_RETRY_SECONDS = 10;

/**
 * A renderer for what is not charged. Paid cards come first: throws SERVICE_OVERLOADED when none becomes free
 * in time.
 */
export function spareRenderer(pool: Pick<RenderPool, "acquire">): Promise<Renderer> {
  return pool.acquire(AbortSignal.timeout(WAIT_FOR_RENDERER_MS)).catch((cause) => {
    throw new Refusal("SERVICE_OVERLOADED", "All renderers are busy with cards. Try again in a moment.", {
      retryAfterSeconds: BUSY_RETRY_SECONDS,
      cause,
    });
  });
}
