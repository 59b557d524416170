import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createTarPacker, packTar, type TarEntry, unpackTar } from "modern-tar";
import { migrations } from "../../../../db/migrations/sqlite/index.ts";
import { audit } from "../../../../src/app/operations/audit/audit.ts";
import { type BackupReport, makeBackup, type Step } from "../../../../src/app/operations/backup/backup.ts";
import { SUMS } from "../../../../src/app/operations/backup/backup-archive.ts";
import { restoreBackup } from "../../../../src/app/operations/backup/restore.ts";
import { createEndpoint } from "../../../../src/app/webhooks/manage-webhooks.ts";
import { blobPath } from "../../../../src/blobs/folder-blobs.ts";
import { OperatorError } from "../../../../src/core/errors.ts";
import { DAY_MS } from "../../../../src/core/time.ts";
import { openWorkspace } from "../../../../src/service/workspace.ts";
import { appliedMigrations, openAsIs, picturesOf } from "../../../../src/store/engine/snapshot.ts";
import { openDataFolder } from "../../../../src/system/data-folder.ts";
import { lockFile } from "../../../../src/system/file-lock.ts";
import {
  fakeClock,
  silentLog,
  TEST_CACHE_DIR,
  type TestFolder,
  type TestWorkspace,
  testAccount,
  testConfig,
  testFolder,
  testServer,
  testWorkspace,
  untilEnded,
} from "../../../harness.ts";
import { acceptLive } from "../../accepting.ts";
import { acceptWithPhoto, finishNext } from "../stocked.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const signal = new AbortController().signal;
const quiet: Step = (_title, work) => work(() => {});

function folder(): TestFolder {
  const made = testFolder();
  cleanups.push(made.remove);
  return made;
}

/** A data folder with one finished and one unfinished live image, on a clock that stands at the real time. */
async function stocked() {
  const workspace = await testWorkspace({ clock: fakeClock(new Date().toISOString()) });
  cleanups.push(workspace.close);
  const { account, liveKey } = await testAccount(workspace);
  await acceptWithPhoto(workspace, account.id);
  const finished = await finishNext(workspace);
  const unfinished = await acceptWithPhoto(workspace, account.id);
  return { workspace, account, liveKey, finished, unfinished };
}

function backup(
  workspace: TestWorkspace,
  to: string,
  options: { step?: Step; withSecrets?: boolean } = {},
): Promise<BackupReport> {
  return makeBackup(workspace, { to, withSecrets: true, signal, step: quiet, ...options });
}

const restore = (from: string, dataDir: string) => restoreBackup({ from, dataDir, signal, step: quiet });

test("a restored folder serves the same bytes, finishes what was unfinished and reads its webhook secrets", async () => {
  const { workspace, account, liveKey, finished, unfinished } = await stocked();
  const hook = { accountId: account.id, environment: "live" as const, url: "http://127.0.0.1:1/" };
  const config = testConfig(workspace.folder.root, {
    CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:1",
  });
  const { endpoint } = await createEndpoint({ ...workspace, config }, hook);
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"));
  expect(report).toMatchObject({
    secrets: true,
    counts: { accounts: 1, images: 2, unfinished: 1, pictures: 1 },
    missing: { count: 0 },
    broken_rules: [],
  });
  expect(await restore(report.file, join(dir, "new"))).toMatchObject({
    missing: { count: 0 },
    files: report.files,
  });

  const data = join(dir, "new");
  rmSync(join(data, "cache"), { recursive: true });
  symlinkSync(TEST_CACHE_DIR, join(data, "cache"));
  const scheduled = join(dir, "scheduled");
  const server = await testServer({ dataDir: data, env: { CARDPRESS_BACKUP_DIR: scheduled } });
  try {
    const served = await fetch(`${server.baseUrl}/cdn/${finished.name}`);
    expect(await served.text()).toBe(finished.bytes);
    expect(await untilEnded(server.baseUrl, liveKey, unfinished)).toMatchObject({ status: "completed" });
    const sealed = await server.service.store.read.db
      .select()
      .from(server.service.store.read.t.webhookEndpoints);
    expect(server.service.secrets.open(sealed[0]?.secret ?? "", endpoint.id)).toStartWith("whsec_");
    // The service makes its scheduled backup.
    while (!existsSync(scheduled) || !readdirSync(scheduled).some((name) => name.endsWith(".tar")))
      await Bun.sleep(25);
    expect(await audit(server.service.store, Date.now())).toMatchObject({ ok: true });
  } finally {
    await server.close();
  }
});

