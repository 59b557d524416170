import { expect, test } from "bun:test";
import { join } from "node:path";

/**
 * What each room may import from. Files directly under src (config, log, version...) are open to all but
 * core.
 */
const MAY_IMPORT: Record<string, string[]> = {
  core: ["core"],
  system: ["core", "system"],
  blobs: ["core", "system", "blobs"],
  state: ["core", "state"],
  templates: ["core", "templates"],
  store: ["core", "system", "store"],
  jobs: ["core", "store", "jobs"],
  sources: ["core", "system", "blobs", "templates", "sources"],
  render: ["core", "system", "blobs", "templates", "render"],
  app: ["core", "system", "blobs", "state", "templates", "store", "jobs", "sources", "render", "app"],
  web: ["core", "web"],
  mcp: ["core", "app", "mcp"],
  http: [
    "core",
    "system",
    "blobs",
    "state",
    "templates",
    "store",
    "sources",
    "render",
    "app",
    "web",
    "mcp",
    "http",
  ],
  console: [
    "core",
    "system",
    "blobs",
    "state",
    "templates",
    "store",
    "render",
    "app",
    "web",
    "http",
    "console",
  ],
  studio: ["core", "system", "templates", "render", "app", "web", "http", "studio"],
  service: [
    "core",
    "system",
    "blobs",
    "state",
    "templates",
    "store",
    "jobs",
    "sources",
    "render",
    "app",
    "http",
    "console",
    "service",
  ],
  cli: [
    "core",
    "system",
    "blobs",
    "state",
    "templates",
    "store",
    "jobs",
    "sources",
    "render",
    "app",
    "mcp",
    "http",
    "console",
    "studio",
    "service",
    "cli",
  ],
};

const root = join(import.meta.dir, "../../src");
const transpiler = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
  js: new Bun.Transpiler({ loader: "js" }),
};
const kindOf = (file: string) => (/\.(tsx|js)$/.exec(file)?.[1] ?? "ts") as keyof typeof transpiler;

/** Every import of a module of ours, types included: they tie rooms together as well. */
async function imports(file: string): Promise<string[]> {
  const source = (await Bun.file(join(root, file)).text()).replace(/^#!.*/, "");
  const untyped = source.replace(/^import type /gm, "import ").replace(/([{,]\s*)type (?=\w)/g, "$1");
  // A name that is never used as a value would be dropped from the scan, so names are read from the text as
  // well.
  const named = [...untyped.matchAll(/from\s+"(\.[^"]+)"|\{[^}]*\bimport\("(\.[^"]+)"\)/g)].map(
    ([, from, type]) => from ?? type ?? "",
  );
  const scanned = transpiler[kindOf(file)].scanImports(untyped).map((found) => found.path);
  return [...new Set([...named, ...scanned])].filter((path) => path.startsWith("."));
}

test("imports run one way from room to room", async () => {
  const broken: string[] = [];
  let checked = 0;
  for await (const file of new Bun.Glob("**/*.{ts,tsx,js}").scan(root)) {
    const room = file.includes("/") ? file.split("/", 1)[0] : undefined;
    if (room === undefined) continue;
    const allowed = MAY_IMPORT[room];
    for (const path of await imports(file)) {
      checked += 1;
      const target = join(root, file, "..", path);
      const inside = target.startsWith(`${root}/`) ? target.slice(root.length + 1) : undefined;
      if (inside === undefined || !inside.includes("/")) {
        if (room === "core") broken.push(`${file} -> ${path}`);
      } else if (!allowed?.includes(inside.split("/", 1)[0] ?? "")) broken.push(`${file} -> ${path}`);
    }
  }
  expect(broken).toEqual([]);
  expect(checked).toBeGreaterThan(100);
});

test("no two files import each other, not even through others", async () => {
  const graph = new Map<string, string[]>();
  for await (const file of new Bun.Glob("**/*.{ts,tsx,js}").scan(root))
    graph.set(
      file,
      (await imports(file)).map((path) => join(root, file, "..", path).slice(root.length + 1)),
    );
  expect(circlesOf(graph)).toEqual([]);
  expect(graph.size).toBeGreaterThan(400);
});

/** The groups of files each of which is reached from every other of its group. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reachable = new Map<string, Set<string>>();
  for (const file of graph.keys()) {
    const seen = new Set<string>();
    const open = [...(graph.get(file) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(graph.get(next) ?? []));
    }
    reachable.set(file, seen);
  }
  const circles: string[][] = [];
  const placed = new Set<string>();
  for (const [file, reached] of reachable) {
    if (placed.has(file) || !reached.has(file)) continue;
    const circle = [...reached].filter((other) => reachable.get(other)?.has(file));
    for (const one of circle) placed.add(one);
    circles.push(circle);
  }
  return circles;
}

test("circles are found: two files, and three of which one imports a fourth", () => {
  const graph = { a: ["b"], b: ["a", "x"], x: ["y"], y: ["z"], z: ["x", "end"], end: [] };
  expect(circlesOf(new Map(Object.entries(graph))).map((circle) => circle.sort())).toEqual([
    ["a", "b"],
    ["x", "y", "z"],
  ]);
});

test("a render worker never opens the database", async () => {
  const seen = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const path of await imports(file)) {
      const target = join(root, file, "..", path);
      if (target.startsWith(root) && /\.tsx?$/.test(target)) await visit(target.slice(root.length + 1));
    }
  };
  await visit("render/worker.ts");
  expect([...seen].filter((file) => file.startsWith("store/"))).toEqual([]);
  expect(seen.size).toBeGreaterThan(5);
});

test("what parses the lists that people upload is loaded by the process for it alone", async () => {
  const loaders = new Set<string>();
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(root)) {
    const source = await Bun.file(join(root, file)).text();
    if (/from "(papaparse|read-excel-file|.*\/(parse-list|workbook)\.ts)/.test(source)) loaders.add(file);
  }
  const parsers = ["list-worker", "parse-list", "workbook"].map((name) => `app/batches/${name}.ts`);
  expect([...loaders].sort()).toEqual(parsers);
});

test("SQLite's own calls stand nowhere outside the store's SQLite file", async () => {
  const found: string[] = [];
  for await (const file of new Bun.Glob("{app,http,store,console}/**/*.{ts,tsx}").scan(root)) {
    if (file === "store/engine/sqlite.ts" || file === "store/engine/migrate.ts") continue;
    const source = await Bun.file(join(root, file)).text();
    if (/\bdb\b[^;]*\.(get|all|run)\(\)|db\.transaction\(/.test(source)) found.push(file);
  }
  expect(found).toEqual([]);
});

