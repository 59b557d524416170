import { join } from "node:path";
import { post } from "../harness.ts";
import type { PromisedBatch } from "./batches.ts";

export interface CrashFigures {
  cycles: number;
  /** How many cycles ended at the step they were meant to; the others were killed at some other moment. */
  reached: number;
  accepted: number;
  completed: number;
  failed: number;
  replayed: number;
  /** Batches whose cancellation ended cards. */
  canceled: number;
  /** 202s whose image is gone or never ended. */
  lost: number;
  /** Images that were never accepted, or were charged more than once. */
  double: number;
  orphansServed: number;
  orphansSwept: number;
  leftoverProcesses: number;
  creditsAddUp: boolean;
  problems: string[];
}

/** A create and what the partner knows of it. */
export interface Promised {
  key: string;
  apiKey: string;
  body: string;
  /** The 202's bytes; undefined while the partner does not know whether it was accepted. */
  answer?: string;
  imageId?: string;
}

export interface Bench {
  dir: string;
  env: Record<string, string>;
  keys: { live: string; test: string };
  photoOrigin: string;
  promised: Promised[];
  /** Whose numbers are looked through at the end. */
  setId: string;
  batches: PromisedBatch[];
  /** Pictures on the disk after a crash that no row refers to; they must never be served. */
  orphans: Set<string>;
  figures: CrashFigures;
  note: (line: string) => void;
}

export interface CrashingServer {
  /** Undefined when it crashed before it listened. */
  address: string | undefined;
  exited: Promise<number>;
  /** Resolves when the step is reached. */
  reached: Promise<void>;
  step(): string | undefined;
  kill(): void;
  terminate(): void;
}

/** Starts the real server as a separate process; resolves when it listens, or has crashed before that. */
export async function startCrashing(bench: Bench, env: Record<string, string>): Promise<CrashingServer> {
  let address: string | undefined;
  let step: string | undefined;
  const listening = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "server.ts")], {
    env: { ...process.env, ...bench.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const reading = readLines(child.stdout, (line) => {
    if (!line.startsWith("{")) return;
    const entry = JSON.parse(line);
    if (entry.event === "crash") {
      step = entry.step;
      reached.resolve();
    }
    if (entry.event === "sweep_failed" || entry.event === "loop_failed") bench.figures.problems.push(line);
    if (entry.event !== "listening") return;
    address = entry.address;
    listening.resolve();
  });
  const exited = child.exited.then(async (code) => {
    await reading;
    return code;
  });
  await Promise.race([listening.promise, exited]);
  return {
    address,
    exited,
    reached: reached.promise,
    step: () => step,
    kill: () => child.kill("SIGKILL"),
    terminate: () => child.kill("SIGTERM"),
  };
}

async function readLines(stream: ReadableStream<Uint8Array>, each: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) each(line);
  }
}

/** Sends a create; whatever was promised before must be answered again with the same bytes. */
export async function send(bench: Bench, address: string, promise: Promised): Promise<void> {
  let status: number;
  let answer: string;
  try {
    const response = await post(address, promise.apiKey, promise.body, { "Idempotency-Key": promise.key });
    status = response.status;
    answer = await response.text();
  } catch {
    return; // The crash came first: the partner does not know, and asks again after the restart.
  }
  if (status !== 202) {
    // Refused by a full queue or a photo that was too slow on a busy machine, it was never accepted.
    const isPassing = status === 503 || answer.includes("No complete answer came within");
    if (!isPassing) bench.figures.problems.push(`${promise.key} was answered ${status}: ${answer}`);
    return;
  }
  if (promise.answer === undefined) {
    promise.answer = answer;
    promise.imageId = JSON.parse(answer).data.image_id;
    bench.figures.accepted += 1;
  } else if (promise.answer === answer) bench.figures.replayed += 1;
  else bench.figures.problems.push(`${promise.key} was replayed with other bytes: ${answer}`);
}
