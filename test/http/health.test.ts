import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, fstatSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { sql } from "drizzle-orm";
import { StorageUnavailable } from "../../src/core/storage-unavailable.ts";
import { httpAnswer } from "../../src/http/server.ts";
import { get, imageRequest, post, testAccount } from "../harness.ts";
import { send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

async function ready() {
  const response = await send(api, "/ready");
  return { status: response.status, checks: ((await response.json()) as { checks?: object }).checks };
}

const READY = {
  status: 200,
  checks: { database: true, renderer: true, disk: true, descriptors: true, accepting: true },
};
const NO_DISK = { status: 503, checks: { ...READY.checks, disk: false } };

for (const name of ["sources", "cutouts", "images"] as const) {
  test(`/ready is 503 while nothing can be written into ${name}, and 200 once it can`, async () => {
    const path = api.folder[name];
    renameSync(path, `${path}-away`);
    // Not even root may use a file as a folder.
    writeFileSync(path, "");
    expect(await ready()).toEqual(NO_DISK);
    rmSync(path);
    renameSync(`${path}-away`, path);
    expect(await ready()).toEqual(READY);
  });
}

test("a probe is logged when something is wrong, and not while all is well", async () => {
  const logged = () => api.lines.filter((line) => line.includes('"path":"/ready"')).length;
  const before = logged();
  await ready();
  expect(logged()).toBe(before);
  renameSync(api.dataDir, `${api.dataDir}-away`);
  await ready();
  renameSync(`${api.dataDir}-away`, api.dataDir);
  expect(logged()).toBe(before + 1);
});

test("/ready says that descriptors lack, while pages have their fonts and scripts, and is well after", async () => {
  // In a process of its own: this one's limit is far too high.
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { readiness } from "${import.meta.dir}/../../src/http/health.ts";
    import { KIT } from "${import.meta.dir}/../../src/web/kit.ts";
    const deps = {
      store: { problem: () => null, write: async () => {} },
      pool: { health: () => ({ takesWork: true }) },
      nodes: { aheadMs: () => 0 },
      folder: { root: "/" },
      blobs: { isWritable: async () => true },
      config: { minFreeDiskBytes: 0 },
      isDraining: () => false,
    };
    const opened = [];
    try { for (;;) opened.push(openSync("/dev/null", "r")); } catch {}
    const without = await readiness(deps);
    const url = new URL("http://cards.example.org/assets/inter.woff2");
    const font = await KIT.answer(new Request(url), url, {}).bytes().catch(() => []);
    for (const one of opened) closeSync(one);
    console.log(JSON.stringify({ without, font: font.length, after: await readiness(deps) }));`;
  const shell = ["sh", "-c", 'ulimit -n 128 && exec "$0" -e "$1"', process.execPath, script];
  const child = Bun.spawn(shell, { stdout: "pipe", stderr: "inherit" });
  const report = (await new Response(child.stdout).json()) as {
    without: object;
    font: number;
    after: object;
  };
  expect(report.without).toMatchObject({ descriptors: false, accepting: true });
  expect(report.after).toEqual(READY.checks);
  expect(report.font).toBeGreaterThan(10_000);
});

test("/ready is 503 while the data folder is moved away", async () => {
  renameSync(api.dataDir, `${api.dataDir}-away`);
  expect(await ready()).toEqual({ status: 503, checks: { ...READY.checks, database: false, disk: false } });
  renameSync(`${api.dataDir}-away`, api.dataDir);
  expect(await ready()).toEqual(READY);
});

test("/ready answers while another process has the database's write lock, and says no", async () => {
  const other = new Database(api.folder.database);
  other.run("BEGIN IMMEDIATE");
  const answers = await Promise.all([ready(), ready(), ready()]);
  other.run("COMMIT");
  other.close();
  const locked = { status: 503, checks: { ...READY.checks, database: false } };
  expect(answers).toEqual([locked, locked, locked]);
  expect(await ready()).toEqual(READY);
});

test("a database that is damaged or gone while the service runs is reported by /ready and the log, and answers are 503", async () => {
  const own = await testApi();
  try {
    const { liveKey } = await testAccount(own, { credits: 3 });
    const create = () =>
      post(own.baseUrl, liveKey, imageRequest({ player: { source_image_url: own.photo } }));
    expect((await create()).status).toBe(202);
    const unusable = { status: 503, checks: { ...READY.checks, database: false } };
    const state = async () => {
      const response = await send(own, "/ready");
      return { status: response.status, checks: ((await response.json()) as { checks?: object }).checks };
    };

    const { database } = own.folder;
    renameSync(database, `${database}-away`);
    const refused = await create();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await state()).toEqual(unusable);
    expect(own.lines.join("\n")).toContain("is not the file any more");
    renameSync(`${database}-away`, database);
    expect(await state()).toEqual(READY);

    // Every page but the first is overwritten, as by a disk that lost them, and no page is in memory any
    // more.
    await own.store.maintain();
    const file = openSync(database, "r+");
    const pages = Buffer.alloc(fstatSync(file).size - 4096, 0xee);
    writeSync(file, pages, 0, pages.length, 4096);
    closeSync(file);
    own.store.read.db.run(sql.raw("PRAGMA shrink_memory"));
    const list = await get(own.baseUrl, liveKey, "/v1/images");
    expect([list.status, list.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await state()).toEqual(unusable);
    expect(own.lines.join("\n")).toContain("is damaged: database disk image is malformed");
  } finally {
    await own.close().catch(() => {});
  }
});

test("while the shared state is out of reach, what needs no key is answered, and calls with one are 503", async () => {
  const { liveKey } = await testAccount(api);
  const gone = () => Promise.reject(new StorageUnavailable(new Error("the connection was lost")));
  const limiter = { ...api.limiter, take: gone, look: gone };
  const answer = httpAnswer({ ...api, limiter, isDraining: () => false });
  const ask = (path: string, headers = {}) =>
    answer(new Request(api.baseUrl + path, { headers }), "192.0.2.1");
  expect((await ask("/live")).status).toBe(200);
  expect((await ask("/docs")).status).toBe(200);
  const unknown = await ask("/cdn/none.png");
  expect([unknown.status, unknown.headers.get("x-ratelimit-limit")]).toEqual([404, "60"]);
  const refused = await ask("/v1/images", { "X-API-Key": liveKey });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
});
