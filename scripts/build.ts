/**
 * Builds the single-file program: cardpress with its browser, networks, runtime, fonts and pages.
 *
 *     bun run build                         # dist/cardpress, for this machine's processor
 *     bun run build --target linux-arm64    # dist/cardpress-linux-arm64; it uses the system's Chromium
 *     bun run build --out FOLDER            # into FOLDER instead of dist
 *     bun run build --parts                 # and says what takes how much of the file
 *
 * The native runtime is included compressed, and only for the target processor.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { commitOf } from "../src/version.ts";
import { packCard, packClient, packPhp, packPython } from "./client.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const ROOT = join(import.meta.dir, "..");
const RUNTIMES = join(ROOT, "node_modules/onnxruntime-node/bin/napi-v6");
/**
 * Zstandard level, which takes a second: 12 would save 0.7 of 300 MB and take four, 19 another 1 MB and a
 * minute.
 */
const LEVEL = 6;

const own = `${process.platform}-${process.arch}`;
const { values: options } = parseArgs({
  options: {
    target: { type: "string", default: own },
    out: { type: "string", default: join(ROOT, "dist") },
    parts: { type: "boolean", default: false },
  },
});
const { target, out } = options;
if (target !== "linux-x64" && target !== "linux-arm64")
  throw new Error(`Programs are built for linux-x64 and linux-arm64, not for ${target}.`);

const outfile = join(out, target === own ? "cardpress" : `cardpress-${target}`);

/** The runtime's files, compressed, by name. */
function compressRuntime(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const names = ["libonnxruntime.so.1", "onnxruntime_binding.node"];
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, `${name}.zst`);
      const file = readFileSync(join(RUNTIMES, target.replace("-", "/"), name));
      writeFileSync(path, Bun.zstdCompressSync(file, { level: LEVEL }));
      return [name, path];
    }),
  );
}

/** Substitutes files, by their names, for a constant of the module that declares there are none. */
function withFiles(module: RegExp, constant: string, files: Record<string, string>): BunPlugin {
  const imports = Object.values(files).map(
    (path, i) => `import file${i} from ${JSON.stringify(path)} with { type: "file" };`,
  );
  const names = Object.keys(files).map((name, i) => `${JSON.stringify(name)}: file${i}`);
  const contents = `${imports.join("\n")}\nexport const ${constant} = { ${names.join(", ")} };`;
  return {
    name: constant,
    setup(build) {
      build.onLoad({ filter: module }, () => ({ contents, loader: "ts" }));
    },
  };
}

/** The clients' packages by name. */
async function packClients(folder: string): Promise<Record<string, string>> {
  const paths = [
    await packClient(folder),
    await packCard(folder),
    await packPython(folder),
    await packPhp(folder),
  ];
  return Object.fromEntries(paths.map((path) => [basename(path), path]));
}

