import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { browsersOf, familyOf, pagesOf, type Seen, workersOf } from "./processes.ts";

/** The attacks on a service, and how many of a hundred are of each kind. */
const SHARES = {
  /** A page's process ends, as when the kernel runs out of memory. */
  page: 35,
  browser: 25,
  worker: 25,
  /** Every process of a browser stops without ending; the card's deadline must notice. */
  hang: 3,
  /** The browser's files are deleted and must be unpacked again. */
  files: 4,
  service: 8,
} as const;
export type Attack = keyof typeof SHARES;

/** Carries out one attack on the service with this process id; undefined when there was nothing to attack. */
export function attack(random: () => number, server: number, data: string): Attack | undefined {
  let left = random() * 100;
  const kind = (Object.keys(SHARES) as Attack[]).find((name) => {
    left -= SHARES[name];
    return left < 0;
  });
  switch (kind) {
    case "page":
      return killOne(pagesOf(server), random) ? kind : undefined;
    case "browser":
      return killOne(browsersOf(server), random) ? kind : undefined;
    case "worker":
      return killOne(workersOf(server), random) ? kind : undefined;
    case "hang":
      return hang(server, random) ? kind : undefined;
    case "files":
      for (const name of readdirSync(join(data, "cache")))
        if (name.startsWith("chromium-")) rmSync(join(data, "cache", name), { recursive: true, force: true });
      return killOne(browsersOf(server), random) ? kind : undefined;
    case "service":
      return signal(server, "SIGKILL") ? kind : undefined;
    default:
      return undefined;
  }
}

function killOne(found: Seen[], random: () => number): boolean {
  const chosen = found[Math.floor(random() * found.length)];
  return chosen !== undefined && signal(chosen.pid, "SIGKILL");
}

function hang(server: number, random: () => number): boolean {
  const browsers = browsersOf(server);
  const chosen = browsers[Math.floor(random() * browsers.length)];
  if (!chosen) return false;
  for (const { pid } of familyOf(chosen.pid)) signal(pid, "SIGSTOP");
  return true;
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  // 0 and below would signal whole groups, including this one.
  if (pid < 2) return false;
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
