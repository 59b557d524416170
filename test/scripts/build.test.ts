import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/service/free-port.ts";
import { VERSION } from "../../src/version.ts";
import { type MailBox, mailBox } from "../app/mail/smtp-server.ts";
import { get, imageRequest, post, testFolder } from "../harness.ts";

const ROOT = join(import.meta.dir, "../..");
const PHOTO = join(ROOT, "test/photos/astronaut.png");

const folder = testFolder();
const FILE = join(folder.dir, "cardpress");
/** Where the file runs: a folder without anything of the sources. */
const elsewhere = join(folder.dir, "elsewhere");
let box: MailBox;

beforeAll(async () => {
  mkdirSync(elsewhere);
  box = await mailBox();
  await run([process.execPath, "scripts/build.ts", "--out", folder.dir], {}, ROOT);
});
afterAll(async () => {
  await box.close();
  await folder.remove();
});

/** Runs a command to its end and returns what it printed. */
async function run(command: string[], env: Record<string, string>, cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stderr: "pipe" });
  const [out, problem] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${problem}`);
  return out;
}

/**
 * Runs the rest of its arguments where nothing can be written but the folder $1, the system's own file
 * systems aside, as user and group 12345, whom no file of the system knows, without a home.
 */
const READ_ONLY = `set -e
data=$1; shift
mount --bind "$data" "$data"
for place in $(findmnt -rn -o TARGET | grep -vE "^/(proc|sys|dev)(/|$)"); do
  mount -o remount,bind,ro "$place"
done
mount -o remount,bind,rw "$data"
cd /
exec setpriv --reuid 12345 --regid 12345 --clear-groups --no-new-privs \\
  env -i PATH=/usr/bin:/bin CARDPRESS_DATA_DIR="$data" CARDPRESS_PORT="$PORT" CARDPRESS_RENDER_WORKERS=1 "$@"`;
const APART = ["unshare", "--mount", "--propagation", "private"];
const mayMount =
  Bun.which("setpriv") !== null &&
  Bun.which("unshare") !== null &&
  Bun.spawnSync([...APART, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stderr: "ignore" }).exitCode === 0;

/** The settings of a machine that has nothing: no PATH to find a tool by, no home, no cache. */
function bare(dataDir: string): Record<string, string> {
  return {
    PATH: "/nonexistent",
    HOME: elsewhere,
    CARDPRESS_DATA_DIR: dataDir,
    CARDPRESS_RENDER_WORKERS: "1",
    CARDPRESS_ALLOW_ROOT: "1",
    CARDPRESS_SMTP_URL: box.url,
    CARDPRESS_MAIL_FROM: "cards@example.com",
  };
}

/** Runs one command of the file to its end, as JSON. */
async function command(dataDir: string, ...args: string[]) {
  const child = Bun.spawn([FILE, ...args, "--json"], { cwd: elsewhere, env: bare(dataDir), stderr: "pipe" });
  const [out, problem, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${problem || out}`);
  return JSON.parse(out);
}

