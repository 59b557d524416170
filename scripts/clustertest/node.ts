import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { browsersOf, familyOf } from "../soak/processes.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const READY_PATIENCE_MS = 90_000;
const POLL_MS = 100;

/** One server process, killed and started again over the same folder. */
export interface Node {
  name: string;
  address: string;
  dir: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** A fault is being done to it, so that no other one should be. */
  isBusy: boolean;
  /** Whether it did not run freely at some time since then (performance.now()). */
  wasDisturbed(since: number): boolean;
  /** How many lines of its log had this event, over all its lives, by a further field where one is given. */
  logged(event: string, field?: [name: string, value: string]): number;
  start(): void;
  untilReady(): Promise<void>;
  /** Ends its process group at once. */
  kill(): Promise<void>;
  freeze(): void;
  wake(): void;
  /** Asks it to end; its exit code. */
  terminate(): Promise<number>;
}

export interface NodeOptions {
  name: string;
  dir: string;
  port: number;
  env: Record<string, string>;
}

export function clusterNode({ name, dir, port, env }: NodeOptions): Node {
  mkdirSync(dir, { recursive: true });
  const address = `http://127.0.0.1:${port}`;
  const events = new Map<string, number>();
  let child: Bun.Subprocess<"ignore", "pipe", "pipe"> | undefined;
  let disturbedUntil = Number.POSITIVE_INFINITY;
  let isFrozen = false;
  const count = (line: string) => {
    appendFileSync(join(dir, "log"), `${line}\n`);
    if (!line.startsWith("{")) return;
    const entry = JSON.parse(line) as Record<string, unknown>;
    const add = (key: string) => events.set(key, (events.get(key) ?? 0) + 1);
    add(String(entry.event));
    for (const field of ["end", "loop"]) if (field in entry) add(`${entry.event} ${field} ${entry[field]}`);
  };
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of familyOf(child?.pid ?? -1)) sendSignal(pid, name);
  };
  const node: Node = {
    name,
    address,
    dir,
    pid: () => (child?.exitCode === null && child.signalCode === null ? child.pid : undefined),
    isBusy: false,
    wasDisturbed: (since) => since < disturbedUntil,
    logged: (event, field) => events.get(field ? `${event} ${field.join(" ")}` : event) ?? 0,
    start: () => {
      child = Bun.spawn([process.execPath, MAIN, "serve"], {
        env: { ...process.env, ...env, CARDPRESS_DATA_DIR: join(dir, "data"), CARDPRESS_PORT: String(port) },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      void eachLine(child.stdout, count);
      void eachLine(child.stderr, count);
    },
    untilReady: async () => {
      for (const until = performance.now() + READY_PATIENCE_MS; performance.now() < until; ) {
        const answer = await fetch(`${address}/ready`, { signal: AbortSignal.timeout(3_000) }).catch(
          () => undefined,
        );
        if (answer?.status === 200) {
          disturbedUntil = performance.now();
          return;
        }
        if (node.pid() === undefined) throw new Error(`${name} ended at its start, see ${join(dir, "log")}`);
        await Bun.sleep(POLL_MS);
      }
      throw new Error(`${name} was not ready after ${READY_PATIENCE_MS / 1000} s, see ${join(dir, "log")}`);
    },
    kill: async () => {
      disturbedUntil = Number.POSITIVE_INFINITY;
      sendSignal(-(child?.pid ?? 0), "SIGKILL");
      await child?.exited;
    },
    freeze: () => {
      disturbedUntil = Number.POSITIVE_INFINITY;
      isFrozen = true;
      signal("SIGSTOP");
    },
    wake: () => {
      if (!isFrozen) return;
      isFrozen = false;
      signal("SIGCONT");
      disturbedUntil = performance.now();
    },
    terminate: async () => {
      disturbedUntil = Number.POSITIVE_INFINITY;
      child?.kill("SIGTERM");
      return (await child?.exited) ?? -1;
    },
  };
  return node;
}

/** Ends one browser of the node; false when it has none. */
export function killBrowser(node: Node): boolean {
  const [browser] = browsersOf(node.pid() ?? -1);
  return browser !== undefined && sendSignal(browser.pid, "SIGKILL");
}

/** Sends a signal to a process, or with a negative number to a group. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  // 0, 1 and -1 would reach processes that are not ours.
  if (Math.abs(pid) < 2) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") take(line);
  }
}
