import { afterEach, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openJobs } from "../../../src/jobs/open-jobs.ts";
import { freePort } from "../../../src/service/free-port.ts";
import { openPostgresStore } from "../../../src/store/engine/postgres.ts";
import { ENGINE, openTestPostgresStore, postgresUrl } from "../../postgres.ts";

const PGBOUNCER = Bun.which("pgbouncer", { PATH: `${process.env.PATH}:/usr/sbin` });
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** PgBouncer before the server of this database; resolves to the database's address through it. */
async function poolerBefore(url: URL, settings: string[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "cardpress-pooler-"));
  await chmod(dir, 0o755);
  const port = await freePort("127.0.0.1");
  const file = join(dir, "pgbouncer.ini");
  const lines = [
    `[databases]\n* = host=${url.hostname} port=${url.port} user=${url.username}\n[pgbouncer]`,
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = any\nunix_socket_dir =`,
    ...settings,
  ];
  await Bun.write(file, `${lines.join("\n")}\n`);
  // It refuses to run as root.
  const asUser =
    process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const pooler = Bun.spawn([...asUser, PGBOUNCER ?? "", file], { stdio: ["ignore", "ignore", "pipe"] });
  ending.push(() => rm(dir, { recursive: true }));
  ending.push(() => {
    pooler.kill("SIGKILL");
    return pooler.exited;
  });
  let said = "";
  for await (const chunk of pooler.stderr) {
    said += new TextDecoder().decode(chunk);
    if (said.includes("process up")) break;
  }
  return `postgres://${url.username}@127.0.0.1:${port}${url.pathname}`;
}

describe.skipIf(ENGINE !== "postgres" || !PGBOUNCER)("through PgBouncer", () => {
  test.each([
    ["by session", ["pool_mode = session"]],
    ["by transaction", ["pool_mode = transaction"]],
    [
      "by transaction, set to pass by what it does not know",
      [
        "pool_mode = transaction",
        "ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, default_transaction_read_only",
      ],
    ],
  ])("%s all goes on as without: reads, writes, limits, the queue", async (_, settings) => {
    const name = `pooler ${crypto.randomUUID()}`;
    await (await openTestPostgresStore(name)).close();
    const url = await poolerBefore(new URL(postgresUrl(name)), settings);
    const store = await openPostgresStore({ url });
    ending.push(store.close);
    const jobs = await openJobs(store, { warn: () => {} });
    ending.push(jobs.close);
    const timeout = "SELECT current_setting('statement_timeout') AS ms";
    const asked = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        await store.read.db.select().from(store.read.t.accounts);
        const work = { concurrent: at % 2 === 0 };
        const written = await store.write(
          "test",
          (tx) => tx.rawQuery?.(timeout, []) ?? Promise.resolve([]),
          work,
        );
        return [written, await store.rawQuery(`${timeout} WHERE $1::int = 1`, [1])];
      }),
    );
    for (const answers of asked) expect(answers).toEqual([[{ ms: "8s" }], [{ ms: "8s" }]]);
    await expect(store.read.rawQuery?.("DELETE FROM accounts", [])).rejects.toThrow(/read-only/);
    expect(await store.rawQuery("DELETE FROM accounts WHERE id = $1", ["none"])).toEqual([]);
    expect(await store.erase({ maxBytes: 0 })).toBe(true);
    await jobs.supervise?.();
  });
});
