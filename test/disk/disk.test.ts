import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { OperatorError } from "../../src/core/errors.ts";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import { explainingNoRoom } from "../../src/system/no-room.ts";
import { imageRequest, post, testAccount, testConfig, testFolder } from "../harness.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** Whether this machine lets us mount in a namespace of our own; some systems forbid it to all but root. */
const canMount =
  Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stderr: "ignore" })
    .exitCode === 0;
if (!canMount)
  console.log("No user namespaces here: the tests with a full and a read-only disk are skipped.");

test("every commit is synced: the writer runs with synchronous=FULL on a write-ahead log", async () => {
  const folder = testFolder();
  const store = openSqliteStore(join(folder.dir, "x.db"));
  const pragma = (name: string) =>
    store.write("test", async ({ db }) => Object.values(db.get(sql.raw(`PRAGMA ${name}`)) as object)[0]);
  expect(await pragma("synchronous")).toBe(2);
  expect(await pragma("journal_mode")).toBe("wal");
  expect(await pragma("foreign_keys")).toBe(1);
  expect(await pragma("recursive_triggers")).toBe(1);
  await store.close();
  await folder.remove();
});

test.skipIf(!canMount)(
  "a full and a read-only disk give 503 and a clear log line, leave nothing half done, and heal",
  async () => {
    const folder = testFolder();
    const disk = join(folder.dir, "disk");
    mkdirSync(disk);
    const run = Bun.spawn(["unshare", "-rm", process.execPath, join(import.meta.dir, "scenario.ts"), disk], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const found = JSON.parse(await new Response(run.stdout).text());
    await folder.remove();
    expect(found).toMatchObject({ first: { status: 202 }, firstEnd: "completed" });
    expect(found.squeezedEnds.filter((state: string) => state !== "completed")).toEqual([]);
    for (const answer of [...found.full, found.readOnly]) {
      expect(answer).toMatchObject({
        status: 503,
        code: "SERVICE_OVERLOADED",
        retryAfter: expect.stringMatching(/^\d+$/),
      });
    }
    expect(found.fullRead).toBe(200);
    expect(found.fullCounts).toEqual(found.before);
    expect(found.fullLog.join("\n")).toContain("database or disk is full");
    expect(found.fullLog.join("\n")).toContain("ENOSPC");
    expect(found.readOnlyLog).toContain("EROFS");
    // The same requests with the same keys go through once there is room.
    expect(found).toMatchObject({
      afterwards: { status: 202 },
      afterwardsEnd: "completed",
      writable: { status: 202 },
      books: true,
    });
    expect(found.refusedAtStart).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("read-only"),
    });
  },
);

// Too little for the database's smaller files, for its tables, and for the browser.
test.skipIf(!canMount).each(["16k", "256k", "8m"])(
  "a first start on a disk of %s says which folder, what is free and what is needed",
  async (size) => {
    const folder = testFolder();
    const mounted = 'mount -t tmpfs -o "size=$0" tmpfs "$1"; shift; exec "$@"';
    const command = [
      "unshare",
      "-rm",
      "sh",
      "-c",
      mounted,
      size,
      folder.dir,
      process.execPath,
      MAIN,
      "serve",
    ];
    const env = { ...process.env, CARDPRESS_DATA_DIR: join(folder.dir, "data"), CARDPRESS_PORT: "0" };
    const { exitCode, stderr } = Bun.spawnSync(command, { env, stdout: "ignore" });
    await folder.remove();
    expect(exitCode).toBe(1);
    const said = stderr.toString().trim();
    expect(said).toContain(`no room left on the disk of the data folder ${folder.dir}/data: `);
    expect(said).toMatch(/ are free, and a first start needs 270\.0 MB.* Make room there/);
    expect(said.split("\n")).toHaveLength(1);
  },
);