for (const suffix of [".tar.gz", ".tar.zst"]) {
  test(`a ${suffix} is restored like a plain tar, and other programs read it`, async () => {
    const { workspace } = await stocked();
    const { dir } = folder();
    const { file, files } = await backup(workspace, join(dir, `all${suffix}`));
    expect((await restore(file, join(dir, "new"))).files).toBe(files);
    mkdirSync(join(dir, "by-hand"));
    const byHand = Bun.spawnSync(
      ["sh", "-c", `tar -xf "${file}" -C by-hand && cd by-hand && sha256sum -c ${SUMS}`],
      { cwd: dir },
    );
    expect(byHand.stderr.toString()).toBe("");
    expect(byHand.stdout.toString().match(/: OK$/gm)).toHaveLength(files);
  });
}

/** A data folder whose test images share one placeholder. */
async function withPlaceholders(images: number) {
  const made = await stocked();
  const { workspace, account } = made;
  const placeholder = { name: "0001-club_card.png", bytes: "placeholder, ".repeat(200_000) };
  await workspace.blobs.put("placeholder", placeholder.name, placeholder.bytes);
  const finished: Awaited<ReturnType<typeof finishNext>>[] = [];
  for (let i = 0; i < images; i++) {
    await acceptLive(workspace, account.id, { environment: "test" });
    finished.push(await finishNext(workspace, placeholder));
  }
  return { ...made, placeholder, finished };
}

/** The file behind each name. */
const filesOf = (root: string, names: string[]) =>
  new Set(names.map((name) => statSync(blobPath(openDataFolder(root), "picture", name)).ino));

test("pictures that share a file are in the archive once, and share it again when restored", async () => {
  const { workspace, placeholder, finished } = await withPlaceholders(8);
  const names = finished.map(({ name }) => name);
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"));
  expect(report).toMatchObject({ counts: { pictures: 9 }, missing: { count: 0 }, broken_rules: [] });
  expect(report.bytes).toBeLessThan(2 * placeholder.bytes.length + 1024 ** 2);
  expect(await restore(report.file, join(dir, "new"))).toMatchObject({
    missing: { count: 0 },
    files: report.files,
  });
  expect(filesOf(join(dir, "new"), names).size).toBe(1);
  for (const name of names)
    expect(readFileSync(blobPath(openDataFolder(join(dir, "new")), "picture", name), "utf8")).toBe(
      placeholder.bytes,
    );
  mkdirSync(join(dir, "by-hand"));
  const byHand = Bun.spawnSync(["sh", "-c", `tar -xf ../all.tar && sha256sum -c ${SUMS}`], {
    cwd: join(dir, "by-hand"),
  });
  expect(byHand.stdout.toString().match(/: OK$/gm)).toHaveLength(report.files);
  expect(filesOf(join(dir, "by-hand"), names).size).toBe(1);
});

test("a shared file whose first name expires during the backup is stored again", async () => {
  const { workspace, placeholder, finished } = await withPlaceholders(3);
  const path = (name: string) => blobPath(workspace.folder, "picture", name);
  const client = openAsIs(workspace.folder.database);
  const inOrder = [...picturesOf(client, workspace.clock.now())].map(({ name }) => name);
  client.close();
  const shared = inOrder.filter((name) => finished.some((picture) => picture.name === name));
  // The photo is written first, then the pictures.
  let written = -1;
  const step: Step = (_title, work) =>
    work(() => {
      if (inOrder[written++] === shared[0]) rmSync(path(shared[0] ?? ""), { force: true });
    });
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"), { step });
  expect(existsSync(path(shared[0] ?? ""))).toBe(false);
  expect(report.missing.count).toBe(0);
  expect(report.bytes).toBeGreaterThan(2 * placeholder.bytes.length);
  await restore(report.file, join(dir, "new"));
  const [first = 0, ...later] = shared.map((name) => [...filesOf(join(dir, "new"), [name])][0] ?? 0);
  expect(later).toEqual([later[0] ?? 0, later[0] ?? 0]);
  expect(first).not.toBe(later[0] ?? 0);
});

