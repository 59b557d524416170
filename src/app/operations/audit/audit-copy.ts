import type { Blobs } from "../../../blobs/blobs.ts";
import { OperatorError } from "../../../core/errors.ts";
import type { Store } from "../../../store/store.ts";
import type { Step } from "../backup/backup.ts";
import { audit } from "./audit.ts";

export interface AuditCopyOptions {
  /** Epoch milliseconds. */
  now: number;
  /** Where its pictures are looked for, if they are. */
  blobs?: Blobs;
  /** What to do when a rule is broken: sentences for the operator. */
  remedy: string;
}

/**
 * Audits a copy and returns how many rules hold there. Throws an OperatorError that names those that do not.
 */
export async function auditCopy(
  copy: Store,
  { now, blobs, remedy }: AuditCopyOptions,
  step: Step,
): Promise<number> {
  const { findings } = await step("the books there", () => audit(copy, now, { blobs }));
  const broken = findings.filter(({ ok }) => !ok).map(({ check }) => check);
  if (broken.length === 0) return findings.length;
  throw new OperatorError(
    `Everything was copied, but these rules do not hold there: ${broken.join(", ")}. ${remedy}`,
  );
}