test("what comes of a full disk is reported as that, and nothing else is", async () => {
  const failing = (error: Error, free: number) =>
    explainingNoRoom(
      "/nowhere/data",
      () => Promise.reject(error),
      async () => free,
    );
  const coded = (code: string, message = "no") => Object.assign(new Error(message), { code });
  const said = /data folder \/nowhere\/data: 2\.0 MB are free/;
  for (const code of ["ENOSPC", "EDQUOT", "SQLITE_FULL"]) {
    await expect(failing(coded(code), 2 << 20)).rejects.toThrow(said);
    const wrapped = new OperatorError("It cannot be written.", 1, { cause: coded(code) });
    await expect(failing(wrapped, 2 << 20)).rejects.toThrow(said);
  }
  // SQLite says the same of a disk that is failing.
  const vague = new OperatorError("It is damaged.", 1, { cause: coded("SQLITE_IOERR_SHMSIZE") });
  await expect(failing(vague, 4096)).rejects.toThrow("no room left");
  await expect(failing(vague, 2 << 20)).rejects.toBe(vague);
  const taken = new OperatorError("The port is taken.");
  await expect(failing(taken, 0)).rejects.toBe(taken);
});

test("a file that may not grow any more refuses creates with 503, and the books still add up", async () => {
  const folder = testFolder();
  const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
  const { testKey } = await testAccount(workspace, { credits: 1 });
  await workspace.store.close();
  // The limit of the kernel on file sizes (in KB here); with its signal ignored a write fails with EFBIG.
  const limited = `trap '' XFSZ; ulimit -f 1024; exec "$0" "$@"`;
  const server = Bun.spawn(["bash", "-c", limited, process.execPath, MAIN, "serve"], {
    env: {
      ...process.env,
      CARDPRESS_DATA_DIR: folder.dir,
      CARDPRESS_PORT: "0",
      CARDPRESS_RENDER_WORKERS: "1",
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const log: string[] = [];
  let address = "";
  const listening = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const chunk of server.stdout as unknown as AsyncIterable<Uint8Array>) {
      log.push(new TextDecoder().decode(chunk));
      address ||= /"address":"([^"]+)"/.exec(log.join(""))?.[1] ?? "";
      if (address) listening.resolve();
    }
  })();
  await listening.promise;
  let accepted = 0;
  let refused: Response | undefined;
  while (!refused) {
    const response = await post(address, testKey, imageRequest({ style: { width: 512, height: 512 } }));
    if (response.status === 202) accepted += 1;
    else refused = response;
  }
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  server.kill("SIGKILL");
  await reading;
  expect(log.join("")).toContain("request_failed");
  const store = openSqliteStore(join(folder.dir, "cardpress.db"), { verify: true });
  expect((await audit(store, Date.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
  const [row] = (await store.read.db.select({ n: sql<number>`count(*)` }).from(store.read.t.images)) as {
    n: number;
  }[];
  expect(row?.n).toBe(accepted);
  await store.close();
  await folder.remove();
});

test("a damaged database is refused at the start, with what to do, and is not written to", async () => {
  const folder = testFolder();
  const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
  for (let n = 0; n < 30; n++) await testAccount(workspace, { credits: 1 });
  await workspace.store.close();
  const file = join(folder.dir, "cardpress.db");
  const bytes = new Uint8Array(await Bun.file(file).arrayBuffer());
  // Every page but the first few is overwritten, as by a disk that lost them.
  bytes.fill(0xee, 4 * 4096);
  writeFileSync(file, bytes);
  const start = () =>
    Bun.spawnSync([process.execPath, MAIN, "serve"], {
      env: { ...process.env, CARDPRESS_DATA_DIR: folder.dir, CARDPRESS_PORT: "0" },
    });
  const { exitCode, stderr } = start();
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toContain("The database is damaged");
  expect(stderr.toString()).toContain("restore");
  expect(Buffer.compare(new Uint8Array(await Bun.file(file).arrayBuffer()), bytes)).toBe(0);
  writeFileSync(file, "this was a database once");
  expect(start().stderr.toString()).toContain("restore");
  expect(existsSync(file) && statSync(file).size).toBe(24);
  expect(readdirSync(join(folder.dir, "images"))).toEqual([]);
  await folder.remove();
});
