import type { Config } from "../../../config.ts";
import { SECOND_MS } from "../../../core/time.ts";
import { type MatteTrial, tryMatteModel } from "../../../render/photo/matte-model.ts";
import { tryNetworks } from "../../../render/photo/networks.ts";
import { findOnnxRuntime } from "../../../render/photo/onnx-runtime.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** The built-in network takes a quarter of a second; a card in ten is what a partner still waits for. */
const SLOW_MS = 10 * SECOND_MS;
/** Half of what a render worker gives the step, for it is busy with other things as well. */
const TOO_SLOW_MS = 20 * SECOND_MS;
/** A worker without the network, at work: what its limit has to have room for beside it. */
const WORKER_OWN_BYTES = 800 * 1024 ** 2;

/** Loads what finds and cuts out players, and runs the operator's matte network, where there is one. */
export async function checkMatte(
  { matteModel, workerMemoryBytes }: Config,
  folder: Pick<DataFolder, "cache">,
): Promise<Omit<Diagnosis, "check">> {
  const runtime = await findOnnxRuntime(folder.cache);
  const networks = await tryNetworks(runtime);
  if (matteModel === undefined)
    return { status: "ok", message: `${networks} built-in networks load, one of them cuts players out` };
  return judged(await tryMatteModel(matteModel, runtime), workerMemoryBytes);
}

const KINDS = { u2net: "U^2-Net", isnet: "IS-Net", birefnet: "BiRefNet" };

/** What a trial of the network means for a service with that much memory for a worker. */
export function judged(trial: MatteTrial, workerMemoryBytes: number): Omit<Diagnosis, "check"> {
  const { path, sha256, kind, size, runMs, memoryBytes, sees } = trial;
  const sides = size ? `${size.width} x ${size.height}` : "any size";
  const found = `${path} (${sha256.slice(0, 16)}), read as ${KINDS[kind]}, ${sides}: ${(runMs / SECOND_MS).toFixed(1)} s a photo, ${megabytes(memoryBytes)} MB`;
  if (!sees)
    return {
      status: "failed",
      message: `${found}; but it does not separate a bright disc from its background, so it is not a matte network. Set CARDPRESS_MATTE_MODEL to another file, or unset it.`,
    };
  if (runMs > TOO_SLOW_MS)
    return {
      status: "failed",
      message: `${found}: cards would run out of time. Take a smaller one, or a faster machine.`,
    };
  const needed = WORKER_OWN_BYTES + memoryBytes;
  if (needed > workerMemoryBytes)
    return {
      status: "warning",
      message: `${found}: workers would be replaced for their memory. Set CARDPRESS_WORKER_MEMORY_MB=${100 * Math.ceil(megabytes(needed) / 100)}, and have as much for each of CARDPRESS_RENDER_WORKERS.`,
    };
  if (runMs > SLOW_MS)
    return {
      status: "warning",
      message: `${found}: every new photo waits for it. A smaller one is quicker.`,
    };
  return { status: "ok", message: found };
}

const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);
