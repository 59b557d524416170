/** The rules of which each run reports how often it was looked at and how often it was broken. */
export const RULES = {
  ends: "every 202 ends, and no state goes back",
  keys: "one key is one image with one charge, whichever node is asked",
  ledger: "the ledger adds up",
  pictures: "every completed image has its picture as the receipt says, and nothing else is stored",
  renders: "no image is rendered more often than allowed, and stale claims are refused",
  webhooks: "each event is delivered, signed, at most 8 at a time per endpoint",
  answers: "no 5xx but 503 with Retry-After, none later than 15 s",
  drain: "after the last fault everything unfinished ends, and nothing stands still for a lease and a minute",
  rates: "all nodes together allow the tier's rate",
  refusals: "a revoked key and a suspended account are refused at the next request by every node",
  once: "the month's credits are granted once",
  flat: "connections, memory and temporary files stay bounded, and nodes end well",
} as const;
export type Rule = keyof typeof RULES;

export interface Figures {
  requests: number;
  byStatus: Record<number, number>;
  /** Requests that ended with their node, or met none. */
  unanswered: number;
  slowestMs: number;
  faults: Record<string, number>;
  /** What the proxy before the storage did. */
  storage: Record<string, number>;
  checked: Record<Rule, number>;
  problems: { rule: Rule; what: string }[];
  /** What the summary says beside a rule. */
  notes: Partial<Record<Rule, string>>;
  problem(rule: Rule, what: string): void;
  check(rule: Rule, isWell: boolean, what: () => string): void;
}

export function emptyFigures(note: (line: string) => void): Figures {
  const rules = Object.keys(RULES) as Rule[];
  const figures: Figures = {
    requests: 0,
    byStatus: {},
    unanswered: 0,
    slowestMs: 0,
    faults: {},
    storage: {},
    checked: Object.fromEntries(rules.map((rule) => [rule, 0])) as Record<Rule, number>,
    problems: [],
    notes: {},
    problem: (rule, what) => {
      figures.problems.push({ rule, what });
      note(`BROKEN ${rule}: ${what}`);
    },
    check: (rule, isWell, what) => {
      figures.checked[rule] += 1;
      if (!isWell) figures.problem(rule, what());
    },
  };
  return figures;
}

/** One line per rule, with its count and what broke it. */
export function summary(figures: Figures): string {
  const lines = (Object.keys(RULES) as Rule[]).map((rule) => {
    const broken = figures.problems.filter((problem) => problem.rule === rule).length;
    const what = broken > 0 ? `BROKEN ${broken} times` : figures.checked[rule] > 0 ? "held" : "not looked at";
    const note = figures.notes[rule] ? ` (${figures.notes[rule]})` : "";
    return `${rule.padEnd(9)} ${what.padEnd(14)} ${String(figures.checked[rule]).padStart(6)} checks: ${RULES[rule]}${note}`;
  });
  const { requests, unanswered, slowestMs, byStatus, faults, storage } = figures;
  return [
    `faults: ${list(faults)}`,
    `requests to storage that went wrong: ${list(storage)}`,
    `${requests} requests, slowest ${slowestMs} ms at a node left alone, ${unanswered} that ended with their node; by status: ${list(byStatus)}`,
    ...lines,
  ].join("\n");
}

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
