/**
 * Runs the single file where nothing is installed: in fresh minimal roots of Debian and Ubuntu, as an
 * ordinary user without a home folder, until it has made its card.
 *
 *     bun run baretest                      # every root below that can be made here
 *     bun run baretest --roots bookworm     # only these, by name
 *     bun run baretest --keep FOLDER        # make the roots in FOLDER and keep them for the next time
 *
 * Needs root, debootstrap, and the distributions' mirrors; a root that cannot be made is skipped by name. A
 * root takes half a minute to make and its card about 20 seconds. Exits with 1 when a card or a message is
 * not as it should be.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PNG } from "pngjs";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const DEBIAN = { mirror: "http://deb.debian.org/debian", keys: "debian-archive-keyring.gpg" };
const UBUNTU = { mirror: "http://archive.ubuntu.com/ubuntu", keys: "ubuntu-archive-keyring.gpg" };
/** What a system with glibc 2.28 to 2.33 needs besides. */
const LIBRARIES = "libnss3,libexpat1";

interface Root {
  mirror: string;
  keys: string;
  /** Packages beyond the minimal ones. */
  include?: string;
  /** On systems too old for a card: what is said instead. */
  says?: string;
}

const ROOTS: Record<string, Root> = {
  bookworm: DEBIAN,
  trixie: DEBIAN,
  bullseye: { ...DEBIAN, include: LIBRARIES },
  noble: UBUNTU,
  focal: { ...UBUNTU, include: `${LIBRARIES},ca-certificates` },
  bionic: { ...UBUNTU, says: "needs glibc 2.28 or later, and this system has 2.27" },
  xenial: { ...UBUNTU, says: "needs glibc 2.28 or later, and this system has 2.23" },
};

/** The demo's own time limits are shorter. */
const DEMO_TIMEOUT_MS = 180_000;
/** An ordinary user, who is in no file of the root. */
const USER = 4711;

/**
 * In mounts and process ids of its own, with the root really changed: inside a mere chroot the kernel allows
 * no user namespaces, and so Chromium no sandbox.
 */
const ENTER = `set -e
mount --bind "$0" "$0"; cd "$0"
mount -t proc proc proc
for device in null zero full random urandom; do mount --bind /dev/$device dev/$device; done
pivot_root . mnt; umount -l /mnt
exec chroot --userspec=${USER}:${USER} / env -i PATH=/usr/bin:/bin sh -c "cd /tmp && exec /usr/bin/cardpress demo --once"`;

const { values: options } = parseArgs({
  options: { roots: { type: "string", default: Object.keys(ROOTS).join(",") }, keep: { type: "string" } },
});

/** Why no root can be made here at all; undefined when one can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can make one";
  const missing = ["debootstrap", "unshare", "pivot_root"].find((tool) => !Bun.which(tool));
  return missing && `${missing} is not installed`;
}

/** Makes a minimal root unless it is there. Returns why it cannot be made. */
function makeRoot(name: string, { mirror, keys, include }: Root, path: string): string | undefined {
  if (existsSync(`${path}.made`)) return undefined;
  const keyring = `/usr/share/keyrings/${keys}`;
  if (!existsSync(keyring)) return `${keyring} is not there to check its packages by`;
  rmSync(path, { recursive: true, force: true });
  const made = Bun.spawnSync([
    "debootstrap",
    "--variant=minbase",
    `--keyring=${keyring}`,
    ...(include ? [`--include=${include}`] : []),
    name,
    path,
    mirror,
  ]);
  if (made.exitCode !== 0) return made.stdout.toString().trim().split("\n").at(-1) || made.stderr.toString();
  mkdirSync(`${path}.made`);
  return undefined;
}

/** Runs the demo in a root. Returns what is wrong with how it went; undefined when nothing is. */
function tryRoot({ says }: Root, path: string): string | undefined {
  const data = join(path, "tmp/demo-data");
  rmSync(data, { recursive: true, force: true });
  const enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, path];
  const demo = Bun.spawnSync(enter, { timeout: DEMO_TIMEOUT_MS, killSignal: "SIGKILL" });
  const words = demo.stdout.toString() + demo.stderr.toString();
  if (says) return words.includes(says) ? undefined : `it does not say that it ${says}: ${words}`;
  if (demo.exitCode !== 0) return words;
  const images = join(data, "images");
  const cards = readdirSync(images, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".png"),
  );
  const [card] = cards.map((file) => PNG.sync.read(readFileSync(join(images, file))));
  if (cards.length !== 1 || card?.width !== 1024 || card.height !== 1280)
    return `${cards.length} cards, of ${card?.width}x${card?.height}: ${words}`;
  return undefined;
}

function main(): number {
  const known = obstacle();
  const names = options.roots.split(",");
  if (known) {
    console.log(`skipped: ${names.join(", ")} (${known})`);
    return 0;
  }
  const folder = options.keep ?? mkdtempSync(join(tmpdir(), "cardpress-bare-"));
  mkdirSync(folder, { recursive: true });
  let wrong = 0;
  try {
    const built = Bun.spawnSync([process.execPath, join(import.meta.dir, "build.ts"), "--out", folder]);
    if (built.exitCode !== 0) throw new Error(built.stderr.toString());
    for (const name of names) {
      const root = ROOTS[name];
      if (!root) throw new Error(`There is no root ${name}. There are ${Object.keys(ROOTS).join(", ")}.`);
      const path = join(folder, name);
      const unmade = makeRoot(name, root, path);
      if (unmade) {
        console.log(`skipped: ${name} (${unmade})`);
        continue;
      }
      copyFileSync(join(folder, "cardpress"), join(path, "usr/bin/cardpress"));
      const started = performance.now();
      const fault = tryRoot(root, path);
      if (fault) wrong += 1;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${fault ? "✗" : "✓"} ${name}: ${fault ?? `${root.says ?? "its card"} (${seconds} s)`}`);
    }
  } finally {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
  }
  return wrong === 0 ? 0 : 1;
}

process.exit(main());
