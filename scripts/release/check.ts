import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { PNG } from "pngjs";
import { sectionsOf } from "./changelog.ts";
import { filesOf, NOTES, SUMS, sbomName } from "./make.ts";
import { fixtureOf, releasedDocument } from "./openapi.ts";
import {
  archiveName,
  type Plan,
  packageName,
  programPath,
  ROOT,
  TARGETS,
  type Target,
  versionOf,
} from "./plan.ts";
import { run } from "./run.ts";

/** What a check found. What was skipped is a fault of a release and none of a snapshot, a note of neither. */
export interface Finding {
  what: string;
  result: "ok" | "note" | "skipped" | "fault";
  message?: string;
}

type Check = [what: string, look: () => Promise<void>];

/** Thrown by a check that this machine cannot do. */
class Skipped extends Error {}
/** Thrown by a check whose word is for people to judge. */
class Note extends Error {}

function resultOf(error: Error): Finding["result"] {
  if (error instanceof Note) return "note";
  return error instanceof Skipped ? "skipped" : "fault";
}

async function findingsOf(checks: Check[], say: (finding: Finding) => void): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [what, look] of checks) {
    const finding: Finding = await look().then(
      () => ({ what, result: "ok" as const }),
      (error: Error) => ({
        what,
        result: resultOf(error),
        message: error.message,
      }),
    );
    findings.push(finding);
    say(finding);
  }
  return findings;
}

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}.`);
}

const git = async (...args: string[]) => (await run(["git", ...args], { cwd: ROOT })).trim();

/** Whether this checkout may be released: quick, and before anything is built. */
export function checkCheckout(plan: Plan, say: (finding: Finding) => void): Promise<Finding[]> {
  const { version } = plan;
  return findingsOf(
    [
      [
        "the checkout has no changes",
        async () => {
          const changes = await git("status", "--porcelain");
          if (changes !== "") throw new Error(`Commit or remove these first:\n${changes}`);
        },
      ],
      [
        `the tag v${version} is this commit's, or nobody's`,
        async () => {
          const tagged = await git("tag", "--list", `v${version}`, "--format=%(objectname)%(*objectname)");
          // What GitHub was asked to release.
          const { GITHUB_REF_TYPE: type, GITHUB_REF_NAME: pushed } = process.env;
          if (type === "tag" && pushed !== `v${version}`)
            throw new Error(`The tag is ${pushed}, and the version ${version}.`);
          if (tagged !== "" && !tagged.endsWith(plan.commit))
            throw new Error(`v${version} is ${tagged.slice(-40)}: released already. Cut another version.`);
        },
      ],
      [
        "the changelog has this version with its day, and nothing unreleased",
        async () => {
          const sections = sectionsOf(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"));
          const own = sections.find(({ name }) => name === version);
          const unreleased = sections.find(({ name }) => name === "Unreleased");
          if (!own?.text || own.date === undefined || unreleased?.text)
            throw new Error(`It does not: bun scripts/cut-release.ts ${version}`);
        },
      ],
      [
        "the version's OpenAPI document is kept for those to come",
        async () => {
          const path = fixtureOf(version);
          if (!existsSync(path)) throw new Error(`${path} is missing: bun scripts/cut-release.ts ${version}`);
          if (!isDeepStrictEqual(JSON.parse(readFileSync(path, "utf8")), releasedDocument()))
            throw new Error(`${path} is another document than this version's.`);
        },
      ],
      [
        "package.json names where releases are fetched",
        async () => {
          if (!/\bexample\.(com|org)\b/.test(`${plan.repository} ${plan.author}`)) return;
          const message = `"repository" and "author" are still placeholders there: ${plan.repository}, ${plan.author}.`;
          // What a tag makes is published, and would send people to an address that is nobody's.
          if (process.env.GITHUB_REF_TYPE === "tag")
            throw new Error(`${message} Set both, cut the next version, and tag that.`);
          throw new Note(`${message} Set both before this is for anybody else.`);
        },
      ],
    ],
    say,
  );
}

const isOwn = ({ target }: Target) => target === `${process.platform}-${process.arch}`;

/** The words by which a target's program is run here, or why it cannot be. */
function commandFor(target: Target, program: string): string[] {
  if (isOwn(target)) return [program];
  const { emulator, libraries, debian } = target;
  if (!Bun.which(emulator) || !existsSync(libraries))
    throw new Skipped(`apt-get install qemu-user-static libc6-${debian}-cross`);
  return [emulator, "-L", libraries, program];
}

const sha256 = (path: string) => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