/** `serve` from the file, once it is ready to make cards. */
async function serve(dataDir: string) {
  const port = await freePort("127.0.0.1");
  const env = { ...bare(dataDir), CARDPRESS_PORT: String(port) };
  const child = Bun.spawn([FILE, "serve"], { cwd: elsewhere, env, stdout: "ignore", stderr: "ignore" });
  const baseUrl = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${baseUrl}/ready`).catch(() => null))?.ok) await Bun.sleep(50);
  const stop = async () => {
    child.kill("SIGTERM");
    return child.exited;
  };
  return { baseUrl, stop };
}

/** Polls no faster than a partner may, until the image has ended. */
async function ended(baseUrl: string, key: string, id: string) {
  for (;;) {
    const body = (await (await get(baseUrl, key, `/v1/images/${id}`)).json()) as {
      data: { status: string; result: { image_url: string } };
    };
    if (body.data.status !== "processing") return body.data;
    await Bun.sleep(750);
  }
}

test("the program in one file makes the same card as its sources, byte for byte, without them", async () => {
  const player = { name: "Ana", position: "GK", number: 1, skill_level: 70 };
  const input = join(folder.dir, "card.json");
  await Bun.write(input, JSON.stringify({ player, style: { width: 512, height: 512 } }));
  const card = async (program: string[], name: string, from: string) => {
    const out = join(folder.dir, `${name}.png`);
    const data = join(folder.dir, name);
    mkdirSync(data);
    const args = ["render", "--input", input, "--photo", PHOTO, "--out", out];
    await run([...program, ...args], { CARDPRESS_DATA_DIR: data }, from);
    return Bun.file(out).bytes();
  };
  const fromSources = await card([process.execPath, join(ROOT, "src/main.ts")], "sources", ROOT);
  const fromFile = await card([FILE], "file", elsewhere);
  expect(fromFile.length).toBeGreaterThan(10_000);
  expect(Buffer.compare(fromFile, fromSources)).toBe(0);
});

test("the file alone serves a partner: account, key, card, pages, mail, backup, and the restored service", async () => {
  const data = join(folder.dir, "service");
  mkdirSync(data);
  const first = await serve(data);
  const { account_id: account } = await command(
    data,
    "account",
    "create",
    "--name",
    "Rovers",
    "--tier",
    "starter",
    "--credits",
    "5",
  );
  const { key } = await command(data, "key", "create", "--account", account, "--environment", "live");
  const photo = `${first.baseUrl}/docs/samples/player.png`;
  const accepted = await post(first.baseUrl, key, imageRequest({ player: { source_image_url: photo } }));
  expect(accepted.status).toBe(202);
  const { data: image } = (await accepted.json()) as { data: { image_id: string } };
  const card = await ended(first.baseUrl, key, image.image_id);
  expect(card).toMatchObject({ status: "completed" });
  const address = card.result.image_url;
  const picture = await (await fetch(address)).bytes();
  expect(Buffer.from(picture.subarray(1, 4)).toString()).toBe("PNG");
  for (const page of ["/console/sign-in", "/docs", "/docs/quickstart", "/docs/openapi.json", "/llms.txt"])
    expect({ page, status: (await fetch(first.baseUrl + page)).status }).toEqual({ page, status: 200 });
  // Carried along: nothing here could pack them.
  for (const name of [
    `cardpress-card-${VERSION}.tgz`,
    `cardpress-client-${VERSION}.tgz`,
    `cardpress-client-php-${VERSION}.zip`,
    "packages.json",
  ]) {
    const client = await fetch(`${first.baseUrl}/docs/clients/${name}`);
    expect({ name, status: client.status }).toEqual({ name, status: 200 });
    expect((await client.bytes()).length).toBeGreaterThan(300);
  }

  await command(data, "user", "create", "--account", account, "--email", "ana@rovers.example");
  while (box.received.length === 0) await Bun.sleep(25);
  const archive = join(folder.dir, "backup.tar");
  await command(data, "backup", "--to", archive);
  expect(await first.stop()).toBe(0);

  const restored = join(folder.dir, "restored");
  await command(restored, "restore", "--from", archive);
  // What the first service unpacked from the file is good for any.
  rmSync(join(restored, "cache"), { recursive: true });
  symlinkSync(join(data, "cache"), join(restored, "cache"));
  const second = await serve(restored);
  const again = await (await get(second.baseUrl, key, `/v1/images/${image.image_id}`)).json();
  expect(again).toMatchObject({ data: { status: "completed" } });
  const kept = await fetch(second.baseUrl + new URL(address).pathname);
  expect(Buffer.compare(await kept.bytes(), picture)).toBe(0);
  expect(await second.stop()).toBe(0);
});

test.skipIf(!mayMount)(
  "the file makes its card with its data folder alone to write to, as a user whom the system does not know",
  async () => {
    // Others may pass through, as through the folders of a system.
    chmodSync(folder.dir, 0o755);
    const data = join(folder.dir, "writable");
    mkdirSync(data);
    chownSync(data, 12345, 12345);
    const env = { PORT: String(await freePort("127.0.0.1")) };
    const out = await run([...APART, "sh", "-c", READ_ONLY, "sh", data, FILE, "demo", "--once"], env, "/");
    expect(out).toContain("fetch the picture and check it");
    const [picture = ""] = [...new Bun.Glob("images/**/*.png").scanSync(data)];
    expect((await Bun.file(join(data, picture)).bytes()).length).toBeGreaterThan(10_000);
    // Nothing was left beside it that would grow.
    expect([...new Bun.Glob("**/*").scanSync({ cwd: join(data, "scratch"), dot: true })]).toEqual([]);
  },
);
