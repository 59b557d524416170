import { withinGivenTime } from "../browser/withheld.ts";

/**
 * Rejects when `work` of this process or its browser takes longer than `timeoutMs`, not counting what the
 * processor was withheld; `what` names the work in the message.
 */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  return withinGivenTime(work, timeoutMs, `${what} took longer than ${timeoutMs} ms`);
}
