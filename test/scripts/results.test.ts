import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failuresIn } from "../../scripts/suites/results.ts";

/** What `bun test` prints of these files, whose tests fail or hang. */
async function printed(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-results-"));
  mkdirSync(join(folder, "test"));
  for (const [name, body] of Object.entries(files))
    writeFileSync(join(folder, "test", name), `import { beforeAll, expect, test } from "bun:test";\n${body}`);
  const names = Object.keys(files).map((name) => `./test/${name}`);
  const child = Bun.spawn([process.execPath, "test", ...names], {
    cwd: folder,
    stderr: "pipe",
    stdout: "pipe",
  });
  const [errors] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  rmSync(folder, { recursive: true });
  return errors;
}

const HANGS = `test("hangs", () => new Promise(() => {}), 1);\n`;
const PASSES = `test("fine", () => {});\n`;
const FALLS = (name: string) => `test("${name}", () => expect("${name} is up").toBe(""));\n`;

test("what fails after a test whose time ran out ended the browser is said to have fallen after it", async () => {
  const browser = `beforeAll(() => void Bun.spawn(["tail", "-f", "/dev/null"], { stdio: ["ignore", "ignore", "ignore"] }));\n`;
  const output = await printed({
    "a.test.ts": [browser, FALLS("before"), HANGS, FALLS("second"), PASSES, FALLS("third")].join(""),
    "b.test.ts": FALLS("elsewhere"),
  });
  const said = failuresIn(output);
  expect(said).toContain('2 more fell after "hangs" ran out of time, which ended the processes they share:');
  for (const name of ["second", "third"]) {
    expect(said).toContain(`  (fail) ${name}`);
    expect(said).not.toContain(`${name} is up`);
  }
  for (const name of ["before", "elsewhere"]) expect(said).toContain(`${name} is up`);
});

test("what fails after a test whose time ran out, but which ended nothing, is shown as any failure", async () => {
  const said = failuresIn(await printed({ "a.test.ts": HANGS + FALLS("second") }));
  expect(said).toContain("second is up");
  expect(said).not.toContain("fell after");
});
