import { expect, test } from "bun:test";
import { join } from "node:path";
import { csvField } from "../../src/core/csv.ts";

test("no field is a formula to a spreadsheet, in signs of half or full width or behind a break", () => {
  for (const sign of ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"])
    expect(csvField(`${sign}1+1`).replaceAll('"', "")).toStartWith("'");
  expect(csvField('Lee, "Flash"')).toBe('"Lee, ""Flash"""');
  expect(csvField("Ada")).toBe("Ada");
});

test("every CSV file of the service is written by this one", async () => {
  const root = join(import.meta.dir, "../../src");
  const writers: string[] = [];
  for await (const file of new Bun.Glob("**/*.{ts,tsx}").scan(root))
    if ((await Bun.file(join(root, file)).text()).includes(`replaceAll('"', '""')`)) writers.push(file);
  expect(writers).toEqual(["core/csv.ts"]);
});
