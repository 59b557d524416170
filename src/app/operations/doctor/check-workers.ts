import type { Config } from "../../../config.ts";
import { counted } from "../../../core/counted.ts";
import { LEAST_MEMORY_BYTES, memoryFor, workersFor } from "../../../core/machine-limits.ts";
import type { MachineSize } from "../../../system/machine-size.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether the machine has the cores and the memory for its render workers. */
export function checkWorkers(
  { renderWorkers }: Pick<Config, "renderWorkers">,
  machine: MachineSize,
): Omit<Diagnosis, "check"> {
  const { cores, memoryBytes } = machine;
  const found = `${counted(renderWorkers, "render worker")} on ${counted(cores, "core")} and ${gigabytes(memoryBytes)} GB`;
  if (memoryBytes < LEAST_MEMORY_BYTES)
    return {
      status: "warning",
      message: `${found}: the browser is ended for want of memory before a card is made. Give the machine, container or unit at least ${gigabytes(LEAST_MEMORY_BYTES)} GB, better 1 GB, and CARDPRESS_RENDER_WORKERS=1.`,
    };
  const needed = memoryFor(renderWorkers);
  if (needed > memoryBytes)
    return {
      status: "warning",
      message: `${found}: with large photos they need ${gigabytes(needed)} GB. Set CARDPRESS_RENDER_WORKERS=${workersFor(machine)}.`,
    };
  if (renderWorkers > cores)
    return {
      status: "warning",
      message: `${found}: more than cores only slows them. Set CARDPRESS_RENDER_WORKERS=${workersFor(machine)}.`,
    };
  return { status: "ok", message: found };
}

function gigabytes(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}