test("no file of ours is longer than 400 lines", async () => {
  const long: string[] = [];
  for await (const file of new Bun.Glob("**/*.{ts,tsx,js}").scan(root)) {
    const text = await Bun.file(join(root, file)).text();
    const lines = text.split("\n").length;
    if (lines > 400 && !text.startsWith("// Generated")) long.push(`${file}: ${lines}`);
  }
  expect(long).toEqual([]);
});

test("the native ONNX runtime is loaded in one place only, where its telemetry is off", async () => {
  const project = join(root, "..");
  const loaders: string[] = [];
  for await (const file of new Bun.Glob("{src,db}/**/*.{ts,tsx,js}").scan(project)) {
    const source = await Bun.file(join(project, file)).text();
    if (/onnxruntime_binding|"onnxruntime-node/.test(source)) loaders.push(file);
  }
  expect(loaders).toEqual(["src/render/photo/onnx-runtime.ts"]);
});

test("the tables are known to the store alone, and know the domain's words from core", async () => {
  const readers: string[] = [];
  for await (const file of new Bun.Glob("*/**/*.{ts,tsx}").scan(root))
    for (const path of await imports(file))
      if (join(root, file, "..", path).startsWith(join(root, "../db/")))
        readers.push(file.split("/", 1)[0] ?? "");
  expect([...new Set(readers)]).toEqual(["store"]);
});

test("what only PostgreSQL and buckets need is loaded where they are used, not at the start", async () => {
  const lazy =
    /\/(store\/engine\/postgres(-connections|-migrate)?|jobs\/(boss-jobs|open-boss)|state\/shared-(state|nodes|holds)|blobs\/bucket(-blobs)?|postgres-(schema|kit))\.ts$/;
  const library = /^(@aws-sdk\/|pg-boss|drizzle-orm\/(pg-|bun-sql$))/;
  const early: string[] = [];
  let seen = 0;
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(root)) {
    const source = (await Bun.file(join(root, file)).text()).replace(/^#!.*/, "");
    if (lazy.test(`/${file}`)) {
      seen += 1;
      continue;
    }
    const kind = file.endsWith("x") ? "tsx" : "ts";
    for (const { path, kind: how } of transpiler[kind].scanImports(source))
      if (how === "import-statement" && (lazy.test(path) || library.test(path)))
        early.push(`${file} -> ${path}`);
  }
  expect(early).toEqual([]);
  expect(seen).toBe(10);
});
