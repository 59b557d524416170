import { readdirSync, readFileSync } from "node:fs";

/**
 * Linux's page size on x64 and, usually, arm64; with larger pages the result is too small, never too large.
 */
const PAGE_BYTES = 4096;

/**
 * The memory of process groups in bytes, without memory shared with other processes, by the group leader's
 * process id. Read from /proc, which also covers sandboxed Chromium processes; empty on systems other than
 * Linux.
 */
export function memoryOfGroups(): Map<number, number> {
  const groups = new Map<number, number>();
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return groups;
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The command name in parentheses may contain anything; state, parent and group follow it.
      const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3)[2]);
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${name}/statm`, "utf8")
        .split(" ", 3)
        .map(Number);
      groups.set(group, (groups.get(group) ?? 0) + Math.max(0, resident - shared) * PAGE_BYTES);
    } catch {
      // The process ended meanwhile.
    }
  }
  return groups;
}
