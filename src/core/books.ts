// The sums the audit works with: what images ended how, with whose credits, and what that leaves an account.

/** Images of one account that ended the same way, paid by equal ledger entries. */
export interface ImageGroup {
  accountId: string;
  environment: string;
  state: string;
  /** 1 where the rows of the images are possible in their state, otherwise 0. */
  isSound: number;
  /**
   * Each image's reservation as "account bucket month amount"; null for none, "several" where it has more
   * than one.
   */
  reserve: string | null;
  /** Its settlement or release: the kind, and the same. */
  resolution: string | null;
  /** The late expiry of the released credit, written like the reservation. */
  expiry: string | null;
  images: number;
}

/**
 * How the images of one account went that paid with one bucket's credits of one month; test images pay with
 * none.
 */
export interface BookSum {
  accountId: string;
  environment: string;
  bucket: string;
  period: string;
  completed: number;
  failed: number;
  /** Failed ones whose credit came back after its month, and expired. */
  expired: number;
  /** Those that have not ended. */
  open: number;
}

/** Sums by what tells them apart. */
export type BookSums = Map<string, BookSum>;

/** Balances, grants and counters of the accounts, beside which the sums of the images are put. */
export interface AccountBooks {
  accounts: { id: string; planPeriod: string; plan: number; topup: number; held: number }[];
  /** Entries for no image, summed by account, kind, bucket and month. */
  entries: {
    accountId: string;
    kind: "grant" | "expire";
    bucket: string;
    period: string;
    entries: number;
    amount: number;
    least: number;
  }[];
  usage: {
    accountId: string;
    environment: string;
    requested: number;
    completed: number;
    failed: number;
    creditsUsed: number;
  }[];
  /** All entries that the ledger has; null when nobody counted. */
  ledgerEntries: number | null;
}

const COUNTS = ["completed", "failed", "expired", "open"] as const;
const MONTH = /^\d{4}-\d\d$/;

export const sumKey = ({ accountId, environment, bucket, period }: Omit<BookSum, (typeof COUNTS)[number]>) =>
  [accountId, environment, bucket, period].join(" ");

/** Adds sums up in `into`, in place. */
export function addSums(into: BookSums, sums: Iterable<BookSum>): BookSums {
  for (const sum of sums) {
    const known = into.get(sumKey(sum));
    if (!known) into.set(sumKey(sum), { ...sum });
    else for (const count of COUNTS) known[count] += sum[count];
  }
  return into;
}

/**
 * The sums of groups of images; null unless every one of them is sound and has the entries of its end, each
 * of one credit, of its own account, and of one bucket and month.
 */
export function sumImages(groups: readonly ImageGroup[]): BookSums | null {
  const sums: BookSums = new Map();
  for (const group of groups) {
    const { accountId, environment, state, images } = group;
    const paidWith = paidCredit(group);
    if (!paidWith || Number(group.isSound) !== 1) return null;
    const ended = state === "completed" || state === "failed" ? state : "open";
    const counts = { completed: 0, failed: 0, open: 0, expired: group.expiry === null ? 0 : images };
    addSums(sums, [{ accountId, environment, ...paidWith, ...counts, [ended]: images }]);
  }
  return sums;
}

/** The bucket and month that an image's entries agree on; undefined where they do not fit it. */
function paidCredit(group: ImageGroup): { bucket: string; period: string } | undefined {
  const { accountId, environment, state, reserve, resolution, expiry } = group;
  if (environment === "test")
    return reserve === null && resolution === null && expiry === null
      ? { bucket: "", period: "" }
      : undefined;
  const [, bucket = "", period = ""] = reserve?.split(" ") ?? [];
  if (!["plan", "topup"].includes(bucket) || !MONTH.test(period)) return undefined;
  if (reserve !== `${accountId} ${bucket} ${period} 1`) return undefined;
  const end = { completed: `settle ${reserve}`, failed: `release ${reserve}` }[state] ?? null;
  if (resolution !== end) return undefined;
  const isLate = expiry === reserve && state === "failed" && bucket === "plan";
  return expiry === null || isLate ? { bucket, period } : undefined;
}

/**
 * Whether everything adds up: each balance is what the entries of the account leave, the plan credits of past
 * months are gone, each month was granted and expired at most once, the counters of usage count the images,
 * and no entry is left over.
 */
export function doBooksAgree(sums: BookSums, books: AccountBooks): boolean {
  const accounts = new Map(books.accounts.map((account) => [account.id, account]));
  const left = new Map<string, { accountId: string; bucket: string; period: string; credits: number }>();
  const add = (of: { accountId: string; bucket: string; period: string }, credits: number) => {
    const key = [of.accountId, of.bucket, of.period].join(" ");
    const known = left.get(key);
    if (known) known.credits += credits;
    else left.set(key, { accountId: of.accountId, bucket: of.bucket, period: of.period, credits });
  };
  const held = new Map<string, number>();
  let entries = 0;
  for (const sum of sums.values()) {
    if (sum.environment === "test") continue;
    add(sum, -sum.completed - sum.open - sum.expired);
    held.set(sum.accountId, (held.get(sum.accountId) ?? 0) + sum.open);
    entries += sum.open + 2 * (sum.completed + sum.failed) + sum.expired;
  }
  for (const entry of books.entries) {
    if (!isEntryPossible(entry)) return false;
    add(entry, entry.kind === "grant" ? entry.amount : -entry.amount);
    entries += entry.entries;
  }
  if (books.ledgerEntries !== null && books.ledgerEntries !== entries) return false;
  const balances = new Map<string, { plan: number; topup: number }>();
  for (const { accountId, bucket, period, credits } of left.values()) {
    const account = accounts.get(accountId);
    if (!account) return false;
    const own = balances.get(accountId) ?? { plan: 0, topup: 0 };
    own[bucket === "plan" ? "plan" : "topup"] += credits;
    balances.set(accountId, own);
    if (bucket !== "plan") continue;
    if (period > account.planPeriod || credits !== (period === account.planPeriod ? account.plan : 0))
      return false;
  }
  const areKept = books.accounts.every(({ id, plan, topup, held: kept }) => {
    const { plan: ofPlan, topup: ofTopup } = balances.get(id) ?? { plan: 0, topup: 0 };
    return plan === ofPlan && topup === ofTopup && kept === (held.get(id) ?? 0) && plan >= 0 && topup >= 0;
  });
  return areKept && isUsageCounted(sums, books);
}

function isEntryPossible({ kind, bucket, period, entries, least }: AccountBooks["entries"][number]): boolean {
  if (least <= 0 || !MONTH.test(period) || !["plan", "topup"].includes(bucket)) return false;
  return bucket === "plan" ? entries === 1 : kind === "grant";
}

function isUsageCounted(sums: BookSums, { usage }: AccountBooks): boolean {
  const counts = new Map<string, number[]>();
  const add = (accountId: string, environment: string, numbers: readonly number[]) => {
    const known = counts.get(`${accountId} ${environment}`) ?? [0, 0, 0, 0];
    counts.set(
      `${accountId} ${environment}`,
      known.map((n, at) => n + (numbers[at] ?? 0)),
    );
  };
  for (const { accountId, environment, completed, failed, open } of sums.values()) {
    const used = environment === "test" ? 0 : completed;
    add(accountId, environment, [completed + failed + open, completed, failed, used]);
  }
  for (const { accountId, environment, requested, completed, failed, creditsUsed } of usage)
    add(accountId, environment, [-requested, -completed, -failed, -creditsUsed]);
  return [...counts.values()].every((numbers) => numbers.every((n) => n === 0));
}
