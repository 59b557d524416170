import { addSums, type BookSum, type BookSums, sumImages, sumKey } from "../../../core/books.ts";
import { HOUR_MS, isoTime } from "../../../core/time.ts";
import type { Breach } from "../../../store/audit/audit-rule.ts";
import { imageGroups } from "../../../store/audit/audit-sums.ts";
import {
  BEGINNING,
  breakSeals,
  imagesIn,
  nextSpan,
  noteChecked,
  type SealedSpan,
  sealedBooks,
  sealedSpanAfter,
  sealSpan,
} from "../../../store/audit/sealed-books.ts";
import type { Store } from "../../../store/store.ts";

/** An image that ends now is committed within seconds, and the clocks of machines differ by no more. */
const SEAL_AFTER_MS = HOUR_MS;

export interface History {
  /** The sums of all images that ended up to `until`, epoch milliseconds; each was sound. */
  sums: BookSums;
  until: number;
  /** What was sealed and is less, or otherwise, than it was. */
  broken: Breach[];
  /** False where it ends before an image that is not sound. */
  isSound: boolean;
}

export interface HistoryOptions {
  /** The service's time, epoch milliseconds. */
  now: number;
  /** Seal what is found to be sound. Without it nothing is written. */
  write?: Store["write"] | undefined;
  /** Called with the number of images gone through since the last call. */
  onProgress?: ((images: number) => void) | undefined;
}

/** What is sealed, as it was sealed; then what has ended since, which is sealed now. */
export async function knownHistory(read: Store["read"], options: HistoryOptions): Promise<History> {
  return continued(read, { ...(await sealedBooks(read)), broken: [], isSound: true }, options);
}

/**
 * Everything, computed anew span by span and compared with what was sealed. A span may have become more, by
 * an image that ended while a clock was behind: it is sealed again. `resume`: without the spans that the last
 * such run has been through.
 */
export async function wholeHistory(
  read: Store["read"],
  options: HistoryOptions & { resume?: boolean | undefined },
): Promise<History> {
  const { now, write, onProgress, resume = false } = options;
  const history: History = { sums: new Map(), until: BEGINNING, broken: [], isSound: true };
  const first = await sealedSpanAfter(read, BEGINNING);
  // Each span has the time at which the run began that went through it last.
  const checkedAt = resume ? (first?.checkedAt ?? now) : now;
  for (let span = first; span; span = await sealedSpanAfter(read, span.until)) {
    const isDone = resume && span.checkedAt >= checkedAt;
    const found = isDone ? span.sums : sumImages(await imageGroups(read, span));
    if (!found) return { ...history, isSound: false };
    const broken = brokenSeal(span, found);
    history.broken.push(...broken);
    if (write && !isDone && broken.length === 0) await noteAgain(write, span, found, checkedAt);
    addSums(history.sums, found.values());
    history.until = span.until;
    onProgress?.(imagesIn(found));
  }
  if (history.broken.length === 0)
    history.broken.push(...(await brokenTotals(read, history, write !== undefined)));
  return continued(read, history, options);
}

async function continued(read: Store["read"], known: History, options: HistoryOptions): Promise<History> {
  const { now, write, onProgress } = options;
  const history = { ...known };
  for (;;) {
    const span = await nextSpan(read, { after: history.until, before: now - SEAL_AFTER_MS });
    if (!span) return history;
    const sums = sumImages(await imageGroups(read, span));
    if (!sums) return { ...history, isSound: false };
    await write?.("seal books", (tx) => sealSpan(tx, span, sums, now));
    addSums(history.sums, sums.values());
    history.until = span.until;
    onProgress?.(imagesIn(sums));
  }
}

/** Forgets what was sealed: the next audit begins at the first image. */
export function forgetSeals(write: Store["write"]): Promise<void> {
  return write("forget sealed books", breakSeals);
}

function noteAgain(
  write: Store["write"],
  span: SealedSpan,
  sums: BookSums,
  checkedAt: number,
): Promise<void> {
  return write("note sealed books", (tx) => noteChecked(tx, span, sums, checkedAt));
}

function brokenSeal(span: SealedSpan, found: BookSums): Breach[] {
  const id = `until ${isoTime(span.until)}`;
  if (!span.isIntact) return [{ id, detail: "its seal was changed" }];
  return whatIsLess(span.sums, found).map((detail) => ({ id, detail }));
}

/** What is kept of all spans together and is not what they add up to. */
async function brokenTotals(read: Store["read"], history: History, isNoted: boolean): Promise<Breach[]> {
  const kept = await sealedBooks(read);
  // Another audit has gone on meanwhile.
  if (kept.until !== history.until) return [];
  const less = whatIsLess(kept.sums, history.sums);
  // Spans that have grown are in the sums as soon as they are noted, and until then there may be more than is
  // kept.
  const more = isNoted ? whatIsLess(history.sums, kept.sums) : [];
  return [...less, ...more].map((detail) => ({ id: "sums of all spans", detail }));
}

/** The counts of sealed sums that have become less. */
function whatIsLess(sealed: BookSums, found: BookSums): string[] {
  const counts = ["completed", "failed", "expired"] as const;
  return [...sealed.values()].flatMap((sum: BookSum) => {
    const now = found.get(sumKey(sum));
    return counts
      .filter((count) => (now?.[count] ?? 0) < sum[count])
      .map(
        (count) => `${sumKey(sum)}: ${sum[count]} ${count} when it was sealed, ${now?.[count] ?? 0} found`,
      );
  });
}
