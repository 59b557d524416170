import type { Log, LogFields } from "./core/ports.ts";

/** Writes one JSON line per event to stdout, or where `write` sends it. */
export function jsonLog(write: (line: string) => void = (line) => void process.stdout.write(line)): Log {
  const at = (level: string) => (event: string, fields?: LogFields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** Warnings and errors only, to stderr: for commands whose output is their result. */
export function quietLog(): Log {
  const log = jsonLog((line) => void process.stderr.write(line));
  return { ...log, info: () => {} };
}
