import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** What a machine, or the container or unit on it, has for this process and those it starts. */
export interface MachineSize {
  cores: number;
  memoryBytes: number;
}

export function machineSize(): MachineSize {
  return { cores: availableParallelism(), memoryBytes: memoryLimit(totalmem(), readIfThere) };
}

/** A small text file; undefined when it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Memory available to this process and its browsers, in bytes: the machine's, or the limit of its container
 * or unit.
 */
export function memoryLimit(machineBytes: number, read: (path: string) => string | undefined): number {
  const groups = read("/proc/self/cgroup") ?? "";
  const group = groupOf(groups) ?? "";
  // The older kind of control groups, as on Ubuntu 20.04 and Red Hat 8.
  const older = groupOf(groups, "memory") ?? "";
  const limits = [
    `/sys/fs/cgroup${group}/memory.max`,
    "/sys/fs/cgroup/memory.max",
    `/sys/fs/cgroup/memory${older}/memory.limit_in_bytes`,
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
  ]
    .map((path) => Number(read(path)?.trim()))
    .filter((bytes) => Number.isInteger(bytes) && bytes > 0);
  return Math.min(machineBytes, ...limits);
}

/**
 * Whether the container or unit of this process has a share of the processor of its own (cgroups(7)).
 * Niceness counts inside it only then: other programs of the machine gain nothing by it.
 */
export function hasProcessorShare(read: (path: string) => string | undefined): boolean {
  const groups = read("/proc/self/cgroup") ?? "";
  const group = groupOf(groups);
  // Every group has this file, but the one of the whole machine.
  if (group !== undefined && read(`/sys/fs/cgroup${group}/cpu.weight`) !== undefined) return true;
  return Boolean(groupOf(groups, "cpu"));
}

/**
 * The path of this process's control group, empty for that of the whole machine; undefined without one.
 * @param groups the text of /proc/self/cgroup
 * @param controller of the older kind of control groups; the newer kind has one group for all
 */
function groupOf(groups: string, controller = ""): string | undefined {
  for (const line of groups.split("\n")) {
    const [, controllers, path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers?.split(",").includes(controller)) return path.replace(/\/$/, "");
  }
  return undefined;
}
