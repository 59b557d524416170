import { MAX_WAITING_RESETS } from "../../core/sign-in-limits.ts";
import type { AppContext } from "../context.ts";
import { requestPasswordReset } from "./manage-users.ts";

/**
 * Requests for new passwords, from the answer until they are looked at beside all requests: a look-up and a
 * write for known people alone would be seen in the time of the answer, or of the next one.
 */
export interface PasswordResets {
  /** Takes the same time for everybody. Those beyond MAX_WAITING_RESETS are dropped. */
  request(email: string): void;
  /** Writes the mails of all that wait; known people alone get one. */
  write(): Promise<void>;
}

export function passwordResets(
  context: Parameters<typeof requestPasswordReset>[0] & Pick<AppContext, "log">,
): PasswordResets {
  const waiting = new Set<string>();
  return {
    request: (email) => {
      if (waiting.size < MAX_WAITING_RESETS) waiting.add(email);
    },
    write: async () => {
      for (const email of [...waiting]) {
        waiting.delete(email);
        await requestPasswordReset(context, email).catch((error: unknown) =>
          context.log.error("password_reset_failed", { error: (error as Error).message }),
        );
      }
    },
  };
}
