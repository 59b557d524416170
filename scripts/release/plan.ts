import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { COMMIT, VERSION } from "../../src/version.ts";
import { sectionsOf } from "./changelog.ts";
import { run } from "./run.ts";

export const ROOT = join(import.meta.dir, "../..");

/** The processors that programs are made for, and what others call them. */
export const TARGETS = [
  {
    target: "linux-x64",
    debian: "amd64",
    emulator: "qemu-x86_64-static",
    libraries: "/usr/x86_64-linux-gnu",
  },
  {
    target: "linux-arm64",
    debian: "arm64",
    emulator: "qemu-aarch64-static",
    libraries: "/usr/aarch64-linux-gnu",
  },
] as const;
export type Target = (typeof TARGETS)[number];

/** What is being released, and where it goes. */
export interface Plan {
  /** Made of any commit, also with changes that are in none: for trying, not for others. */
  isSnapshot: boolean;
  version: string;
  commit: string;
  /** The version in names of files: a snapshot's has its commit. */
  label: string;
  /** The same as Debian compares versions: a snapshot comes before its release, or after the last one. */
  debianVersion: string;
  /** Seconds since 1970, the commit's: files made of it say no other time. */
  time: number;
  /** Where all files for others are. */
  folder: string;
  /** Where what they are made of is. */
  parts: string;
  repository: string;
  author: string;
}

/** The plan of releasing this checkout. */
export async function planOf(folder: string, isSnapshot: boolean): Promise<Plan> {
  if (COMMIT === null)
    throw new Error("This is no git checkout: a release says of which commit it was made.");
  const time = Number(await run(["git", "show", "-s", "--format=%ct", COMMIT], { cwd: ROOT }));
  const stamp = new Date(time * 1000).toISOString().replace(/\D/g, "").slice(0, 14);
  const short = COMMIT.slice(0, 10);
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const isReleased = sectionsOf(changelog).some(({ name, date }) => name === VERSION && date !== undefined);
  return {
    isSnapshot,
    version: VERSION,
    commit: COMMIT,
    label: isSnapshot ? `${VERSION}-snapshot.${short}` : VERSION,
    debianVersion: isSnapshot ? `${VERSION}${isReleased ? "+" : "~"}${stamp}.${short}` : VERSION,
    time,
    folder,
    parts: join(folder, "../release-parts"),
    repository: packageJson.repository,
    author: packageJson.author,
  };
}

/** The name of a target's archive without its ending, which is also the folder in it. */
export const archiveName = ({ label }: Plan, { target }: Target) => `cardpress-${label}-${target}`;

export const packageName = ({ debianVersion }: Plan, { debian }: Target) =>
  `cardpress_${debianVersion}_${debian}.deb`;

/** Where a target's program lies until it is packed: as the Dockerfile takes it too, by Docker's name. */
export const programPath = ({ parts }: Plan, { debian }: Target) =>
  join(parts, "image/out", debian, "cardpress");

/** What `cardpress version --json` says of these programs. */
export const versionOf = ({ version, commit }: Plan) => ({ version, commit, bun: Bun.version });
