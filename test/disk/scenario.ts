import { Database } from "bun:sqlite";
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { jsonLog } from "../../src/log.ts";
import { startServer } from "../../src/service/server.ts";
import {
  get,
  imageRequest,
  photoServer,
  post,
  TEST_CACHE_DIR,
  testAccount,
  testConfig,
  untilEnded,
} from "../harness.ts";

/** Writes until not one more byte fits. */
function fillDisk(path: string): void {
  const file = openSync(path, "w");
  for (let size = 1 << 20; size > 0; ) {
    let written = 0;
    try {
      written = writeSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOSPC") throw error;
    }
    if (written === 0) size >>= 1;
  }
  closeSync(file);
}

// Runs in a mount namespace of its own, where it may mount: a real service on a small real disk that gets
// full, and whose folders become read-only. Prints one JSON value, which the test checks.

const [dir = ""] = process.argv.slice(2);
const mount = (...args: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(["mount", ...args]);
  if (exitCode !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
};

mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", dir);
const data = join(dir, "data");
// The browser stays outside: it alone is larger than this disk.
mkdirSync(TEST_CACHE_DIR, { recursive: true });
mkdirSync(data);
symlinkSync(TEST_CACHE_DIR, join(data, "cache"));
const photos = photoServer();
const log: string[] = [];
const config = testConfig(data, {
  CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
  // The disk shall fill up to its last byte here.
  CARDPRESS_MIN_FREE_DISK_MB: "0",
});
const server = await startServer(
  config,
  jsonLog((line) => void log.push(line)),
);
const { liveKey } = await testAccount(server.service, { credits: 1_000 });
const address = server.config.baseUrl;

const create = async (key: string, photo: string) => {
  const request = imageRequest({
    player: { source_image_url: photos.url(photo) },
    style: { width: 512, height: 512 },
  });
  const response = await post(address, liveKey, request, { "Idempotency-Key": key });
  const body = (await response.json()) as {
    data: { image_id: string } | null;
    error: { code: string } | null;
  };
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    code: body.error?.code,
    id: body.data?.image_id,
  };
};
const ended = async (id: string | undefined) => (await untilEnded(address, liveKey, id ?? "")).status;
/** Everything that a half-done create could leave. */
const counts = () => {
  const db = new Database(join(data, "cardpress.db"), { readonly: true });
  const [row] = db
    .query(
      "SELECT (SELECT count(*) FROM images), (SELECT count(*) FROM idempotency_records), (SELECT count(*) FROM ledger_entries), (SELECT credits_held FROM accounts), (SELECT sum(requested) FROM usage_days)",
    )
    .values();
  db.close();
  return row;
};

const first = await create("first", "astronaut.png");
const firstEnd = await ended(first.id);

const filler = join(dir, "filler");
fillDisk(filler);
// The photo is there already and the log has a little room, so some are still accepted before the database is
// full.
const squeezed: (string | undefined)[] = [];
let refusedCreate = await create("full-0", "astronaut.png");
while (refusedCreate.status === 202) {
  squeezed.push(refusedCreate.id);
  refusedCreate = await create(`full-${squeezed.length}`, "astronaut.png");
}
const before = counts();
// Refused again by the database, then by the folder of photos.
const full = [
  refusedCreate,
  await create("again", "astronaut.png"),
  await create("new", "astronaut_dark.png"),
];
const fullRead = (await get(address, liveKey, `/v1/images/${first.id}`)).status;
const fullCounts = counts();
const fullLog = log.filter((line) => line.includes("request_failed"));
rmSync(filler);
const afterwards = await create(`full-${squeezed.length}`, "astronaut.png");
// What was accepted in the last moment waited for the disk instead of failing.
const squeezedEnds = await Promise.all(squeezed.map(ended));
const afterwardsEnd = await ended(afterwards.id);

mount("-t", "tmpfs", "-o", "ro", "tmpfs", join(data, "sources"));
const readOnly = await create("fourth", "camera.png");
const readOnlyLog = log.filter((line) => line.includes("request_failed")).at(-1);
Bun.spawnSync(["umount", join(data, "sources")]);
const writable = await create("fourth", "camera.png");
const writableEnd = await ended(writable.id);
const books = await audit(server.service.store, Date.now());
await server.stop();
await photos.stop();

// The same data on a disk that is read-only from the start.
const frozen = join(dir, "frozen");
mkdirSync(frozen);
mount("-t", "tmpfs", "tmpfs", frozen);
Bun.spawnSync(["cp", "-a", data, frozen]);
mount("-o", "remount,ro", frozen);
const refused = Bun.spawnSync([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
  env: {
    ...process.env,
    CARDPRESS_DATA_DIR: join(frozen, "data"),
    CARDPRESS_ALLOW_ROOT: "1",
    CARDPRESS_PORT: "0",
  },
});

process.stdout.write(
  JSON.stringify({
    first,
    firstEnd,
    squeezedEnds,
    before,
    full,
    fullRead,
    fullCounts,
    fullLog,
    afterwards,
    afterwardsEnd,
    readOnly,
    readOnlyLog,
    writable,
    writableEnd,
    books: books.ok,
    refusedAtStart: { exitCode: refused.exitCode, message: refused.stderr.toString() },
  }),
);
process.exit(0);
