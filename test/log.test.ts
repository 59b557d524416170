import { expect, test } from "bun:test";
import { join } from "node:path";
import { jsonLog, peopleLog } from "../src/log.ts";

test("each event is one JSON line with its time, its level and its fields", () => {
  const lines: string[] = [];
  jsonLog((line) => lines.push(line)).warn("render_fault", { imageId: "img_1", error: "two\nlines" });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    level: "warn",
    event: "render_fault",
    imageId: "img_1",
    error: "two\nlines",
  });
});

test("on a terminal each event is one line for people, whatever its fields hold", () => {
  const lines: string[] = [];
  const log = peopleLog((line) => lines.push(line), false);
  log.info("listening", { address: "http://127.0.0.1:3000", workers: 2 });
  log.error("render_fault", { error: "two\nlines\x1b[2J" });
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d info {2}listening {2}address=http:\/\/127\.0\.0\.1:3000 {2}workers=2\n$/,
  );
  expect(lines[1]?.split("\n")).toHaveLength(2);
  expect(lines[1]).not.toContain("\x1b");
});

test("a terminal's colours tell warnings and errors apart", () => {
  const lines: string[] = [];
  const log = peopleLog((line) => lines.push(line));
  log.warn("clock_unproven");
  log.error("request_failed");
  expect(lines[0]).toContain("\x1b[33m");
  expect(lines[1]).toContain("\x1b[31m");
});

const log = JSON.stringify(join(import.meta.dir, "../src/log.ts"));

/** What a process with that program leaves on its stdout. */
async function outputOf(program: string): Promise<string[]> {
  const child = Bun.spawn({
    cmd: [process.execPath, "-e", `import { jsonLog, stdoutByTurn } from ${log};\n${program}`],
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await new Response(child.stdout).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).event);
}

test("an error is written at once, with all that was said before it", async () => {
  const program = `const log = jsonLog(stdoutByTurn());
    log.info("a"); log.error("b"); log.info("c"); process.kill(process.pid, "SIGKILL");`;
  expect(await outputOf(program)).toEqual(["a", "b"]);
});

test("lines of one turn come in their order, with those of the turns after", async () => {
  const program = `const log = jsonLog(stdoutByTurn());
    log.info("a"); log.error("b"); setTimeout(() => { log.info("c"); log.info("d"); }, 1);`;
  expect(await outputOf(program)).toEqual(["a", "b", "c", "d"]);
});

test("a process that ends in the middle of a turn leaves no line untold", async () => {
  const many = `for (let n = 0; n < 3000; n++) log.info("line " + n);`;
  expect(await outputOf(`const log = jsonLog(stdoutByTurn()); ${many} process.exit(0);`)).toHaveLength(3000);
});

test("the last lines before a crash are there", async () => {
  expect(await outputOf(`jsonLog(stdoutByTurn()).info("a"); throw new Error("meant");`)).toEqual(["a"]);
});

test("a text of megabytes, a stranger's perhaps, makes no line of megabytes", () => {
  const lines: string[] = [];
  const text = "x".repeat(3_000_000);
  jsonLog((line) => lines.push(line)).warn("render_fault", { error: text, all: Array(1_000).fill("y") });
  peopleLog((line) => lines.push(line), false).warn("render_fault", { error: text });
  for (const line of lines) expect(line.length).toBeLessThan(20_000);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: "render_fault", level: "warn" });
});
