import { AUDIT_CHECKS, type Breach } from "../store/audit-checks.ts";
import type { Store } from "../store/store.ts";

/** How many breaches of one rule are named; the first few tell what happened. */
const MAX_NAMED = 50;

export interface AuditFinding {
  check: string;
  rule: string;
  ok: boolean;
  /** What breaks the rule, at most MAX_NAMED. */
  broken: Breach[];
  ms: number;
}

export interface AuditReport {
  ok: boolean;
  findings: AuditFinding[];
  ms: number;
}

/**
 * Recomputes every balance and every rule of ledger and images from the entries and the images themselves, trusting no
 * constraint, and names what is broken. Reads only; about 7 s per million images. `now` is the service's time.
 */
export async function audit(store: Pick<Store, "read">, now: number): Promise<AuditReport> {
  const startedAt = performance.now();
  const findings: AuditFinding[] = [];
  const run = { limit: MAX_NAMED, now };
  for (const { name, rule, find } of AUDIT_CHECKS) {
    const checkStartedAt = performance.now();
    const broken = await find(store.read, run);
    const ms = Math.round(performance.now() - checkStartedAt);
    findings.push({ check: name, rule, ok: broken.length === 0, broken, ms });
  }
  return {
    ok: findings.every(({ ok }) => ok),
    findings,
    ms: Math.round(performance.now() - startedAt),
  };
}
