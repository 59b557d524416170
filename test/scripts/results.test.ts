import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failuresIn, totalsOfFiles, unfinishedFiles } from "../../scripts/suites/results.ts";
import { partOf, unitsOf } from "../../scripts/suites/units.ts";

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

test("of a unit that failed only the files are run again that did not pass, and the others' tests count", async () => {
  const bodies = {
    "a.test.ts": `${PASSES}test.skip("later", () => {});\n`,
    "b.test.ts": PASSES + FALLS("broken"),
    "c.test.ts": `setTimeout(() => { throw Error("stray"); });\ntest("waits", () => new Promise((done) => setTimeout(done)));\n`,
    "d.test.ts": PASSES,
  };
  const files = Object.keys(bodies).map((name) => `test/${name}`);
  const output = await printed(bodies);
  const again = unfinishedFiles(output, files);
  expect(again).toEqual(["test/b.test.ts", "test/c.test.ts"]);
  expect(totalsOfFiles(output, ["test/a.test.ts", "test/d.test.ts"])).toEqual({ pass: 2, skip: 1, fail: 0 });
  const [unit] = unitsOf("", files, {});
  const [part] = unitsOf("", again, {});
  expect(unit && partOf(unit, again).command).toEqual(part?.command);
});

test("of a unit that was ended the file at which it was is run again, and all after it", async () => {
  const output = await printed({
    "a.test.ts": PASSES,
    "b.test.ts": `${PASSES}test("ends", () => process.kill(process.pid, "SIGKILL"));\n`,
    "c.test.ts": PASSES,
  });
  const files = ["test/a.test.ts", "test/b.test.ts", "test/c.test.ts"];
  expect(unfinishedFiles(output, files)).toEqual(files.slice(1));
  expect(unfinishedFiles("", files)).toEqual(files);
});

test("a unit whose command does not name its files is run again as a whole", () => {
  const own = { suite: "", files: ["test/blobs"], seconds: 1, command: ["bun", "elsewhere.ts"], env: {} };
  expect(partOf(own, ["test/blobs"])).toBe(own);
});
