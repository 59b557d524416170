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
  const group = /^0::(.*)$/m.exec(groups)?.[1]?.replace(/\/$/, "") ?? "";
  // The older kind of control groups, as on Ubuntu 20.04 and Red Hat 8.
  const older = /^\d+:memory:(.*)$/m.exec(groups)?.[1]?.replace(/\/$/, "") ?? "";
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
  const group = /^0::(.*)$/m.exec(groups)?.[1]?.replace(/\/$/, "");
  // Every group has this file, but the one of the whole machine.
  if (group !== undefined && read(`/sys/fs/cgroup${group}/cpu.weight`) !== undefined) return true;
  const [, older = "/"] = /^\d+:(?:[\w,]+,)?cpu(?:,[\w,]+)?:(.*)$/m.exec(groups) ?? [];
  return older !== "/";
}
