import type { Blobs } from "../../../blobs/blobs.ts";
import { addSums, doBooksAgree, sumImages } from "../../../core/books.ts";
import { AUDIT_CHECKS, BOOK_CHECKS } from "../../../store/audit/audit-checks.ts";
import type { AuditRun, Breach } from "../../../store/audit/audit-rule.ts";
import { openBooks } from "../../../store/audit/audit-sums.ts";
import { BEGINNING, sealedBooks } from "../../../store/audit/sealed-books.ts";
import { type PicturePlace, servedPictures } from "../../../store/images/image-files.ts";
import type { Store } from "../../../store/store.ts";
import { type History, type HistoryOptions, knownHistory, wholeHistory } from "./sealed-history.ts";

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
  /** Whether everything was looked at, or only what no earlier audit has sealed. */
  full: boolean;
  findings: AuditFinding[];
  ms: number;
}

export interface AuditOptions extends Omit<HistoryOptions, "now"> {
  /** Also check the pictures of finished images. */
  blobs?: Pick<Blobs, "stat"> | undefined;
  /** Begin behind what earlier audits have sealed, unless that does not add up. */
  sinceSealed?: boolean;
  /** Go on where a full audit was interrupted. */
  resume?: boolean | undefined;
}

/**
 * Recomputes every balance and checks every rule of ledger and images from the entries and images themselves,
 * trusting no constraint, and lists the violations. `now` is the service's time. Reads in short statements,
 * and writes nothing but seals, with `write`. About 10 s of processor per million images, and as long again
 * for their pictures; with `sinceSealed` the same only for what has ended since the last one that sealed.
 */
export async function audit(
  store: Pick<Store, "read">,
  now: number,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const startedAt = performance.now();
  const books = await auditBooks(store.read, { ...options, now });
  const findings = [...books.findings];
  const run: AuditRun = { limit: MAX_NAMED, now, since: books.since };
  for (const { name, rule, find } of AUDIT_CHECKS)
    findings.push(await finding(name, rule, () => find(store.read, run)));
  const { blobs } = options;
  if (blobs)
    findings.push(
      await finding(
        "pictures",
        "every finished image that has not expired has its picture, as long as it was written",
        () => lostPictures(store.read, { now, since: books.since, blobs }),
      ),
    );
  return {
    ok: findings.every(({ ok }) => ok),
    full: books.since === undefined,
    findings,
    ms: Math.round(performance.now() - startedAt),
  };
}

async function finding(check: string, rule: string, find: () => Promise<Breach[]>): Promise<AuditFinding> {
  const startedAt = performance.now();
  const broken = (await find()).slice(0, MAX_NAMED);
  return { check, rule, ok: broken.length === 0, broken, ms: Math.round(performance.now() - startedAt) };
}

interface AuditedBooks {
  findings: AuditFinding[];
  /** What ended up to then was audited earlier; undefined when everything was audited now. */
  since: number | undefined;
}

/**
 * The rules of credits, images and counters. They all hold where sums prove it, which is quick; where they do
 * not, each rule is asked what breaks it.
 */
async function auditBooks(
  read: Store["read"],
  options: HistoryOptions & AuditOptions,
): Promise<AuditedBooks> {
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  const { until: since } = await sealedBooks(read);
  const hasSeals = options.sinceSealed === true && since !== BEGINNING;
  if (hasSeals && (await doesProve(read, await knownHistory(read, options), false)))
    return { findings: proven(ms()), since };
  const history = await wholeHistory(read, options);
  const isProven = await doesProve(read, history, true);
  const seals: AuditFinding = {
    check: "seals",
    rule: "nothing of the history that an audit has sealed has gone since",
    ok: history.broken.length === 0,
    broken: history.broken.slice(0, MAX_NAMED),
    ms: ms(),
  };
  if (isProven) return { findings: [...proven(0), seals], since: undefined };
  const run: AuditRun = { limit: MAX_NAMED, now: options.now, since: undefined };
  const findings: AuditFinding[] = [];
  for (const { name, rule, find } of BOOK_CHECKS)
    findings.push(await finding(name, rule, () => find(read, run)));
  return { findings: [...findings, seals], since: undefined };
}

/** The rules of the books, found to hold together in so many ms. */
function proven(ms: number): AuditFinding[] {
  return BOOK_CHECKS.map(({ name, rule }, n) => ({
    check: name,
    rule,
    ok: true,
    broken: [],
    ms: n === 0 ? ms : 0,
  }));
}

/**
 * Whether a history and all that is not in it, as it is at this moment, add up to the books of the accounts.
 */
async function doesProve(read: Store["read"], history: History, countLedger: boolean): Promise<boolean> {
  if (!history.isSound) return false;
  const books = await openBooks(read, { after: history.until, countLedger });
  const open = sumImages(books.groups);
  return (
    open !== null && doBooksAgree(addSums(addSums(new Map(), history.sums.values()), open.values()), books)
  );
}

/** Checks that every promised picture exists with its recorded size. */
async function lostPictures(
  read: Store["read"],
  { now, since, blobs }: { now: number; since: number | undefined; blobs: Pick<Blobs, "stat"> },
): Promise<Breach[]> {
  const broken: Breach[] = [];
  for (let after: PicturePlace | undefined; broken.length < MAX_NAMED; ) {
    const pictures = await servedPictures(read, { now, since, after, limit: PICTURES_AT_ONCE });
    after = pictures.at(-1);
    if (!after) break;
    // A storage out of reach says nothing about its pictures: then there is no audit.
    const files = pictures.flatMap(({ id, files }) => files.map((file) => ({ id, ...file })));
    const sizes = await Promise.all(
      files.map(async ({ name }) => (await blobs.stat("picture", name))?.bytes ?? null),
    );
    files.forEach(({ id, name, bytes }, n) => {
      const size = sizes[n];
      if (size === null) broken.push({ id, detail: `its picture ${name} is missing` });
      else if (size !== bytes)
        broken.push({ id, detail: `its picture ${name} has ${size} of ${bytes} bytes` });
    });
  }
  return broken;
}
