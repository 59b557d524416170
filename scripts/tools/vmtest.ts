/**
 * Boots a whole Debian 12 in QEMU and tries the single file there: its card as an ordinary user, its systemd
 * unit as the guide installs it, the server killed, the machine booted again.
 *
 *     bun run vmtest                  # linux-arm64, with Debian's Chromium
 *     bun run vmtest --arch x64       # linux-x64, with its own
 *     bun run vmtest --keep FOLDER    # make it in FOLDER and keep it: system, console, card and journal
 *
 * Needs root, the Debian packages that it names when they are missing, and Debian's mirrors. The processor is
 * emulated: half an hour and more of one core. Time in the machine is counted in instructions, as if it did a
 * billion a second, so time limits hold however slow the emulation is, and the seconds it prints are those of
 * such a machine. Exits with 1 when something is not as it should be.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PNG } from "pngjs";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const MACHINES = {
  arm64: {
    emulator: "qemu-system-aarch64",
    machine: ["-machine", "virt", "-cpu", "max,pauth-impdef=on"],
    console: "ttyAMA0",
    packages: ["linux-image-arm64", "chromium-headless-shell"],
  },
  x64: {
    emulator: "qemu-system-x86_64",
    machine: ["-machine", "q35", "-cpu", "max"],
    console: "ttyS0",
    packages: ["linux-image-amd64"],
  },
};
const DEBIAN_NAMES = { arm64: "arm64", x64: "amd64" };

/** Tools, and the Debian packages that bring them. */
const TOOLS = {
  mmdebstrap: "mmdebstrap",
  mke2fs: "e2fsprogs",
  "qemu-system-aarch64": "qemu-system-arm",
  "qemu-system-x86_64": "qemu-system-x86",
  "qemu-aarch64-static": "qemu-user-static",
};
const PACKAGES = ["systemd-sysv", "dbus", "udev", "sudo", "procps", "ca-certificates"];
/**
 * Only what this machine's disks need: an initial RAM disk with every driver takes minutes to make by
 * emulation.
 */
const SMALL_INITRD = [
  'mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"',
  'echo MODULES=list > "$1/etc/initramfs-tools/conf.d/vmtest"',
  'printf "virtio_pci\\nvirtio_blk\\next4\\n" > "$1/usr/share/initramfs-tools/modules.d/vmtest"',
].join(" && ");

const UNIT = `[Unit]
After=multi-user.target
[Service]
ExecStart=/opt/vmtest/guest.sh
[Install]
WantedBy=multi-user.target
`;

const TIMEOUT_MS = 3 * 3_600_000;

const { values: options } = parseArgs({
  options: { arch: { type: "string", default: "arm64" }, keep: { type: "string" } },
});
const { arch } = options;
if (arch !== "arm64" && arch !== "x64") throw new Error(`There are machines arm64 and x64, not ${arch}.`);
const machine = MACHINES[arch];

/** Why no machine can be made here; undefined when one can. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can make its disk";
  const wanted = [
    "mmdebstrap",
    "mke2fs",
    machine.emulator,
    ...(arch === "arm64" ? ["qemu-aarch64-static"] : []),
  ];
  const missing = Object.entries(TOOLS).filter(([tool]) => wanted.includes(tool) && !Bun.which(tool));
  if (missing.length > 0) return `apt-get install ${missing.map(([, name]) => name).join(" ")}`;
  if (arch === "arm64" && process.arch !== "arm64" && !existsSync("/proc/sys/fs/binfmt_misc/qemu-aarch64"))
    return "the kernel does not know qemu-aarch64-static yet: mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; /lib/systemd/systemd-binfmt";
  return undefined;
}

function run(command: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr.toString() || stdout.toString()}`);
}

/** Installs Debian into a folder unless that was done before. */
function makeRoot(root: string): void {
  if (existsSync(`${root}.made`)) return;
  rmSync(root, { recursive: true, force: true });
  run([
    "mmdebstrap",
    "--variant=minbase",
    `--architectures=${DEBIAN_NAMES[arch as keyof typeof MACHINES]}`,
    `--include=${[...PACKAGES, ...machine.packages].join(",")}`,
    `--essential-hook=${SMALL_INITRD}`,
    "bookworm",
    root,
  ]);
  mkdirSync(`${root}.made`);
}

