import { expect, test } from "bun:test";
import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, removeOldFiles } from "../../src/service/scratch.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { testFolder } from "../harness.ts";

test("of files in the making the old ones go while the service runs, and all when it starts", async () => {
  const made = testFolder();
  const { scratch } = openDataFolder(made.dir);
  const at = Date.parse("2026-01-01T00:00:00Z");
  for (const name of ["left", "fresh"]) writeFileSync(join(scratch, name), "half");
  utimesSync(join(scratch, "left"), at / 1000, at / 1000);
  await removeOldFiles(scratch, at - 1);
  expect(readdirSync(scratch)).toHaveLength(2);
  await removeOldFiles(scratch, at);
  expect(readdirSync(scratch)).toEqual(["fresh"]);
  await emptyFolder(scratch);
  expect(readdirSync(scratch)).toEqual([]);
  expect(statSync(scratch).mode & 0o007).toBe(0);
  await made.remove();
});
