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
