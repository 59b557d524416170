import { OperatorError } from "../core/errors.ts";
import { MINUTE_MS, SECOND_MS } from "../core/time.ts";

/** The first card of a slow machine takes a minute; of one that is busy besides, more. */
const GIVE_UP_MS = 5 * MINUTE_MS;
/** Quick at first, for the eye; then far below the 120 requests a minute of the demo's account. */
const FIRST_PAUSE_MS = 150;
const LAST_PAUSE_MS = SECOND_MS;
const PAUSE_GROWTH = 1.2;

// biome-ignore lint/suspicious/noExplicitAny: the demo reads the answers as any partner's script would.
export type Answer = any;

/** Too many requests: to be asked again later. */
export class TooSoon extends OperatorError {
  constructor(
    message: string,
    readonly waitMs: number,
  ) {
    super(message);
  }
}

/** The data of an answer. Throws an OperatorError for a refusal, for too many requests a TooSoon. */
export async function call(url: string, key: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { ...init, headers: { ...init.headers, "X-API-Key": key } });
  const body = (await response.json()) as Answer;
  if (body.success) return body.data;
  const message = `${url} answered ${response.status}: ${body.error.message}`;
  if (response.status !== 429) throw new OperatorError(message);
  throw new TooSoon(message, Number(response.headers.get("retry-after") ?? 1) * SECOND_MS);
}

/**
 * Polls an image until it has ended, no more often than the limit of an account allows, whatever it takes.
 * @param sleep given in tests, which do not wait
 * @throws an OperatorError where the card failed, or took too long
 */
export async function pollUntilEnded(
  getImage: () => Promise<Answer>,
  note: (text: string) => void,
  sleep: (ms: number) => Promise<void> = Bun.sleep,
): Promise<Answer> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; ) {
    const image = await getImage().catch((error) => {
      if (error instanceof TooSoon) return error;
      throw error;
    });
    const isTooSoon = image instanceof TooSoon;
    if (!isTooSoon) {
      if (image.status === "completed") return image;
      if (image.status === "failed") throw new OperatorError(`The card failed: ${image.failure.message}`);
      note(image.progress === null ? "queued" : `${Math.round(image.progress * 100)} %`);
    }
    const waitMs = isTooSoon ? image.waitMs : pauseMs;
    await sleep(waitMs);
    waitedMs += waitMs;
    pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * PAUSE_GROWTH);
  }
  throw new OperatorError(`The card was not finished after ${GIVE_UP_MS / SECOND_MS} s.`);
}
