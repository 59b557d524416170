/**
 * Makes a release of this checkout into dist/release, and checks all of it.
 *
 *     bun run release               # of a clean checkout whose version was cut by scripts/cut-release.ts
 *     bun run release --snapshot    # of whatever is here, to try it: the version has the commit in it
 *     bun run release --check       # checks again what was made before
 *
 * It makes an archive and a Debian package for each processor, the clients, the bill of materials, SHA256SUMS
 * and the notes; and beside them, in dist/release-parts/image, what the container image is made of. It needs
 * GNU tar, dpkg-deb and python3, and for the other processor's program qemu-user-static with its C library.
 * About four minutes and 2 GB. Exits with 1 when something is not as it says, or could not be checked.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { offerHelp } from "./help.ts";
import { checkCheckout, checkFiles, type Finding } from "./release/check.ts";
import { makeRelease } from "./release/make.ts";
import { planOf, ROOT } from "./release/plan.ts";

offerHelp(import.meta);

const MARKS = { ok: "✓", note: "!", skipped: "-", fault: "✗" };

const { values: options } = parseArgs({
  options: {
    snapshot: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    out: { type: "string", default: join(ROOT, "dist/release") },
  },
});
const plan = await planOf(options.out, options.snapshot);
const say = ({ what, result, message }: Finding) =>
  console.log(`${MARKS[result]} ${what}${message ? `: ${message}` : ""}`);
/** Nothing is left out of a release. */
const isWrong = ({ result }: Finding) => result === "fault" || (result === "skipped" && !plan.isSnapshot);

if (!plan.isSnapshot && (await checkCheckout(plan, say)).some(isWrong)) process.exit(1);
if (!options.check) await makeRelease(plan, (made) => console.log(`  ${made}`));
const wrong = (await checkFiles(plan, say)).filter(isWrong).length;
console.log(wrong === 0 ? `${plan.folder}: cardpress ${plan.label}` : `${wrong} checks failed.`);
process.exit(wrong === 0 ? 0 : 1);
