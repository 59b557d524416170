import { expect, test } from "bun:test";
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