/** What was made is what it says it is. */
export async function checkFiles(plan: Plan, say: (finding: Finding) => void): Promise<Finding[]> {
  const scratch = mkdtempSync(join(tmpdir(), "cardpress-release-"));
  try {
    return await findingsOf(
      [
        ...TARGETS.flatMap((target) => checksOfTarget(plan, target, scratch)),
        ["every file has its sum, and each sum holds", () => checkSums(plan)],
        ["the bill of materials is of this version", () => checkSbom(plan)],
        ["the clients are of this version", () => checkClients(plan, scratch)],
        ["the notes name version, commit and sums", () => checkNotes(plan)],
      ],
      say,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function checksOfTarget(plan: Plan, target: Target, scratch: string): Check[] {
  const archive = archiveName(plan, target);
  const unpacked = join(scratch, archive);
  return [
    [
      `${archive}.tar.gz has the program and its licences`,
      async () => {
        await run(["tar", "-xzf", join(plan.folder, `${archive}.tar.gz`), "-C", scratch]);
        const names = readdirSync(unpacked).sort();
        expectSame("Its content", names, ["CHANGELOG.md", "LICENSE", "NOTICE", "cardpress", "deploy"]);
        expectSame("Its program", sha256(join(unpacked, "cardpress")), sha256(programPath(plan, target)));
      },
    ],
    [
      `${target.target} says version and commit`,
      async () => {
        const said = await run([...commandFor(target, join(unpacked, "cardpress")), "version", "--json"]);
        expectSame("What it says", JSON.parse(said), versionOf(plan));
      },
    ],
    // A browser under emulation takes minutes: `bun run vmtest` does that.
    ...(isOwn(target) ? [makesCard(target, unpacked)] : []),
    [
      `${packageName(plan, target)} has the same program`,
      async () => {
        const path = join(plan.folder, packageName(plan, target));
        const fields = await run(["dpkg-deb", "--field", path, "Package", "Version", "Architecture"]);
        const { debianVersion } = plan;
        const wanted = `Package: cardpress\nVersion: ${debianVersion}\nArchitecture: ${target.debian}`;
        expectSame("What it is", fields.trim(), wanted);
        const root = join(scratch, `root-${target.debian}`);
        await run(["dpkg-deb", "--extract", path, root]);
        expectSame("Its program", sha256(join(root, "usr/bin/cardpress")), sha256(programPath(plan, target)));
        rmSync(root, { recursive: true });
      },
    ],
    [`${packageName(plan, target)} is as Debian wants it`, () => checkWithLintian(plan, target)],
  ];
}

/** From the archive alone, in a folder of its own, without a PATH to find anything by. */
function makesCard({ target }: Target, unpacked: string): Check {
  const look = async () => {
    const folder = join(unpacked, "../card");
    mkdirSync(folder);
    const player = { name: "Ana", position: "GK", number: 1, skill_level: 70 };
    writeFileSync(join(folder, "card.json"), JSON.stringify({ player }));
    const photo = join(ROOT, "test/photos/astronaut.png");
    const env = {
      PATH: "/nonexistent",
      HOME: folder,
      CARDPRESS_DATA_DIR: folder,
      ...(process.getuid?.() === 0 ? { CARDPRESS_ALLOW_ROOT: "1" } : {}),
    };
    const args = ["render", "--input", "card.json", "--photo", photo, "--out", "card.png"];
    await run([join(unpacked, "cardpress"), ...args], { cwd: folder, env });
    const { width, height } = PNG.sync.read(readFileSync(join(folder, "card.png")));
    expectSame("Its card", [width, height], [1024, 1280]);
  };
  return [`${target} makes a card`, look];
}

async function checkWithLintian(plan: Plan, target: Target): Promise<void> {
  if (!Bun.which("lintian")) throw new Skipped("apt-get install lintian");
  const root = process.getuid?.() === 0 ? ["--allow-root"] : [];
  const path = join(plan.folder, packageName(plan, target));
  await run(["lintian", ...root, "--fail-on", "error,warning", path]);
}

async function checkSums({ folder, ...plan }: Plan): Promise<void> {
  const sums = readFileSync(join(folder, SUMS), "utf8");
  const listed = sums.trim().split("\n");
  expectSame(
    "What is listed",
    listed.map((line) => line.slice(66)),
    filesOf({ folder, ...plan }),
  );
  await run(["sha256sum", "--check", "--strict", "--quiet", SUMS], { cwd: folder });
}

async function checkSbom(plan: Plan): Promise<void> {
  const { metadata, components } = JSON.parse(readFileSync(join(plan.folder, sbomName(plan)), "utf8"));
  expectSame("Its version", metadata.component.version, plan.version);
  if (components.length < 50) throw new Error(`It has ${components.length} components.`);
}

async function checkClients({ folder, version }: Plan, scratch: string): Promise<void> {
  for (const name of ["cardpress-client", "cardpress-card"]) {
    const path = join(folder, `${name}-${version}.tgz`);
    const packed = JSON.parse(await run(["tar", "-xzOf", path, "package/package.json"]));
    expectSame(`${name}`, [packed.name, packed.version], [name, version]);
  }
  const unzip = (file: string, name: string) =>
    run(["python3", "-m", "zipfile", "-e", join(folder, file), join(scratch, name)]);
  await unzip(`cardpress_client-${version}-py3-none-any.whl`, "python");
  const info = join(scratch, `python/cardpress_client-${version}.dist-info/METADATA`);
  expectSame("The wheel", readFileSync(info, "utf8").split("\n")[2], `Version: ${version}`);
  await unzip(`cardpress-client-php-${version}.zip`, "php");
  const { name } = JSON.parse(readFileSync(join(scratch, "php/composer.json"), "utf8"));
  expectSame("Composer's package", name, "cardpress/client");
}

async function checkNotes(plan: Plan): Promise<void> {
  const text = readFileSync(join(plan.folder, NOTES), "utf8");
  const wanted = [plan.version, plan.commit, readFileSync(join(plan.folder, SUMS), "utf8").trim()];
  const missing = wanted.filter((each) => !text.includes(each));
  if (missing.length > 0) throw new Error(`They lack ${missing.join(", ")}.`);
}
