import type { Config } from "../../config.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_RETENTION_DAYS } from "../../core/limits.ts";
import { setAccountRetention, setDevelopersDelete } from "../../store/people/accounts.ts";
import type { AppContext } from "../context.ts";
import { type Actor, logAction } from "../operations/activity.ts";

/** In days; null means the service's default, and never. */
export interface Retention {
  retentionDays: number | null;
  forgetAfterDays: number | null;
}

/**
 * Sets how long an account's pictures are served, from the next card on, and after how many days everything
 * personal about an image is deleted, which cannot be sooner than pictures stop being served. Throws
 * INVALID_REQUEST.
 */
export async function changeRetention(
  {
    store,
    clock,
    random,
    config,
  }: Pick<AppContext, "store" | "clock" | "random"> & {
    config: Pick<Config, "retentionDays">;
  },
  accountId: string,
  { retentionDays, forgetAfterDays }: Retention,
  by: Actor,
): Promise<void> {
  for (const days of [retentionDays, forgetAfterDays])
    if (days !== null && !(Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS))
      throw new Refusal(
        "INVALID_REQUEST",
        `Write a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or nothing.`,
      );
  const servedDays = retentionDays ?? config.retentionDays;
  // A partner would go by the longer promise: the picture would be gone before its expires_at.
  if (forgetAfterDays !== null && servedDays > forgetAfterDays)
    throw new Refusal(
      "INVALID_REQUEST",
      `Pictures would be served for ${servedDays} days${retentionDays === null ? ", as the service is set," : ""} but be deleted with everything personal after ${forgetAfterDays}. Serve pictures for ${forgetAfterDays} at most, or delete after ${servedDays} at the earliest.`,
    );
  const subject = `pictures ${retentionDays ?? "as the service is set"}, everything personal ${forgetAfterDays ?? "until asked"} (days)`;
  await store.write(
    "change retention",
    async (tx) => {
      const now = clock.now();
      await setAccountRetention(tx, accountId, { retentionDays, forgetAfterDays, now });
      await logAction(tx, { by, accountId, action: "account.retention_changed", subject }, { now, random });
    },
    { concurrent: true },
  );
}

/** Says whether developers may delete players in the console, as owners always may. */
export async function allowDevelopersToDelete(
  { store, clock, random }: Pick<AppContext, "store" | "clock" | "random">,
  accountId: string,
  isAllowed: boolean,
  by: Actor,
): Promise<void> {
  const subject = `players by ${isAllowed ? "owners and developers" : "owners alone"}`;
  const action = "account.deletion_changed" as const;
  await store.write(
    "change deletion",
    async (tx) => {
      const now = clock.now();
      await setDevelopersDelete(tx, accountId, { isAllowed, now });
      await logAction(tx, { by, accountId, action, subject }, { now, random });
    },
    { concurrent: true },
  );
}