test("an archive of the first format, which stores each picture by itself, is restored", async () => {
  const { workspace, placeholder, finished } = await withPlaceholders(3);
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"));
  const bytes = new Map<string, Uint8Array>();
  const entries = await unpackTar(readFileSync(report.file));
  const before: TarEntry[] = entries.map(({ header: { name, linkname, type }, data = new Uint8Array() }) => {
    let body = type === "link" ? (bytes.get(linkname ?? "") ?? data) : data;
    if (name === "manifest.json")
      body = Buffer.from(Buffer.from(data).toString().replace('"format_version": 2', '"format_version": 1'));
    if (name === SUMS) {
      const lines = [...bytes].map(([file, content]) => `${Bun.SHA256.hash(content, "hex")}  ${file}\n`);
      body = Buffer.from(lines.join(""));
    }
    bytes.set(name, body);
    return { header: { name, size: body.length, mode: 0o600 }, body };
  });
  await Bun.write(join(dir, "old.tar"), await packTar(before));
  await restore(join(dir, "old.tar"), join(dir, "new"));
  const restored = openDataFolder(join(dir, "new"));
  for (const { name } of finished)
    expect(readFileSync(blobPath(restored, "picture", name), "utf8")).toBe(placeholder.bytes);
});

test("a picture that expires while the backup is written is named and stops nothing; one that is gone or damaged too", async () => {
  const { workspace, account, finished } = await stocked();
  await finishNext(workspace);
  await acceptWithPhoto(workspace, account.id);
  const damaged = await finishNext(workspace);
  const path = (name: string) => blobPath(workspace.folder, "picture", name);
  const step: Step = (title, work) => {
    if (title === "write the archive") {
      // The database has been copied, and now the sweep comes along.
      rmSync(path(finished.name));
      writeFileSync(path(damaged.name), "half");
      workspace.clock.advance(31 * DAY_MS);
    }
    return work(() => {});
  };
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"), { step });
  expect(report.missing.files.map(({ file, because }) => [file.split("/").at(-1), because])).toEqual([
    [finished.name, "expired"],
    [damaged.name, "damaged"],
  ]);
  expect(await restore(report.file, join(dir, "new"))).toMatchObject({
    missing: { count: 1, files: [finished.name] },
  });
});

test("templates of the operator's own come with the backup, hidden files and folders behind links do not", async () => {
  const { dir } = folder();
  const templates = join(dir, "templates");
  mkdirSync(join(templates, "club_card/fonts"), { recursive: true });
  mkdirSync(join(templates, ".git"));
  writeFileSync(join(templates, "club_card/card.css"), "css");
  writeFileSync(join(templates, "club_card/fonts/A b.woff2"), "font");
  writeFileSync(join(templates, ".git/config"), "secret");
  symlinkSync("/etc", join(templates, "etc"));
  const data = folder().dir;
  const config = testConfig(data, { CARDPRESS_TEMPLATES_DIR: templates });
  const workspace = await openWorkspace(config, silentLog);
  cleanups.push(workspace.store.close);
  const report = await makeBackup(workspace, {
    to: join(dir, "all.tar"),
    withSecrets: false,
    signal,
    step: quiet,
  });
  expect(report).toMatchObject({ templates: true, secrets: false });
  const restored = await restore(report.file, join(dir, "new"));
  expect(restored).toMatchObject({ templates_dir: join(dir, "new/templates"), secrets: false });
  expect(readdirSync(join(dir, "new/templates"), { recursive: true }).sort()).toEqual([
    "club_card",
    "club_card/card.css",
    "club_card/fonts",
    "club_card/fonts/A b.woff2",
  ]);
  expect(existsSync(join(dir, "new/secret.key"))).toBe(false);
});

