import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { unpackTar } from "modern-tar";
import { Webhook } from "standardwebhooks";
import type { Clock } from "../../src/core/ports.ts";
import { systemClock } from "../../src/system/clock-file.ts";
import { get, type TestFolder, testFolder } from "../harness.ts";

const FIXTURES = join(import.meta.dir, "../fixtures/upgrade");

/** What fixtures/upgrade/data-VERSION.json says of the folder beside it. */
export interface Facts {
  killed_at: string;
  password: string;
  people: { operator: string; owner: string; invited: string };
  account: string;
  live_key: string;
  test_key: string;
  revoked_key: string;
  /** The one that was replaced, and its successor. */
  webhook_secrets: [string, string];
  images: { finished: string[]; failed: string[]; unfinished: string; tested: string; test_failed: string };
  first_request: {
    idempotency_key: string;
    body: { player: { source_image_url: string } };
  };
}

export interface Released {
  facts: Facts;
  folder: TestFolder;
  /** Every file as that release left it, by its path in the folder. */
  files: Map<string, Uint8Array<ArrayBuffer>>;
}

/** A data folder as that release wrote it. */
export async function releasedFolder(version: string): Promise<Released> {
  const folder = testFolder();
  const archive = await Bun.file(join(FIXTURES, `data-${version}.tar.zst`)).bytes();
  const entries = await unpackTar(Bun.zstdDecompressSync(archive));
  const files = new Map(
    entries.flatMap(({ header, data }) => (data ? [[header.name, new Uint8Array(data)] as const] : [])),
  );
  await unpack(files, folder.dir);
  return { facts: await Bun.file(join(FIXTURES, `data-${version}.json`)).json(), folder, files };
}

export async function unpack(files: Released["files"], dir: string): Promise<void> {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    await Bun.write(join(dir, name), bytes);
  }
}

/** Runs on from a minute after the release was killed: its pictures are served for 30 days. */
export function clockAfter({ killed_at }: Facts): Clock {
  const afterwards = Date.parse(killed_at) + 60_000;
  const startedAt = systemClock.elapsed();
  return { ...systemClock, now: () => afterwards + systemClock.elapsed() - startedAt };
}

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Takes every webhook. */
export function receiver() {
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      return new Response();
    },
  });
  return { url: `${server.url}hook`, received, stop: () => server.stop(true) };
}

/** The endpoints' machine of then is gone. Nothing else of the database is changed. */
export function sendHooksTo(database: string, url: string): void {
  const db = new Database(database);
  db.run("UPDATE webhook_endpoints SET url = ?", [url]);
  db.close();
}

/** Its time is that of the service's clock, so the signature alone is verified. */
export function isSignedWith(secret: string, call: Received | undefined): boolean {
  const id = call?.headers["webhook-id"] ?? "";
  const at = new Date(Number(call?.headers["webhook-timestamp"]) * 1000);
  const signature = new Webhook(secret).sign(id, at, call?.body ?? "");
  return call?.headers["webhook-signature"]?.split(" ").includes(signature) ?? false;
}

/** As a browser does it; resolves to the session's cookie. */
export async function signInByForm(baseUrl: string, email: string, password: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/console/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: baseUrl },
    body: new URLSearchParams({ email, password }),
  });
  if (answer.status !== 303) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

/** The image once it has ended, asked for no faster than the account of the release may. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a client in any language would.
export async function untilEnded(baseUrl: string, key: string, imageId: string): Promise<any> {
  for (;;) {
    const { data } = await (await get(baseUrl, key, `/v1/images/${imageId}`)).json();
    if (data.status !== "processing") return data;
    await Bun.sleep(500);
  }
}
