import { readdirSync, readFileSync } from "node:fs";

export interface Seen {
  pid: number;
  parent: number;
  group: number;
  args: string;
  /** Memory of its own in megabytes. */
  memoryMb: number;
}

/** Every process that runs now, as /proc has it. */
export function processes(): Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // Ended, and waiting for somebody to notice.
      if (state === "Z" || state === "X") return [];
      const args = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      const own = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1] ?? 0;
      return [
        {
          pid: Number(name),
          parent: Number(parent),
          group: Number(group),
          args,
          memoryMb: Number(own) / 1024,
        },
      ];
    } catch {
      return [];
    }
  });
}

/** A process and everything below it. */
export function familyOf(root: number, all = processes()): Seen[] {
  const family = all.filter(({ pid }) => pid === root);
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid));
  return family;
}

/** The first process of each browser below the service: the one that is of no special type. */
export function browsersOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("--user-data-dir=") && !args.includes("--type="));
}

/** The processes in which those browsers show pages. */
export function pagesOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("--type=renderer"));
}

export function workersOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("render-worker"));
}
