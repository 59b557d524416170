import { readdirSync, readFileSync } from "node:fs";

export interface Seen {
  pid: number;
  parent: number;
  group: number;
  args: string;
  /** Memory not shared with other processes, in megabytes. */
  memoryMb: number;
}

/** Every running process, from /proc. */
export function processes(): Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // A zombie: it has ended but was not reaped.
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

/** A process and its descendants. */
export function familyOf(root: number, all = processes()): Seen[] {
  const family = all.filter(({ pid }) => pid === root);
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid));
  return family;
}

/** The main process of each browser below the service: the one without a --type flag. */
export function browsersOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("--user-data-dir=") && !args.includes("--type="));
}

/** Those browsers' page processes. */
export function pagesOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("--type=renderer"));
}

export function workersOf(root: number): Seen[] {
  return familyOf(root).filter(({ args }) => args.includes("render-worker"));
}