/** The packaged browser is for x64, so builds for other processors leave it out. */
const withoutBrowser = (empty: string): BunPlugin => ({
  name: "browser",
  setup(build) {
    build.onResolve({ filter: /@sparticuz\/chromium\/bin\// }, () => ({ path: empty }));
  },
});

/** The browser is driven by its own protocol, so the one for Firefox is left out: 2 MB. */
const withoutFirefox: BunPlugin = {
  name: "firefox",
  setup(build) {
    build.onLoad({ filter: /puppeteer-core\/.*\/bidi\/bidi\.js$/ }, () => ({
      contents: "export {};",
      loader: "js",
    }));
  },
};

const intermediate = join(out, "parts", target);
const files = compressRuntime(intermediate);
const clients = await packClients(join(intermediate, "clients"));
const plugins = [
  withFiles(/embedded-runtime\.ts$/, "EMBEDDED_RUNTIME", files),
  withFiles(/packed-clients\.ts$/, "PACKED_CLIENTS", clients),
  withoutFirefox,
];
if (target === "linux-arm64") {
  const none = join(intermediate, "no-browser.txt");
  writeFileSync(none, "This program uses the system's Chromium.\n");
  plugins.push(withoutBrowser(none));
}
// Where the sources came without their history, as in an image's build, the caller can tell.
const commit = process.env.CARDPRESS_BUILD_COMMIT || commitOf(ROOT) || "";
const built = await Bun.build({
  entrypoints: [join(ROOT, "src/main.ts")],
  target: "bun",
  compile: { target: `bun-${target}`, outfile },
  // Compiled ahead: 24 MB more, and the service starts with 390 instead of 950 ms of processor time.
  bytecode: true,
  format: "esm",
  // 4 MB less. Names stay, for stack traces.
  minify: { whitespace: true, syntax: true },
  metafile: true,
  define: { CARDPRESS_BUILD_COMMIT: JSON.stringify(commit) },
  plugins,
});
if (!built.success) throw new AggregateError(built.logs, "The program was not built.");
const embedded = Object.keys(built.metafile?.inputs ?? {})
  .map((path) => join(ROOT, path))
  .filter((path) => !/\.(tsx?|m?js|cjs|json)$/.test(path));
checkWhole(embedded);
console.log(`${outfile}: ${Math.round(statSync(outfile).size / 1e6)} MB`);
if (options.parts) {
  const code = built.outputs.reduce((sum, { size }) => sum + size, 0);
  for (const [part, bytes] of partsOf(embedded, code))
    console.log(`${(bytes / 1e6).toFixed(1).padStart(6)} MB  ${part}`);
}

/**
 * Bun has been seen to bundle a file as empty if it was missing at first sight, so the program's size is
 * checked.
 */
function checkWhole(embedded: string[]): void {
  const bytes = embedded.reduce((sum, path) => sum + statSync(path).size, 0);
  const { size } = statSync(outfile);
  if (embedded.length < 100 || size < bytes + statSync(process.execPath).size / 2)
    throw new Error(
      `${outfile} has ${size} bytes, too few for ${embedded.length} files of ${bytes}. Build it again.`,
    );
  if (target !== own) return;
  const { exitCode, stdout } = Bun.spawnSync([outfile, "embedded-files"]);
  const found: Record<string, number> = exitCode === 0 ? JSON.parse(stdout.toString()) : {};
  const empty = Object.keys(found).filter((name) => found[name] === 0);
  if (Object.keys(found).length < embedded.length / 2 || empty.length > 0)
    throw new Error(`${outfile} carries empty files: ${empty.join(", ")}. Build it again.`);
}

/** The part of the program that an embedded file belongs to. */
function partOf(path: string): string {
  const name = basename(path);
  if (path.includes("@sparticuz/chromium")) return `browser: ${name}`;
  if (path.includes("onnxruntime")) return "runtime for networks";
  if (/\.onnx(\.zst)?$/.test(name)) return `network: ${name.split(".")[0]}`;
  const font = /@fontsource[^/]*\/([^/]+)/.exec(path)?.[1];
  if (font) return /-(sc|tc|jp|kr)$/.test(font) ? `font: ${font}` : "fonts, all others";
  if (path.includes("/placeholders/")) return "placeholders of test keys";
  if (/\/(docs|console|web|studio)\//.test(path)) return "pages";
  if (/\/(samples|templates)\//.test(path)) return "templates and sample photos";
  return "everything else";
}

/** The parts of the built file with their bytes, largest first. */
function partsOf(embedded: string[], codeBytes: number): [string, number][] {
  const parts: Record<string, number> = { "code, minified": codeBytes };
  for (const path of embedded) parts[partOf(path)] = (parts[partOf(path)] ?? 0) + statSync(path).size;
  let rest = statSync(outfile).size - Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  // Another processor's Bun is not here to be measured.
  if (target === own) {
    const { size } = statSync(process.execPath);
    parts.Bun = size;
    rest -= size;
  }
  parts[target === own ? "code, compiled ahead" : "Bun, and code compiled ahead"] = rest;
  return Object.entries(parts).sort(([, a], [, b]) => b - a);
}
