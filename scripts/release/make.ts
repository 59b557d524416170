import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { packCard, packClient, packPhp, packPython } from "../client.ts";
import { makeSbom } from "../sbom.ts";
import { notesOf, sectionsOf } from "./changelog.ts";
import { packDebian } from "./debian.ts";
import { archiveName, type Plan, packageName, programPath, ROOT, TARGETS, type Target } from "./plan.ts";
import { run } from "./run.ts";

/** Of deploy/, what people who have the program alone can use. */
const DEPLOY = [
  "Caddyfile",
  "nginx.conf",
  "cardpress.service",
  "cardpress.env",
  "cardpressctl",
  "seccomp.json",
  "prometheus.yml",
  "prometheus-rules.yml",
  "grafana-dashboard.json",
];

export const SUMS = "SHA256SUMS";
export const sbomName = ({ label }: Plan) => `cardpress-${label}.cdx.json`;
export const NOTES = "release-notes.md";

/** Builds a target's program where the image's build looks for it too. */
export async function buildProgram(plan: Plan, target: Target): Promise<void> {
  const own = `${process.platform}-${process.arch}`;
  const out = join(plan.parts, "build");
  const env = { ...process.env, CARDPRESS_BUILD_COMMIT: plan.commit };
  await run([process.execPath, "scripts/build.ts", "--target", target.target, "--out", out], {
    cwd: ROOT,
    env,
  });
  const path = programPath(plan, target);
  mkdirSync(join(path, ".."), { recursive: true });
  renameSync(join(out, target.target === own ? "cardpress" : `cardpress-${target.target}`), path);
}

/** Packs a target's program with its licences and files of deploy/, into the same bytes each time. */
export async function packArchive(plan: Plan, target: Target): Promise<void> {
  const name = archiveName(plan, target);
  const root = join(plan.parts, name);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "deploy"), { recursive: true });
  copyFileSync(programPath(plan, target), join(root, "cardpress"));
  for (const file of ["LICENSE", "NOTICE", "CHANGELOG.md"]) copyFileSync(join(ROOT, file), join(root, file));
  for (const file of DEPLOY) cpSync(join(ROOT, "deploy", file), join(root, "deploy", file));
  const same = ["--sort=name", `--mtime=@${plan.time}`, "--owner=0", "--group=0", "--numeric-owner"];
  const modes = ["--mode=u+w,go-w,a+rX", "--format=gnu", "--use-compress-program=gzip -n"];
  await run(["tar", ...same, ...modes, "-cf", join(plan.folder, `${name}.tar.gz`), "-C", plan.parts, name]);
  rmSync(root, { recursive: true });
}

async function packClients({ folder }: Plan): Promise<void> {
  for (const pack of [packClient, packCard, packPython, packPhp]) await pack(folder);
}

/** The files for others, by name, in the order of the alphabet. */
export const filesOf = ({ folder }: Plan): string[] =>
  readdirSync(folder)
    .filter((name) => name !== SUMS && name !== NOTES)
    .sort();

const sha256 = (path: string) => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

/** A snapshot has the notes of what is unreleased, a release its own. */
function changesOf(plan: Plan): string {
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  if (!plan.isSnapshot) return notesOf(changelog, plan.version).text;
  return sectionsOf(changelog).find(({ text }) => text !== "")?.text ?? "";
}

/** What the page of the release says: what is new, and how it is installed and checked. */
export function notes(plan: Plan, sums: string): string {
  const [first] = TARGETS;
  const archive = archiveName(plan, first);
  return `${changesOf(plan)}

## Install

\`\`\`sh
release=${plan.repository}/releases/download/v${plan.version}
curl -fL -O $release/${archive}.tar.gz -O $release/${SUMS} \\
  && sha256sum --check --ignore-missing ${SUMS} && tar -xzf ${archive}.tar.gz \\
  && sudo install -m 755 ${archive}/cardpress /usr/local/bin/cardpress
\`\`\`

For Debian and Ubuntu: \`sudo apt install ./${packageName(plan, first)}\`. Upgrades and the way back are in the operator's guide, at
/docs/operating of any service.

Commit ${plan.commit}, ${SUMS}:

\`\`\`text
${sums.trim()}
\`\`\`
`;
}

/** Makes every file of the release, from nothing. */
export async function makeRelease(plan: Plan, say: (what: string) => void): Promise<void> {
  for (const folder of [plan.folder, plan.parts]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  for (const target of TARGETS) {
    await buildProgram(plan, target);
    await packArchive(plan, target);
    await packDebian(plan, target);
    say(`${archiveName(plan, target)}.tar.gz, ${packageName(plan, target)}`);
  }
  await packClients(plan);
  writeFileSync(join(plan.folder, sbomName(plan)), `${JSON.stringify(await makeSbom(), null, 2)}\n`);
  const sums = filesOf(plan)
    .map((name) => `${sha256(join(plan.folder, name))}  ${name}\n`)
    .join("");
  writeFileSync(join(plan.folder, SUMS), sums);
  writeFileSync(join(plan.folder, NOTES), notes(plan, sums));
}