test("nothing is overwritten, two backups are not made at once, and a failed one leaves nothing behind", async () => {
  const { workspace } = await stocked();
  const { dir } = folder();
  const to = join(dir, "all.tar");
  let other: unknown;
  await backup(workspace, to, {
    step: async (title, work) => {
      if (title === "write the archive")
        other = await backup(workspace, join(dir, "other.tar")).catch((e) => e);
      return work(() => {});
    },
  });
  expect(String(other)).toContain("Another backup");
  const bytes = readFileSync(to);
  await expect(backup(workspace, to)).rejects.toThrow("is there already");
  await expect(backup(workspace, join(dir, "all.zip"))).rejects.toThrow(".tar.zst");
  await expect(backup(workspace, join(dir, "nowhere/all.tar"))).rejects.toThrow("Make it first");
  expect(readFileSync(to)).toEqual(bytes);
  // Folders stand where files should: as on a disk that takes no writes, also for root.
  mkdirSync(join(dir, "stuck.tar.partial"));
  await expect(backup(workspace, join(dir, "stuck.tar"))).rejects.toThrow("stuck.tar cannot be made");
  await rm(join(dir, "stuck.tar.partial"), { recursive: true });
  const lock = join(workspace.folder.backups, "backup.lock");
  await rm(lock);
  mkdirSync(lock);
  await expect(backup(workspace, join(dir, "unlocked.tar"))).rejects.toThrow("cannot be written");
  await rm(lock, { recursive: true });
  expect(statSync(to).mode & 0o777).toBe(0o600);

  const stop = new AbortController();
  const step: Step = (title, work) => {
    if (title === "write the archive") stop.abort(new Error("stopped"));
    return work(() => {});
  };
  const stopped = makeBackup(workspace, {
    to: join(dir, "b.tar"),
    withSecrets: true,
    signal: stop.signal,
    step,
  });
  await expect(stopped).rejects.toThrow("stopped");
  expect(readdirSync(dir).sort()).toEqual(["all.tar", "cache"]);
  expect(existsSync(join(workspace.folder.backups, "underway"))).toBe(false);
});

test("a database of an earlier version is backed up as it is, and restored into this one's schema", async () => {
  const known = [...migrations];
  const { workspace } = await stocked();
  // This program writes no database older than itself, so one is put together from all migrations but the
  // newest.
  for (const end of ["", "-wal", "-shm"]) rmSync(workspace.folder.database + end, { force: true });
  const db = new Database(workspace.folder.database);
  db.run("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT");
  for (const { name, sql } of known.slice(0, -1)) {
    for (const statement of sql.split("--> statement-breakpoint")) db.run(statement);
    db.query("INSERT INTO schema_migrations VALUES (?, 0)").run(name);
  }
  db.close();
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"));
  const schemaOf = (database: string) => {
    const client = openAsIs(database);
    const applied = appliedMigrations(client);
    client.close();
    return applied.at(-1);
  };
  expect([report.schema, schemaOf(workspace.folder.database)]).toEqual([
    known.at(-2)?.name,
    known.at(-2)?.name,
  ]);
  await restore(report.file, join(dir, "new"));
  expect(schemaOf(join(dir, "new/cardpress.db"))).toBe(known.at(-1)?.name);
});

test("books that are broken are backed up and reported, and not restored", async () => {
  const { workspace } = await stocked();
  const db = new Database(workspace.folder.database);
  db.run("UPDATE accounts SET credits_plan = credits_plan + 1");
  db.close();
  const { dir } = folder();
  const report = await backup(workspace, join(dir, "all.tar"));
  expect(report.broken_rules).not.toEqual([]);
  await expect(restore(report.file, join(dir, "new"))).rejects.toThrow("does not hold");
  expect(readdirSync(dir).sort()).toEqual(["all.tar", "cache"]);
});