/** Lays the program and what is done with it into the system, and makes the disk of it. */
function makeDisk(folder: string, root: string, disk: string): void {
  const given = join(root, "opt/vmtest");
  mkdirSync(given, { recursive: true });
  const program = join(
    folder,
    `linux-${arch}` === `linux-${process.arch}` ? "cardpress" : `cardpress-linux-${arch}`,
  );
  cpSync(program, join(given, "cardpress"));
  cpSync(join(import.meta.dir, "../../deploy"), join(given, "deploy"), { recursive: true });
  cpSync(join(import.meta.dir, "vmtest-guest.sh"), join(given, "guest.sh"));
  writeFileSync(join(root, "etc/systemd/system/vmtest.service"), UNIT);
  writeFileSync(join(root, "etc/fstab"), "/dev/vda / ext4 defaults 0 1\n");
  run(["chroot", root, "systemctl", "enable", "vmtest.service"]);
  rmSync(disk, { force: true });
  run(["mke2fs", "-q", "-F", "-t", "ext4", "-d", root, disk, "8G"]);
}

/**
 * Runs the machine until it switches itself off. What it said is in `console`, what it keeps as a tar on the
 * disk `kept`.
 */
async function boot(root: string, { disk, kept, console }: Record<"disk" | "kept" | "console", string>) {
  const file = (start: string) => {
    const name = readdirSync(join(root, "boot")).find((name) => name.startsWith(start));
    return join(root, "boot", name ?? start);
  };
  const drive = (path: string) => ["-drive", `file=${path},if=virtio,format=raw,cache=unsafe`];
  writeFileSync(kept, "");
  truncateSync(kept, 64 * 1024 * 1024);
  const emulator = Bun.spawn(
    ["nice", "-n", "10", machine.emulator, ...machine.machine, "-smp", "1", "-m", "4096"].concat(
      ["-accel", "tcg,tb-size=512", "-icount", "shift=0"],
      ["-nodefaults", "-display", "none", "-serial", `file:${console}`],
      ["-kernel", file("vmlinuz-"), "-initrd", file("initrd.img-")],
      ["-append", `root=/dev/vda rw quiet systemd.show_status=0 console=${machine.console}`],
      [...drive(disk), ...drive(kept)],
    ),
    { timeout: TIMEOUT_MS, stderr: "inherit" },
  );
  await emulator.exited;
}

/** What went wrong: the faults it found, findings it never came to, a card of another size. */
function faults(findings: string, card: string): string[] {
  const wrong = findings.split("\n").filter((line) => line.startsWith("fault "));
  if (!findings.endsWith("end\n")) wrong.push("the machine did not come to its end");
  if (!existsSync(card)) return [...wrong, "it made no card"];
  const { width, height } = PNG.sync.read(readFileSync(card));
  if (width !== 1024 || height !== 1280) wrong.push(`its card is ${width}x${height}`);
  return wrong;
}

async function main(): Promise<number> {
  const known = obstacle();
  if (known) {
    console.log(`skipped: ${arch} (${known})`);
    return 0;
  }
  const folder = options.keep ?? mkdtempSync(join(tmpdir(), "cardpress-vm-"));
  const results = join(folder, `results-${arch}`);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const files = {
    disk: join(folder, `disk-${arch}`),
    kept: join(folder, `kept-${arch}`),
    console: join(results, "console.txt"),
  };
  try {
    const root = join(folder, `root-${arch}`);
    run([
      process.execPath,
      join(import.meta.dir, "../build.ts"),
      "--target",
      `linux-${arch}`,
      "--out",
      folder,
    ]);
    makeRoot(root);
    makeDisk(folder, root, files.disk);
    await boot(root, files);
    const tar = Bun.spawnSync(["tar", "-xf", files.kept, "-C", results]);
    const report = tar.exitCode === 0 ? "findings.txt" : "console.txt";
    const findings = readFileSync(join(results, report), "utf8");
    console.log(findings);
    const wrong = faults(findings, join(results, "card.png"));
    for (const line of wrong) console.log(`✗ ${line}`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    rmSync(files.disk, { force: true });
    rmSync(files.kept, { force: true });
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await main());
