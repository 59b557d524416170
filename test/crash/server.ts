import { readConfig } from "../../src/config.ts";
import type { Log } from "../../src/core/ports.ts";
import { jsonLog } from "../../src/log.ts";
import { startServer } from "../../src/service/server.ts";
import { untilSignal } from "../../src/service/stop-signal.ts";
import { systemRandom } from "../../src/service/system.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import { childrenOf } from "./processes.ts";

// The real server, which ends itself with SIGKILL at a named step between two effects. Nothing in the service
// knows of it: every effect goes through the store, the ids, the log or the progress tracker, and here we
// stand in front of those. CRASH_STEP names the step, CRASH_COUNT which time it is reached; without it this
// is `cardpress serve`.

const wanted = process.env.CRASH_STEP;
let left = Number(process.env.CRASH_COUNT ?? 1);

function reach(step: string): boolean {
  return step === wanted && --left === 0;
}

function crashAt(step: string): void {
  if (!reach(step)) return;
  process.stdout.write(`${JSON.stringify({ event: "crash", step })}\n`);
  process.kill(process.pid, "SIGKILL");
}

const hasState = (value: unknown): value is { state: string } =>
  typeof value === "object" && value !== null && "state" in value;

const openStore: typeof openSqliteStore = (file, options) => {
  const store = openSqliteStore(file, options);
  return {
    ...store,
    write: async (name, fn) => {
      crashAt(`${name}: before`);
      const result = await store.write(name, async (tx) => {
        const value = await fn(tx);
        crashAt(`${name}: before commit`);
        if (hasState(value)) crashAt(`${name} ${value.state}: before commit`);
        return value;
      });
      crashAt(`${name}: after commit`);
      return result;
    },
  };
};

const random = {
  ...systemRandom,
  id: (prefix: string) => {
    // Ids are made in the middle of transactions: between the row and its ledger entry.
    crashAt(`id: ${prefix}`);
    return systemRandom.id(prefix);
  },
};

const lines = jsonLog();
const log: Log = {
  ...lines,
  info: (event, fields) => {
    lines.info(event, fields);
    // The answer is written down; the client has not got it yet.
    if (event === "request") crashAt(`answer: ${fields?.method} ${fields?.status}`);
  },
};

function kill(step: string, pids: number[]): void {
  process.stdout.write(`${JSON.stringify({ event: "crash", step })}\n`);
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

const server = await startServer(readConfig(process.env), log, { openStore, random });
const { progress, pool } = server.service;
const reachStage = progress.reach;
progress.reach = (imageId, stage) => {
  reachStage(imageId, stage);
  crashAt(`server at ${stage}`);
  if (reach(`worker at ${stage}`)) kill(`worker at ${stage}`, pool.pids());
  if (reach(`browser at ${stage}`)) kill(`browser at ${stage}`, pool.pids().flatMap(childrenOf));
};
const anyMomentMs = Number(process.env.CRASH_AFTER_MS ?? 0);
if (wanted === "server at any moment") setTimeout(() => crashAt("server at any moment"), anyMomentMs);
if (wanted === "worker at any moment") setTimeout(() => kill(wanted, pool.pids()), anyMomentMs);
if (wanted === "browser at any moment") {
  setTimeout(() => kill(wanted, pool.pids().flatMap(childrenOf)), anyMomentMs);
}
await untilSignal();
await server.stop();
process.exit(0);