test("a data folder that is in use is not restored into, an empty one and a link to one are", async () => {
  const { workspace } = await stocked();
  const { dir } = folder();
  const { file } = await backup(workspace, join(dir, "all.tar"));
  await expect(restore(file, workspace.folder.root)).rejects.toThrow("is not empty");
  expect(existsSync(workspace.folder.database)).toBe(true);
  mkdirSync(join(dir, "empty"));
  await restore(file, join(dir, "empty"));
  mkdirSync(join(dir, "disk"));
  symlinkSync("disk", join(dir, "data"));
  await restore(file, join(dir, "data"));
  for (const name of ["empty", "disk"]) {
    expect(
      readdirSync(join(dir, name))
        .filter((entry) => /\.key|\.db|restoring/.test(entry))
        .sort(),
    ).toEqual(["cardpress.db", "secret.key"]);
    expect(statSync(join(dir, name, "secret.key")).mode & 0o777).toBe(0o600);
  }
});

test("what killed restores left goes at the next one, and what another one fills stays", async () => {
  const { workspace } = await stocked();
  const { dir } = folder();
  const { file } = await backup(workspace, join(dir, "all.tar"));
  mkdirSync(join(dir, "disk"));
  symlinkSync("disk", join(dir, "data"));
  for (const beginning of ["new.", "disk/"])
    for (const left of ["killed", "filling"]) {
      mkdirSync(join(dir, `${beginning}restoring-${left}`));
      writeFileSync(join(dir, `${beginning}restoring-${left}`, "secret.key"), "key");
    }
  const lock = lockFile(join(dir, "new.restoring-filling.lock"));
  await restore(file, join(dir, "new"));
  lock?.release();
  expect(readdirSync(dir).filter((name) => /^new(?!.*lock)/.test(name))).toEqual([
    "new",
    "new.restoring-filling",
  ]);
  await restore(file, join(dir, "data"));
  expect(readdirSync(join(dir, "disk")).filter((name) => name.startsWith("restoring"))).toEqual([]);
});

test("what a killed backup left goes at the next one, whatever that is called", async () => {
  const { workspace } = await stocked();
  const { dir } = folder();
  const scratch = join(workspace.folder.backups, "underway");
  const killed = join(dir, "killed.tar.partial");
  const step: Step = async (title, work) => {
    const done = await work(() => {});
    // As it lies there when the process is killed.
    if (title === "write the archive") cpSync(scratch, join(dir, "as-killed"), { recursive: true });
    return done;
  };
  await backup(workspace, join(dir, "killed.tar"), { step });
  cpSync(join(dir, "as-killed"), scratch, { recursive: true });
  writeFileSync(killed, "half an archive");
  await backup(workspace, join(dir, "next.tar"));
  expect(existsSync(killed)).toBe(false);
  expect(existsSync(scratch)).toBe(false);
});

