import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount, createKey } from "../src/app/people/manage-account.ts";
import type { OpenStore } from "../src/app/places.ts";
import { type Config, readConfig } from "../src/config.ts";
import type { CreateImageRequest } from "../src/core/image-request.ts";
import type { Clock, Log, Random } from "../src/core/ports.ts";
import type { Release } from "../src/release.ts";
import { createRenderPool } from "../src/render/pool.ts";
import { type RunningServer, startServer } from "../src/service/server.ts";
import { openWorkspace, type Workspace } from "../src/service/workspace.ts";
import { openSqliteStore } from "../src/store/engine/sqlite.ts";
import type { Account } from "../src/store/people/accounts.ts";
import { busyPool } from "./fakes.ts";
import { knownCutouts } from "./known-cutouts.ts";
import { ENGINE, openTestPostgres } from "./postgres.ts";

/** What takes longer has hung: on the slowest machine it is done long before. */
export const HUNG_MS = 600_000;

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  set(iso: string): void;
  advance(ms: number): void;
  /** Somebody sets the time of day; no time passes. */
  jump(ms: number): void;
}

export function fakeClock(iso = "2026-11-15T12:00:00.000Z"): FakeClock {
  let passed = 0;
  let set = Date.parse(iso);
  return {
    now: () => set + passed,
    elapsed: () => passed,
    set: (to) => {
      passed = Date.parse(to) - set;
    },
    advance: (ms) => {
      passed += ms;
    },
    jump: (ms) => {
      set += ms;
    },
  };
}

