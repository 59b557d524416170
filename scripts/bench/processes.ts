import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** A process and its descendants. */
export interface Family {
  /** CPU time so far of those still running, in milliseconds. */
  processorMs: number;
  /** Private memory in megabytes, which no other process could share. */
  memoryMb: number;
}

/** Reads /proc, so it works only on Linux, like the service. */
export function familyOf(pid: number): Family {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = read(`/proc/${entry}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    ticks.set(Number(entry), Number(fields[11]) + Number(fields[12]));
  }
  const family = [pid];
  let [processorMs, memoryMb] = [0, 0];
  for (let one = family.pop(); one !== undefined; one = family.pop()) {
    processorMs += (ticks.get(one) ?? 0) * TICK_MS;
    memoryMb += Number(/RssAnon:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0) / 1024;
    family.push(...(children.get(one) ?? []));
  }
  return { processorMs, memoryMb };
}

/** Empty when the process ended between listing and reading. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
