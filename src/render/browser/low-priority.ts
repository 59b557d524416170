import { dlopen } from "bun:ffi";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Linux' prctl(2) option and capability, from linux/prctl.h and linux/capability.h. */
const PR_CAPBSET_DROP = 24;
const CAP_SYS_NICE = 23;

const SESSION_TRIES = 20;

/**
 * Lowers the priority of this process, all its threads and its children. On Linux priority is per thread, so
 * setting it for the process alone would leave the runtime's existing threads unchanged.
 */
export function lowerPriority(niceness: number): void {
  setPriority(niceness);
  if (!existsSync("/proc/self/task")) return;
  for (const thread of readdirSync("/proc/self/task")) {
    try {
      setPriority(Number(thread), niceness);
    } catch {
      // The thread has ended meanwhile.
    }
  }
  if (process.getuid?.() === 0) keepChildrenLow();
}

/**
 * The niceness of a process's session; undefined where Linux does not share the processor out among sessions
 * (sched(7), "The autogroup feature").
 */
export function sessionNiceness(pid: number): number | undefined {
  try {
    const [, niceness] = /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, "utf8")) ?? [];
    return niceness === undefined ? undefined : Number(niceness);
  } catch {
    return undefined;
  }
}

/**
 * Sets the niceness of the session that a process leads. Where Linux shares the processor out among sessions,
 * the niceness of processes counts within one only, and workers and browsers lead their own: each would get
 * as much as the server and everybody who asks it. Resolves without it where the process leads no session.
 */
export async function lowerSession(pid: number, niceness: number): Promise<void> {
  // The kernel takes one such change in 100 ms of all users together, and workers start at the same time.
  for (let tries = 0; tries < SESSION_TRIES; tries++) {
    try {
      if (!leadsSession(pid)) return;
      return writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
    await Bun.sleep(100 + Math.random() * 100);
  }
}

/** Field 6 of proc(5)'s stat, counted behind the name, which may hold spaces. */
function leadsSession(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]) === pid;
}

/**
 * As root, Chromium raises the priority of its own threads above everything else; without this capability it
 * cannot.
 */
function keepChildrenLow(): void {
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      const { symbols } = dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
      });
      symbols.prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0);
      return;
    } catch {
      // Another libc, or none that can be loaded: renders then run at the priority of requests, nothing
      // worse.
    }
  }
}
