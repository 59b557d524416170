import { MAX_LOG_LINE_CHARS, MAX_LONG_LINE_TEXT_CHARS, MAX_REFUSAL_DETAILS } from "./core/limits.ts";
import { inOneLine } from "./core/name.ts";
import type { Log, LogFields } from "./core/ports.ts";

type Level = keyof Log;
type Write = (line: string, level: Level) => void;

const toStdout: Write = (line) => void process.stdout.write(line);

/** Writes one JSON line per event to stdout, or where `write` sends it. */
export function jsonLog(write: Write = toStdout): Log {
  const time = timeByMs();
  const at = (level: Level) => (event: string, fields?: LogFields) =>
    write(`${lineOf({ time: time(), level, event, ...fields })}\n`, level);
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** What is logged may quote a stranger, who has megabytes to say. */
function lineOf(fields: LogFields): string {
  const line = JSON.stringify(fields);
  if (line.length <= MAX_LOG_LINE_CHARS) return line;
  return JSON.stringify(fields, (_, value) => {
    if (typeof value === "string") return value.slice(0, MAX_LONG_LINE_TEXT_CHARS).toWellFormed();
    return Array.isArray(value) ? value.slice(0, MAX_REFUSAL_DETAILS) : value;
  });
}

/**
 * Tells the time in ISO 8601; written out once per millisecond, since a busy service logs many lines in one.
 */
function timeByMs(): () => string {
  let [at, text] = [0, ""];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, new Date(now).toISOString()];
    return text;
  };
}

/** SGR codes: dim, yellow, red, and reset. */
const COLOURS = { info: "\x1b[2m", warn: "\x1b[33m", error: "\x1b[31m" } as const;
const PLAIN = "\x1b[0m";

/** Writes lines for people: time of day, event, and fields by name. */
export function peopleLog(write: Write = toStdout, isColoured = true): Log {
  const at = (level: Level) => {
    const [begin, end] = isColoured ? [COLOURS[level], PLAIN] : ["", ""];
    const label = level.padEnd(5);
    return (event: string, fields: LogFields = {}) => {
      const time = new Date().toTimeString().slice(0, 8);
      const shownFields = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
      write(
        `${begin}${time} ${label}${end} ${[event.replaceAll("_", " "), ...shownFields].join("  ")}\n`,
        level,
      );
    };
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return inOneLine(text.slice(0, MAX_LOG_LINE_CHARS));
}

/** For people on a terminal; JSON lines elsewhere, for log collectors. */
export function serviceLog(): Log {
  return process.stdout.isTTY ? peopleLog(toStdout, !process.env.NO_COLOR) : jsonLog(stdoutByTurn());
}

/**
 * A stdout writer for a busy process: the lines of one turn of the event loop are written together, because
 * a write costs more than the request it reports. Warnings and errors are written immediately, with
 * everything before them, so that an operator who kills the process finds the reason. The rest is written
 * when the process exits.
 */
export function stdoutByTurn(): Write {
  let waiting = "";
  const flush = () => {
    const text = waiting;
    waiting = "";
    if (text !== "") process.stdout.write(text);
  };
  process.on("exit", flush);
  return (line, level) => {
    if (waiting === "") setImmediate(flush);
    waiting += line;
    if (level !== "info") flush();
  };
}

/** Warnings and errors only, to stderr: for commands whose output is their result. */
export function quietLog(): Log {
  const log = jsonLog((line) => void process.stderr.write(line));
  return { ...log, info: () => {} };
}
