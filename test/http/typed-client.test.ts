import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { startLoop } from "../../src/app/loop.ts";
import { typescriptSample } from "../../src/console/cards/code-samples.ts";
import { SAMPLES } from "../../src/http/docs/samples.ts";
import { testAccount } from "../harness.ts";
import { type Json, type TestApi, testApi } from "./api.ts";

// A partner's view: only the served OpenAPI document, and a third-party generator and compiler.

const ROOT = join(import.meta.dir, "../..");
const CLIENT = join(import.meta.dir, "client");

let api: TestApi;
let dir: string;
let quickstart: string;
beforeAll(async () => {
  api = await testApi();
  dir = await mkdtemp(join(tmpdir(), "cardpress-client-"));
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  await Bun.write(join(dir, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const types = join(dir, "cardpress.d.ts");
  await run([
    process.execPath,
    join(ROOT, "scripts/openapi-types.ts"),
    `${api.baseUrl}/docs/openapi.json`,
    types,
  ]);
  quickstart = await Bun.file(join(CLIENT, "quickstart.ts.txt")).text();
  await Bun.write(join(dir, "quickstart.ts"), quickstart);
});
afterAll(async () => {
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

const TSCONFIG = {
  compilerOptions: {
    target: "ESNext",
    module: "Preserve",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    lib: ["ESNext", "DOM", "DOM.Iterable"],
    types: ["bun-types"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
};

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: dir, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(out + err);
  return out;
}

/**
 * The compiler's complaints about each of these programs, none about those that are right. They are compiled
 * in one go.
 */
async function complaintsOf(programs: readonly string[]): Promise<string[]> {
  const names = programs.map((program) => `program-${Bun.hash(program)}.ts`);
  for (const [n, program] of programs.entries()) await Bun.write(join(dir, names[n] ?? ""), program);
  await Bun.write(join(dir, "tsconfig.one.json"), JSON.stringify({ ...TSCONFIG, files: names }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const said = await run([process.execPath, "--bun", tsc, "-p", "tsconfig.one.json"]).then(
    () => "",
    (error: Error) => error.message,
  );
  // A complaint begins with its file's name; its further lines are indented.
  const complaints = said.split(/\n(?=\S)/).filter(Boolean);
  const strange = complaints.filter((text) => !names.some((name) => text.startsWith(name)));
  expect(strange).toEqual([]);
  return names.map((name) => complaints.filter((text) => text.startsWith(name)).join("\n"));
}

test("the samples of guides and playground compile by themselves, as strictly as can be", async () => {
  for (const { text } of [...SAMPLES.quickstart, ...SAMPLES.webhook].filter(
    ({ language }) => language === "ts",
  ))
    expect(await complaintsOf([text])).toEqual([""]);
  const body = { player: { name: "Zoë", source_image_url: "https://a.example/x.png" }, style: {} };
  expect(await complaintsOf([typescriptSample(api.baseUrl, body)])).toEqual([""]);
});

const MISTAKES: [string, string, string, string][] = [
  ["a misspelt field", "skill_level: 87", "skillLevel: 87", "skillLevel"],
  ["a text for a number", "number: 9", 'number: "9"', "number"],
  ["an unknown position", 'position: "ST"', 'position: "STRIKER"', "STRIKER"],
  ["a missing Idempotency-Key", '{ "Idempotency-Key": crypto.randomUUID() }', "{}", "Idempotency-Key"],
  ["a number in the metadata", 'season: "2026"', "season: 2026", "number"],
  [
    "a result read before the status",
    "state = image.status;",
    "imageUrl = image.result.image_url;",
    "result",
  ],
  ["an unknown period", '"current_month"', '"today"', "today"],
  ["an unknown address", '"/v1/usage"', '"/v1/use"', "/v1/use"],
  [
    "an error code that does not exist",
    'code === "IMAGE_NOT_FOUND"',
    'code === "NO_SUCH_CODE"',
    "NO_SUCH_CODE",
  ],
];
test("the quickstart compiles against the generated types, and with each of the usual mistakes it does not", async () => {
  for (const [, right] of MISTAKES) expect(quickstart).toContain(right);
  const mistaken = MISTAKES.map(([, right, wrong]) => quickstart.replace(right, wrong));
  const [sound, ...found] = await complaintsOf([quickstart, ...mistaken]);
  expect(sound).toBe("");
  for (const [n, [mistake, , , named]] of MISTAKES.entries()) {
    expect({ mistake, said: found[n] }).toEqual({ mistake, said: expect.stringContaining("error TS") });
    expect({ mistake, said: found[n] }).toEqual({ mistake, said: expect.stringContaining(named) });
  }
});

test("the quickstart runs against the service with a test key", async () => {
  const { testKey } = await testAccount(api);
  // The loop that serves test images, as the running service has it.
  const loop = startLoop({
    name: "mock",
    concurrency: 1,
    pollMs: 5,
    runOne: (signal, more) => renderNextTestImage(api, signal, more),
    log: api.log,
  });
  try {
    const out: Json = JSON.parse(
      await run([process.execPath, join(dir, "quickstart.ts"), api.baseUrl, testKey]),
    );
    expect(out.id).toMatch(/^img_/);
    expect(out).toEqual({
      id: out.id,
      imageUrl: out.imageUrl,
      first: out.id,
      completed: 1,
      known: "IMAGE_NOT_FOUND",
    });
    expect(out.imageUrl).toContain(out.id);
  } finally {
    await loop.stop();
  }
});
