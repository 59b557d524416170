import { readdirSync, readFileSync } from "node:fs";

/** How long each thread has waited for a processor since it began, in milliseconds, by its id. */
export type Waits = ReadonlyMap<number, number>;

/**
 * The waits of a process and all that descend from it: a worker with its browser. Read from Linux' scheduler;
 * empty elsewhere. Takes some milliseconds, so it is for those that are late already.
 */
export function waitsBelow(root: number): Waits {
  const waits = new Map<number, number>();
  for (const pid of familyOf(root)) {
    for (const thread of namesIn(`/proc/${pid}/task`)) {
      // Time on the processor, time waiting for one, both in nanoseconds, and how often.
      const [, waited] = read(`/proc/${pid}/task/${thread}/schedstat`).split(" ");
      if (waited) waits.set(Number(thread), Number(waited) / 1e6);
    }
  }
  return waits;
}

/** How much longer the thread that waited most has waited: work goes no faster than its slowest part. */
function longestWait(before: Waits, after: Waits): number {
  let longest = 0;
  for (const [thread, waited] of after) longest = Math.max(longest, waited - (before.get(thread) ?? 0));
  return longest;
}

/** A process and its descendants. */
function familyOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of namesIn("/proc")) {
    const stat = read(`/proc/${name}/stat`);
    // The name in parentheses may contain anything; state and parent follow it.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2)[1]);
    if (stat !== "") children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [root];
  for (const pid of family) family.push(...(children.get(pid) ?? []));
  return family;
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
};

/** Empty when the process or thread has ended meanwhile. */
const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

export interface Limit {
  limitMs: number;
  /** The limit by the clock, however little of the processor was given. */
  mostMs: number;
  /** The process that works, with its descendants. */
  root: number;
  onOver: () => void;
}

/** What a limit looks at, which tests replace. */
export interface LimitPorts {
  waits: (root: number) => Waits;
  /** Calls back later; returns what cancels that. */
  after: (ms: number, then: () => void) => () => void;
}

const SYSTEM: LimitPorts = {
  waits: waitsBelow,
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/** Looks in a limit's time: the first makes a beginning, so that work that is quicker costs nothing. */
const LOOKS = 3;

/**
 * A time limit that counts the time in which a processor was given: what the machine's other programs took is
 * not held against the work, so a card on a busy machine is slow instead of broken off and begun again. Work
 * that waits for something else than a processor, or runs for ever, is over as soon as on a quiet machine.
 * Returns what cancels it.
 */
export function limitGivenTime({ limitMs, mostMs, root, onOver }: Limit, ports = SYSTEM): () => void {
  const sliceMs = limitMs / LOOKS;
  let elapsedMs = 0;
  let last: Waits | undefined;
  let lookedMs = 0;
  let withheldMs = 0;
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = ports.after(ms, () => {
      elapsedMs += ms;
      look(ms);
    });
  };
  const look = (ms: number) => {
    const now = ports.waits(root);
    if (last) {
      lookedMs += ms;
      withheldMs += Math.min(ms, longestWait(last, now));
    }
    last = now;
    // Before the first look it went as it has gone since.
    const given = lookedMs === 0 ? 1 : 1 - withheldMs / lookedMs;
    const left = Math.min(limitMs - elapsedMs * given, mostMs - elapsedMs);
    if (left < 1) onOver();
    else wait(Math.min(sliceMs, Math.max(left, sliceMs / LOOKS)));
  };
  wait(sliceMs);
  return () => cancel();
}

/** By the clock a limit may become so much longer while other programs have the processor. */
const MOST = 3;

/** Rejects with the message when work of this process and its browser is over a limit of given time. */
export async function withinGivenTime<T>(work: Promise<T>, limitMs: number, message: string): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    const onOver = () => reject(new Error(message));
    cancel = limitGivenTime({ limitMs, mostMs: MOST * limitMs, root: process.pid, onOver });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
