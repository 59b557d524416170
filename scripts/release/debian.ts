import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Plan, packageName, programPath, ROOT, type Target } from "./plan.ts";
import { run } from "./run.ts";

const SOURCE = join(ROOT, "deploy/debian");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What the program needs of the system, and what comes along where it is to be had. */
const NEEDS: Record<Target["debian"], { depends: string; recommends: string }> = {
  // Its browser finds these two in itself unless the C library is older than those that come with them.
  amd64: {
    depends: "libc6 (>= 2.34) | libnss3, libc6 (>= 2.34) | libexpat1, libc6 (>= 2.28)",
    recommends: "sudo",
  },
  // No browser comes within, and Ubuntu has none as a package.
  arm64: { depends: "libc6 (>= 2.28)", recommends: "sudo, chromium-headless-shell | chromium" },
};
/** Of deploy/, what a proxy or a monitor on the same machine takes. */
const EXAMPLES = [
  "Caddyfile",
  "nginx.conf",
  "prometheus.yml",
  "prometheus-rules.yml",
  "grafana-dashboard.json",
];

/** Text of deploy/ for a package: the program lies elsewhere, and the steps to install by hand are done. */
export function packaged(text: string): string {
  return text.replaceAll("/usr/local/bin/", "/usr/bin/").replace(/^#(?: {3}.*)?\n/gm, "");
}

/** Text for a page of the manual, every line as it stands. */
export function manualText(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&");
}

function filled(text: string, values: Record<string, string>): string {
  return text.replace(/@([A-Z]+)@/g, (_, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`There is no value for @${name}@.`);
    return value;
  });
}

/** Writes the files of a target's package below a folder. */
async function layOut(plan: Plan, target: Target, root: string): Promise<void> {
  const write = (path: string, content: string | Uint8Array, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
  };
  const zipped = (text: string) => Bun.gzipSync(Buffer.from(text), { level: 9, library: "libdeflate" });
  const values = {
    VERSION: plan.debianVersion,
    DATE: new Date(plan.time * 1000).toISOString().slice(0, 10),
    HELP: manualText(await run([process.execPath, "src/main.ts", "help"], { cwd: ROOT })),
  };
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  copyFileSync(programPath(plan, target), join(root, "usr/bin/cardpress"));
  chmodSync(join(root, "usr/bin/cardpress"), 0o755);
  write("usr/bin/cardpressctl", packaged(read("deploy/cardpressctl")), 0o755);
  write("usr/lib/systemd/system/cardpress.service", packaged(read("deploy/cardpress.service")));
  // It may hold secrets. Its group is given to it once that is there.
  write("etc/cardpress/cardpress.env", read("deploy/cardpress.env"), 0o640);
  chmodSync(join(root, "etc/cardpress"), 0o750);
  const manual = zipped(filled(read("deploy/debian/cardpress.1"), values));
  for (const name of ["cardpress", "cardpressctl"]) write(`usr/share/man/man1/${name}.1.gz`, manual);
  const docs = "usr/share/doc/cardpress";
  write(`${docs}/copyright`, read("deploy/debian/copyright"));
  write(`${docs}/NOTICE.gz`, zipped(read("NOTICE")));
  write(`${docs}/NEWS.gz`, zipped(read("CHANGELOG.md")));
  write(`${docs}/changelog.gz`, zipped(debianChangelog(plan)));
  for (const name of EXAMPLES) write(`${docs}/examples/${name}`, read(`deploy/${name}`));
  write("usr/share/lintian/overrides/cardpress", read("deploy/debian/lintian-overrides"));
}

/** Debian's own form of a changelog, which leads to ours. */
function debianChangelog({ debianVersion, author, time }: Plan): string {
  const day = new Date(time * 1000).toUTCString().replace("GMT", "+0000");
  return `cardpress (${debianVersion}) stable; urgency=medium\n\n  * What is new stands in NEWS.gz beside this file.\n\n -- ${author}  ${day}\n`;
}

const files = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(root, path)).isFile())
    .sort();

/** Makes a target's Debian package. The same commit gives the same bytes from the same program. */
export async function packDebian(plan: Plan, target: Target): Promise<void> {
  const root = join(plan.parts, `debian-${target.debian}`);
  rmSync(root, { recursive: true, force: true });
  await layOut(plan, target, root);
  const paths = files(root);
  const bytes = paths.reduce((sum, path) => sum + statSync(join(root, path)).size, 0);
  const control = join(root, "DEBIAN");
  mkdirSync(control);
  const values = {
    VERSION: plan.debianVersion,
    ARCHITECTURE: target.debian,
    AUTHOR: plan.author,
    SIZE: String(Math.ceil(bytes / 1024)),
    DEPENDS: NEEDS[target.debian].depends,
    RECOMMENDS: NEEDS[target.debian].recommends,
    REPOSITORY: plan.repository,
  };
  writeFileSync(join(control, "control"), filled(read("deploy/debian/control"), values));
  writeFileSync(join(control, "conffiles"), "/etc/cardpress/cardpress.env\n");
  const sum = (path: string) =>
    new Bun.CryptoHasher("md5").update(readFileSync(join(root, path))).digest("hex");
  const listed = paths.filter((path) => !path.startsWith("etc/"));
  writeFileSync(join(control, "md5sums"), listed.map((path) => `${sum(path)}  ${path}\n`).join(""));
  for (const name of ["postinst", "prerm", "postrm"]) {
    copyFileSync(join(SOURCE, name), join(control, name));
    chmodSync(join(control, name), 0o755);
  }
  // Every dpkg reads xz, which bare systems have no command for: 17 of 219 MB less than gzip.
  const options = ["--root-owner-group", "-Zxz", "-z6"];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(plan.time) };
  const out = join(plan.folder, packageName(plan, target));
  await run(["dpkg-deb", ...options, "--build", root, out], { env });
  rmSync(root, { recursive: true });
}
