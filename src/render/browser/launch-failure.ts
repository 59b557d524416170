import { closeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { endGroup } from "./process-group.ts";

/** A browser that cannot start says so within a second. */
const WORDS_TIMEOUT_MS = 5_000;

const SANDBOX_REMEDY =
  "Allow user namespaces to this user: on Ubuntu 24.04 with sysctl kernel.apparmor_restrict_unprivileged_userns=0, elsewhere with sysctl user.max_user_namespaces=15000; in a container with the seccomp profile deploy/seccomp.json. Inside a chroot there are none: run cardpress outside of it.";

/** Known last words of a Chromium that did not start, and what helps. */
const REMEDIES: [RegExp, (found: string) => string][] = [
  [
    /No usable sandbox/,
    () => `Chromium finds no usable sandbox, which it makes of user namespaces. ${SANDBOX_REMEDY}`,
  ],
  [
    /error while loading shared libraries: ([^:\s]+)/,
    (library) =>
      `Chromium needs the library ${library}, which this system lacks. Install its package (on Debian and Ubuntu libnss3 and libexpat1, on Red Hat's systems nss and expat), or unset CARDPRESS_CHROMIUM: on systems with glibc 2.34 or later the packaged browser brings its own.`,
  ],
];

export interface FailedLaunch {
  path: string;
  args: string[];
  env: Record<string, string | undefined>;
  profilesDir: string;
}

/**
 * Why a browser did not start, for an operator: its last words with the remedy where they are known, as they
 * are where not; undefined when it says nothing. Starts it once more, since what a browser writes before it
 * answers is read by nobody. That one may well start: like any other it ends with this process, and leads a
 * group by which it can be ended.
 */
export async function whyNotLaunched({
  path,
  args,
  env,
  profilesDir,
}: FailedLaunch): Promise<string | undefined> {
  const profile = await mkdtemp(join(profilesDir, "profile-"));
  const command = [path, "--headless", "--remote-debugging-pipe", `--user-data-dir=${profile}`, ...args];
  try {
    const child = Bun.spawn([...command, "about:blank"], {
      env,
      // The last two are the pipe: its end is the browser's.
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
      detached: true,
      timeout: WORDS_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    try {
      const words = await new Response(child.stderr).text();
      const code = await child.exited;
      return explain(words) ?? (child.signalCode === null ? noBrowser(path, code, words) : undefined);
    } finally {
      await endGroup(child.pid);
      for (const end of child.stdio.slice(3)) if (typeof end === "number") closeSync(end);
    }
  } catch (error) {
    return `${path} cannot be run: ${(error as Error).message}`;
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

/**
 * A program that ends by itself instead of waiting for what to open, and says nothing of Chromium's, is
 * something else.
 */
function noBrowser(path: string, code: number, words: string): string {
  const said = words.trim().split("\n", 1)[0]?.slice(0, 300);
  return `${path} ended at once, with exit code ${code}${said ? ` ("${said}")` : ""}. If it is no Chromium, set CARDPRESS_CHROMIUM to one, or unset it for the packaged browser.`;
}

/** What a browser's last words mean. */
export function explain(words: string): string | undefined {
  for (const [known, remedy] of REMEDIES) {
    const found = known.exec(words);
    if (found) return remedy(found[1] ?? "");
  }
  const fatal = words.split("\n").find((line) => line.includes("FATAL"));
  return fatal && `Chromium says: ${fatal.trim()}`;
}
