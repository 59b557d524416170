/**
 * Asks the registry for known vulnerabilities in the packages that the program contains.
 *
 *     bun scripts/audit-packages.ts
 *
 * Exits with 1 if one of them is of high or critical severity. When the registry does not answer, it says so
 * and exits with 0, since a change is not to blame for the network.
 */

import { offerHelp } from "./help.ts";
import { carriedPackages } from "./sbom.ts";

interface Advisory {
  title: string;
  severity: string;
  url: string;
  vulnerable_versions: string;
}

const SERIOUS = ["high", "critical"];

/** The lines to print and whether they are serious; null when the registry's answer is unusable. */
export function judge(
  answer: string,
  carried: readonly string[],
): { lines: string[]; isSerious: boolean } | null {
  let found: Record<string, Advisory[]>;
  try {
    found = JSON.parse(answer);
  } catch {
    return null;
  }
  // What a registry that refuses may say as JSON too.
  if (!Object.values(found).every(Array.isArray)) return null;
  const known = Object.entries(found).flatMap(([name, advisories]) =>
    advisories.map((advisory) => ({ name, isCarried: carried.includes(name), ...advisory })),
  );
  return {
    lines: known.map(
      ({ name, isCarried, severity, title, url }) =>
        `${severity}: ${name}${isCarried ? "" : " (not in the program)"}: ${title} ${url}`,
    ),
    isSerious: known.some(({ isCarried, severity }) => isCarried && SERIOUS.includes(severity)),
  };
}

if (import.meta.main) {
  offerHelp(import.meta);
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "audit", "--json"]);
  const verdict = judge(stdout.toString(), await carriedPackages());
  if (verdict === null) {
    const said = stderr.toString().trim().split("\n").at(-1) || "nothing";
    console.log(`Not looked up: the registry does not answer about known vulnerabilities. It said: ${said}`);
    process.exit(0);
  }
  console.log(verdict.lines.length === 0 ? "No known faults." : verdict.lines.join("\n"));
  process.exit(verdict.isSerious ? 1 : 0);
}