/** Ids that count up, and bytes from a small generator: the same at every run with the same seed. */
export function seededRandom(seed = 1): Random {
  let count = 0;
  let state = seed >>> 0 || 1;
  return {
    id: (prefix) => `${prefix}_${String(++count).padStart(24, "0")}`,
    bytes: (length) =>
      Uint8Array.from({ length }, () => {
        // xorshift32 (Marsaglia, 2003)
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state & 0xff;
      }),
  };
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** One browser unpacked for all tests of a machine. */
export const TEST_CACHE_DIR = join(tmpdir(), "cardpress-test-cache");

/**
 * A store on the engine that the tests run on, wherever a test opens one, and the clock that all of it goes
 * by.
 */
export const openTestStore = (clock?: Clock): OpenStore =>
  ENGINE === "postgres" ? openTestPostgres(clock) : openSqliteStore;

export interface TestFolder {
  dir: string;
  remove(): Promise<void>;
}

export function testFolder(parent = tmpdir()): TestFolder {
  const dir = mkdtempSync(join(parent, "cardpress-test-"));
  // The packaged browser is unpacked once for all tests, not once for each folder.
  mkdirSync(TEST_CACHE_DIR, { recursive: true });
  symlinkSync(TEST_CACHE_DIR, join(dir, "cache"));
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

export function testConfig(dataDir: string, env: Record<string, string> = {}): Config {
  return readConfig({
    CARDPRESS_DATA_DIR: dataDir,
    CARDPRESS_PORT: "0",
    CARDPRESS_RENDER_WORKERS: "1",
    CARDPRESS_ALLOW_ROOT: "1",
    ...env,
  });
}

/** Writes a template to `dir`/`name`: the built-in one under this name, with a changed style sheet. */
export async function ownTemplate(
  dir: string,
  name: string,
  change: (css: string) => string = (css) => css,
): Promise<void> {
  const place = join(dir, name);
  await cp(join(import.meta.dir, "../templates/club_card"), place, { recursive: true });
  const edit = async (file: string, by: (text: string) => string) =>
    Bun.write(join(place, file), by(await Bun.file(join(place, file)).text()));
  await edit("template.json", (json) => json.replace('"name": "club_card"', `"name": "${name}"`));
  await edit("card.css", change);
}

/**
 * Has a template of `ownTemplate` declare these compositions; none where it is left out, which means a
 * cutout.
 */
export async function declareCompositions(dir: string, name: string, own?: readonly string[]): Promise<void> {
  const file = join(dir, name, "template.json");
  const { compositions: _, ...manifest } = await Bun.file(file).json();
  await Bun.write(file, JSON.stringify({ ...manifest, ...(own && { compositions: own }) }, null, 2));
}

export interface TestWorkspace extends Workspace {
  clock: FakeClock;
  close(): Promise<void>;
}

/**
 * A real store in a temporary folder, with a clock that stands still and counted ids. No server, no browser.
 */
export async function testWorkspace(
  options: { clock?: FakeClock; parent?: string } = {},
): Promise<TestWorkspace> {
  const folder = testFolder(options.parent);
  const clock = options.clock ?? fakeClock();
  const workspace = await openWorkspace(testConfig(folder.dir), silentLog, {
    clock,
    random: seededRandom(),
    openStore: openTestStore(clock),
  });
  return {
    ...workspace,
    clock,
    close: async () => {
      await workspace.store.close();
      await folder.remove();
    },
  };
}

export interface TestAccount {
  account: Account;
  liveKey: string;
  testKey: string;
}

export async function testAccount(
  workspace: Pick<Workspace, "store" | "clock" | "random">,
  input: { name?: string; tier?: Account["tier"]; credits?: number } = {},
): Promise<TestAccount> {
  const { name = "Rovers", tier = "scale", credits = 100 } = input;
  const account = await createAccount(workspace, { name, tier, credits });
  const make = async (environment: "live" | "test") =>
    (await createKey(workspace, { accountId: account.id, environment, name: "test", by: null })).key;
  return { account, liveKey: await make("live"), testKey: await make("test") };
}

/**
 * A server of photos on this machine, as the outside world. Answers any path by its file name under
 * test/photos.
 */
export function photoServer() {
  const requests: string[] = [];
  const held = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const asked = new URL(request.url).pathname.slice(1);
      requests.push(asked);
      if (asked.startsWith("held-")) await held.promise;
      const name = asked.replace("held-", "");
      const file = Bun.file(join(import.meta.dir, "photos", name));
      return (await file.exists()) ? new Response(file) : new Response("no such photo", { status: 404 });
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const url = (name: string) => `${origin}/${name}`;
  /** Answers with photos whose names begin with `held-`, which wait until then. */
  const release = () => held.resolve();
  return { origin, requests, url, release, stop: () => server.stop(true) };
}

export interface TestServer extends RunningServer {
  baseUrl: string;
  photos: ReturnType<typeof photoServer>;
  close(): Promise<void>;
}

/**
 * The whole service on a free port in a temporary folder, with a photo server whose origin is allowed. The
 * real clock runs unless `clock` is given. Start one per test file: the first renderer needs seconds to be
 * warm.
 */
export async function testServer(
  options: {
    env?: Record<string, string>;
    clock?: Clock;
    dataDir?: string;
    /** False for tests that need no picture: no browser is started, and live images wait for ever. */
    renders?: boolean;
    /** True for tests of what is made of a player, not of how players are found in photos. */
    knowsPhotos?: boolean;
    release?: Release;
  } = {},
): Promise<TestServer> {
  const folder = testFolder();
  const photos = photoServer();
  const config = testConfig(options.dataDir ?? folder.dir, {
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
    ...options.env,
  });
  const cutouts = join(config.dataDir, "cutouts");
  const known = options.knowsPhotos && knownCutouts(TEST_CACHE_DIR);
  if (known) known.recall(cutouts);
  const server = await startServer(config, silentLog, {
    ...(options.clock && { clock: options.clock }),
    createPool: (given) =>
      options.renders === false
        ? busyPool
        : createRenderPool({ ...given, renderer: { ...given.renderer, warms: "pages" } }),
    ...(options.release && { release: options.release }),
    openStore: openTestStore(options.clock),
  });
  return {
    ...server,
    baseUrl: server.config.baseUrl,
    photos,
    close: async () => {
      await server.stop();
      if (known) known.keep(cutouts);
      await photos.stop();
      await folder.remove();
    },
  };
}

/** A valid body for POST /v1/images. */
export function imageRequest(
  change: {
    player?: Partial<CreateImageRequest["player"]>;
    style?: Partial<CreateImageRequest["style"]>;
  } & Partial<Pick<CreateImageRequest, "branding" | "metadata">> = {},
): CreateImageRequest {
  const { player, style, ...rest } = change;
  return {
    type: "player_card",
    player: {
      external_id: "player-1",
      name: "Maya Okafor",
      position: "ST",
      number: 9,
      skill_level: 87,
      source_image_url: "https://photos.example/player.jpg",
      ...player,
    },
    style: { preset: "club_card", ...style },
    ...rest,
  };
}

let counter = 0;

/** POST /v1/images with a fresh Idempotency-Key unless one is given. */
export function post(
  baseUrl: string,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
) {
  return fetch(`${baseUrl}/v1/images`, {
    method: "POST",
    signal,
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": key,
      "Idempotency-Key": `test-${++counter}`,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export function get(baseUrl: string, key: string, path: string) {
  return fetch(baseUrl + path, { headers: { "X-API-Key": key } });
}

/** Polls until the image has ended; the test's own time-out bounds it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a client in any language would.
export async function untilEnded(baseUrl: string, key: string, imageId: string): Promise<any> {
  for (;;) {
    const { data } = (await (await get(baseUrl, key, `/v1/images/${imageId}`)).json()) as {
      data: { status: string };
    };
    if (data.status !== "processing") return data;
    await Bun.sleep(25);
  }
}