test("an archive that is cut off, damaged anywhere or none of ours is refused and leaves nothing behind", async () => {
  const { workspace } = await stocked();
  const { dir } = folder();
  const { file } = await backup(workspace, join(dir, "all.tar"));
  const bytes = readFileSync(file);
  const refused = async (content: Uint8Array) => {
    writeFileSync(join(dir, "bad.tar"), content);
    const error = await restore(join(dir, "bad.tar"), join(dir, "new")).catch((reason) => reason);
    expect(error).toBeInstanceOf(OperatorError);
    expect(readdirSync(dir).sort()).toEqual(["all.tar", "bad.tar", "cache"]);
    return error.message as string;
  };
  for (const part of [0, 0.01, 0.5, 0.99, 1 - 600 / bytes.length])
    await refused(bytes.subarray(0, bytes.length * part));
  const flipped = (at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  // In the database, in the photo, in the sums, in a header.
  for (const mark of ["SQLite format 3", "IHDR", "  manifest.json", "secret.key"])
    await refused(flipped(bytes.indexOf(mark) + 3));
  expect(await refused(flipped(bytes.indexOf("IHDR") + 30))).toContain('"sources/');
  expect(await refused(Buffer.concat([bytes, bytes]))).toContain("damaged");
  expect(await refused(await packTar([{ header: { name: "card.html", size: 1 }, body: "x" }]))).toContain(
    "is not a cardpress backup",
  );
  await expect(restore(join(dir, "nowhere.tar"), join(dir, "new"))).rejects.toThrow("cannot be read");
});

test("names that lead elsewhere, links, bombs, strays and newer formats are refused before a byte of them is written", async () => {
  const { dir } = folder();
  const manifest = (change = {}) => ({
    format: "cardpress-backup",
    format_version: 2,
    cardpress: "9.9.9",
    schema: "0000_start",
    created_at: "2026-11-15T12:00:00.000Z",
    secrets: false,
    templates: true,
    counts: { accounts: 0, images: 0, unfinished: 0, ledger_entries: 0, pictures: 0 },
    files: 3,
    ...change,
  });
  const file = (name: string, body = ""): TarEntry => ({
    header: { name, size: Buffer.byteLength(body) },
    body,
  });
  const first = (change = {}) => file("manifest.json", JSON.stringify(manifest(change)));
  const refused = async (content: Uint8Array) => {
    writeFileSync(join(dir, "evil.tar"), content);
    const error = await restore(join(dir, "evil.tar"), join(dir, "new")).catch((reason) => reason);
    expect(error).toBeInstanceOf(OperatorError);
    expect(readdirSync(dir).sort()).toEqual(["cache", "evil.tar"]);
    return error.message as string;
  };
  const names = [
    "../../evil",
    "/etc/evil",
    "templates/../../evil",
    "templates/..",
    "images/aa/../../x.png",
    "templates/.x/y",
    "templates/a\\b",
    "server.lock",
    "SHA256SUMS/x",
    "templates//x",
  ];
  for (const name of names)
    expect([name, await refused(await packTar([first(), file(name, "x")]))]).toEqual([
      name,
      expect.stringContaining("belongs into no data folder"),
    ]);
  const link = { name: "templates/x", size: 0, linkname: "/etc/passwd" };
  for (const type of ["symlink", "link", "fifo", "directory"] as const)
    expect(await refused(await packTar([first(), { header: { ...link, type } }]))).toContain(`is a ${type}`);
  const picture = (part: string) => `images/aa/img_${part}-aa.png`;
  const linked = (name: string, linkname: string): TarEntry => ({
    header: { name, size: 0, linkname, type: "link" },
  });
  // A link to what comes later or is no picture, and a picture that is a link to the key.
  expect(
    await refused(await packTar([first(), linked(picture("1"), picture("2")), file(picture("2"))])),
  ).toContain("is a link");
  for (const [name, to] of [
    ["templates/x", picture("1")],
    [picture("1"), "secret.key"],
  ] as const)
    expect(await refused(await packTar([first(), file(to, "1"), linked(name, to)]))).toContain(
      "as a link to",
    );
  expect(
    await refused(await packTar([first(), file("templates/x", "1"), file("templates/x", "2")])),
  ).toContain("twice");
  expect(
    await refused(await packTar([first({ files: 2 }), file("templates/x"), file("templates/y")])),
  ).toContain("more files");
  expect(await refused(await packTar([first({ format_version: 4 }), file("templates/x")]))).toContain(
    "cardpress 9.9.9, which is newer",
  );
  expect(await refused(await packTar([first({ schema: "9999_later" }), file("templates/x")]))).toContain(
    "9999_later",
  );
  expect(await refused(await packTar([file("manifest.json", "{}"), file("templates/x")]))).toContain(
    "is not a cardpress backup",
  );
  expect(await refused(await packTar([first(), file("templates/x", "1")]))).toContain(`without ${SUMS}`);

  // A header that promises a petabyte is enough: nothing is read, let alone written.
  const { readable, controller } = createTarPacker();
  const manifestBytes = Buffer.from(JSON.stringify(manifest()));
  const writer = controller.add({ name: "manifest.json", size: manifestBytes.length }).getWriter();
  await writer.write(manifestBytes);
  await writer.close();
  controller.add({ name: "cardpress.db", size: 1e15 });
  const chunks: Uint8Array[] = [];
  const reader = readable.getReader();
  while (Buffer.concat(chunks).length < 2560) chunks.push((await reader.read()).value ?? new Uint8Array());
  expect(await refused(Buffer.concat(chunks))).toContain("no room");
});
