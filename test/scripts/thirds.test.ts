import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { POSTGRES_SUITES } from "../../scripts/suites/postgres.ts";
import { ALWAYS_ON_POSTGRES, isOnCeph, onPostgres, onSqlite, THIRDS } from "../../scripts/suites/thirds.ts";

const ROOT = join(import.meta.dir, "../..");
const FILES = [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync(ROOT)].sort();
const ON_BOTH = FILES.filter((file) => POSTGRES_SUITES.some((place) => file.startsWith(place)));
const day = (third: number, ...changed: string[]) => ({ isTurn: (n: number) => n % 3 === third, changed });
const DAYS = [0, 1, 2].map((third) => day(third));

test("within three days every file is run, on SQLite and on PostgreSQL, and Ceph is asked", () => {
  expect(new Set(DAYS.flatMap((today) => onSqlite(FILES, today)))).toEqual(new Set(FILES));
  expect(new Set(DAYS.flatMap((today) => onPostgres(ON_BOTH, today)))).toEqual(new Set(ON_BOTH));
  expect(DAYS.map(isOnCeph)).toContain(true);
  for (const today of DAYS) {
    expect(onSqlite(FILES, today).length).toBeLessThan(FILES.length);
    expect(onPostgres(ON_BOTH, today)).toEqual(expect.arrayContaining([...ALWAYS_ON_POSTGRES]));
    expect(onPostgres(ON_BOTH, today).length).toBeLessThan(ON_BOTH.length / 2);
  }
});

test("a long run leaves nothing out", () => {
  const long = { isTurn: () => true, changed: [] };
  expect(onSqlite(FILES, long)).toEqual(FILES);
  expect(onPostgres(ON_BOTH, long)).toEqual(ON_BOTH);
  expect(isOnCeph(long)).toBe(true);
});

test("a change of a file's subject, of the file or of what it shares with its neighbours has it run at once", () => {
  const pool = "test/render/pool.test.ts";
  expect(onSqlite(FILES, day(1))).not.toContain(pool);
  for (const path of ["src/render/pool-worker.ts", pool, "test/render/pixels.ts"])
    expect(onSqlite(FILES, day(1, path))).toContain(pool);
  expect(onPostgres(ON_BOTH, day(1, "db/schema.ts"))).toEqual(ON_BOTH);
  expect(onSqlite(FILES, day(1, "bun.lock"))).toEqual(FILES);
  expect(onPostgres(ON_BOTH, day(1, "bun.lock"))).toEqual(ON_BOTH);
  const keys = "test/http/keys.test.ts";
  for (const today of DAYS) expect(onPostgres(ON_BOTH, { ...today, changed: [keys] })).toContain(keys);
  for (const today of DAYS) expect(isOnCeph({ ...today, changed: ["src/blobs/bucket.ts"] })).toBe(true);
});

test("no file that is shared out by thirds does a third of its work by itself: the others would never be done", () => {
  const isDivided = (file: string) => readFileSync(join(ROOT, file), "utf8").includes("endurance.ts");
  expect(THIRDS.flatMap((third) => Object.keys(third)).filter(isDivided)).toEqual([]);
});

test("within three runs each part of an endurance run is done, once, and a long run does all of it", () => {
  const today = (given: string): number[] => {
    const script = `import { thirdOf } from "./test/endurance.ts"; console.log(thirdOf([...Array(12).keys()]).join());`;
    const env = { ...process.env, CARDPRESS_TEST_THIRD: given };
    const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { cwd: ROOT, env });
    return stdout.toString().trim().split(",").map(Number);
  };
  const all = Array.from({ length: 12 }, (_, n) => n);
  expect(["0", "1", "2"].flatMap(today).sort((a, b) => a - b)).toEqual(all);
  expect(today("3")).toEqual(today("0"));
  expect(today("all")).toEqual(all);
});

test("all files that are shared out are there, once, and so is what each is about", () => {
  const named = THIRDS.flatMap((third) => Object.keys(third));
  expect(new Set(named).size).toBe(named.length);
  for (const file of [...named, ...ALWAYS_ON_POSTGRES]) expect(FILES).toContain(file);
  for (const place of THIRDS.flatMap((third) => Object.values(third).flat())) {
    const found = [...new Bun.Glob(`${place}*`).scanSync({ cwd: ROOT, onlyFiles: true })];
    expect(found.length > 0 || existsSync(join(ROOT, place)) ? "" : place).toBe("");
  }
});
