import { expect, test } from "bun:test";
import { join } from "node:path";
import { BUILT_IN, DEFAULT_TEMPLATE, isBuiltIn } from "../../src/templates/built-in.ts";
import { loadTemplate } from "../../src/templates/load.ts";

const root = join(import.meta.dir, "../../src");

test("no template is named in the program but where it is registered; examples of the API may show one", async () => {
  const mayName = [
    "core/image-request.ts",
    "http/docs/guides/card-options.md",
    "http/docs/guides/pagination.md",
    "http/docs/guides/settings.md",
    "http/openapi/examples.ts",
    "http/preset-schemas.ts",
    "templates/built-in.ts",
  ];
  const naming: string[] = [];
  for await (const file of new Bun.Glob("**/*.{ts,tsx,js,md}").scan(root)) {
    const text = await Bun.file(join(root, file)).text();
    if ([...BUILT_IN.keys()].some((name) => text.includes(name))) naming.push(file);
  }
  expect(naming.sort()).toEqual(mayName);
});

test("the one that is listed where the operator lists none is built in", () => {
  expect(BUILT_IN.has(DEFAULT_TEMPLATE)).toBe(true);
});

test("what is built in is all of its folder, fonts included", async () => {
  for (const name of BUILT_IN.keys()) {
    const { digest } = await loadTemplate(join(root, "../templates", name));
    expect([name, isBuiltIn(name, digest)]).toEqual([name, true]);
  }
});
