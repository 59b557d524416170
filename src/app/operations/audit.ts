import type { Blobs } from "../../blobs/blobs.ts";
import { AUDIT_CHECKS, type Breach } from "../../store/audit-checks.ts";
import { type PicturePlace, servedPictures } from "../../store/image-files.ts";
import type { Store } from "../../store/store.ts";

/** Pictures checked concurrently; each is one call to the disk, or one request to the bucket. */
const PICTURES_AT_ONCE = 100;

/** How many violations of one rule are listed; the first few show what happened. */
const MAX_NAMED = 50;

export interface AuditFinding {
  check: string;
  rule: string;
  ok: boolean;
  /** The violations, at most MAX_NAMED. */
  broken: Breach[];
  ms: number;
}

export interface AuditReport {
  ok: boolean;
  findings: AuditFinding[];
  ms: number;
}

/**
 * Recomputes every balance and checks every rule of ledger and images from the entries and images themselves,
 * trusting no constraint, and lists the violations. With `blobs` it also checks the pictures of all finished images.
 * Read-only; about 7 s per million images, and as long again for their pictures. `now` is the service's time.
 */
export async function audit(
  store: Pick<Store, "read">,
  now: number,
  blobs?: Pick<Blobs, "stat">,
): Promise<AuditReport> {
  const startedAt = performance.now();
  const findings: AuditFinding[] = [];
  const run = { limit: MAX_NAMED, now };
  for (const { name, rule, find } of AUDIT_CHECKS) {
    const checkStartedAt = performance.now();
    const broken = await find(store.read, run);
    const ms = Math.round(performance.now() - checkStartedAt);
    findings.push({ check: name, rule, ok: broken.length === 0, broken, ms });
  }
  if (blobs) findings.push(await lookForPictures(store.read, now, blobs));
  return {
    ok: findings.every(({ ok }) => ok),
    findings,
    ms: Math.round(performance.now() - startedAt),
  };
}

/** Checks that every promised picture exists with its recorded size. */
async function lookForPictures(
  read: Store["read"],
  now: number,
  blobs: Pick<Blobs, "stat">,
): Promise<AuditFinding> {
  const startedAt = performance.now();
  const broken: Breach[] = [];
  for (let after: PicturePlace | undefined; broken.length < MAX_NAMED; ) {
    const pictures = await servedPictures(read, { now, after, limit: PICTURES_AT_ONCE });
    after = pictures.at(-1);
    if (!after) break;
    // A storage that cannot be asked says nothing of its pictures: then there is no audit.
    const sizes = await Promise.all(
      pictures.map(async ({ name }) => (await blobs.stat("picture", name))?.bytes ?? null),
    );
    pictures.forEach(({ id, name, bytes }, n) => {
      const size = sizes[n];
      if (size === null) broken.push({ id, detail: `its picture ${name} is missing` });
      else if (size !== bytes)
        broken.push({ id, detail: `its picture ${name} has ${size} of ${bytes} bytes` });
    });
  }
  return {
    check: "pictures",
    rule: "every finished image that has not expired has its picture, as long as it was written",
    ok: broken.length === 0,
    broken: broken.slice(0, MAX_NAMED),
    ms: Math.round(performance.now() - startedAt),
  };
}
