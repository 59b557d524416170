import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { count } from "drizzle-orm";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { createAccount, createKey } from "../../src/app/people/manage-account.ts";
import { quietLog } from "../../src/log.ts";
import { freePort } from "../../src/service/free-port.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { get, imageRequest, post, testConfig } from "../../test/harness.ts";
import { type Attack, attack } from "./attacks.ts";
import { diskMb } from "./disk.ts";
import { manyPhotos } from "./photos.ts";
import { familyOf, processes } from "./processes.ts";

export interface SoakOptions {
  dir: string;
  seed: number;
  cards: number;
  /** No card is begun after this time. */
  seconds: number;
  /** Cards per attack, on average. */
  killEvery: number;
  command: string[];
  /** Fraction of the cards whose photo has never been seen before. */
  newShare: number;
  note: (line: string) => void;
}

interface Sample {
  cards: number;
  /** Memory of the service's process and of its descendants, and disk use without the finished pictures. */
  serverMb: number;
  workersMb: number;
  diskMb: number;
}

export interface SoakFigures {
  seed: number;
  accepted: number;
  completed: number;
  attacks: Partial<Record<Attack, number>>;
  seconds: number;
  samples: Sample[];
  /** How many images were rendered how often. */
  renders: Record<number, number>;
  /** Accepted images that did not become cards. */
  lost: string[];
  /** Processes and files that should be gone. */
  left: string[];
  /** Audit rules that are violated. */
  broken: string[];
}

/** Cards in progress at a time: enough to keep every worker busy. */
const UNDER_WAY = 8;
const SAMPLES = 20;
/** After the last card everything accepted must finish within this time, in milliseconds. */
const END_MS = 300_000;
const POLL_MS = 250;

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The service as a separate process, restarted whenever it ends unexpectedly. */
class Server {
  private child: Bun.Subprocess | undefined;
  private isOver = false;
  constructor(
    private readonly command: string[],
    private readonly env: Record<string, string>,
    /** File descriptor its log is appended to, over all its starts. */
    private readonly log: number,
  ) {}
  get pid(): number {
    return this.child?.pid ?? 0;
  }
  start(): void {
    this.child = Bun.spawn([...this.command, "serve"], {
      env: { ...process.env, ...this.env },
      stdio: ["ignore", this.log, this.log],
      onExit: () => {
        if (!this.isOver) setTimeout(() => this.start(), 200);
      },
    });
  }
  async stop(): Promise<number> {
    this.isOver = true;
    this.child?.kill("SIGTERM");
    return (await this.child?.exited) ?? -1;
  }
}

/** Runs everything. `dir` must be empty; what is in it afterwards was left by the service. */
export async function soak(options: SoakOptions): Promise<SoakFigures> {
  const { dir, seed, cards, note } = options;
  const random = dice(seed);
  const photos = manyPhotos(options.newShare);
  const data = join(dir, "data");
  const port = await freePort("127.0.0.1");
  const env = {
    CARDPRESS_DATA_DIR: data,
    CARDPRESS_PORT: String(port),
    CARDPRESS_RENDER_WORKERS: "2",
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
  };
  const liveKey = await prepare(data, cards);
  const address = `http://127.0.0.1:${port}`;
  const figures: SoakFigures = {
    seed,
    accepted: 0,
    completed: 0,
    attacks: {},
    seconds: 0,
    samples: [],
    renders: {},
    lost: [],
    left: [],
    broken: [],
  };
  const logFile = join(dir, "service.log");
  const log = openSync(logFile, "a");
  const server = new Server(options.command, env, log);
  server.start();
  const startedAt = performance.now();
  let made = 0;
  const one = async (n: number) => {
    const body = imageRequest({
      player: { source_image_url: photos.url(n, random()), number: 1 + (n % 99), name: `Player ${n}` },
      style: { width: 1024, height: 1280, format: n % 3 === 0 ? "jpeg" : "png" },
    });
    const id = await accept(address, liveKey, body, `soak-${n}`);
    figures.accepted += 1;
    const end = await untilEnded(address, liveKey, id);
    if (end === "completed") figures.completed += 1;
    else figures.lost.push(`${id}: ${end}`);
    made += 1;
    if (made % Math.max(1, Math.floor(cards / SAMPLES)) === 0) {
      figures.samples.push(await sample(made, server.pid, data));
      note(JSON.stringify(figures.samples.at(-1)));
    }
  };
  let next = 0;
  const line = async () => {
    for (;;) {
      const n = next++;
      if (n >= cards || performance.now() - startedAt > options.seconds * 1000) return;
      if (random() < 1 / options.killEvery) {
        const kind = attack(random, server.pid, data);
        if (kind) {
          figures.attacks[kind] = (figures.attacks[kind] ?? 0) + 1;
          writeSync(log, `${JSON.stringify({ time: new Date().toISOString(), event: "attack", kind })}\n`);
        }
      }
      await one(n);
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, line));
  figures.seconds = Math.round((performance.now() - startedAt) / 1000);
  const code = await server.stop();
  if (code !== 0) figures.broken.push(`the service ended with ${code}`);
  await photos.stop();
  closeSync(log);
  const lines = readFileSync(logFile, "utf8").split("\n");
  for (const end of figures.lost)
    for (const line of lines) if (line.includes(end.slice(0, end.indexOf(":")))) note(line);
  figures.left = leftovers(data);
  const store = openSqliteStore(join(data, "cardpress.db"), { verify: true });
  figures.renders = await rendersOf(store);
  figures.broken.push(...(await brokenRules(store)));
  await store.close();
  return figures;
}

async function prepare(data: string, cards: number): Promise<string> {
  const workspace = await openWorkspace(testConfig(data), quietLog());
  const account = await createAccount(workspace, { name: "Soak", tier: "scale", credits: cards + 1 });
  const { key } = await createKey(workspace, {
    accountId: account.id,
    environment: "live",
    name: "soak",
    by: null,
  });
  await workspace.store.close();
  return key;
}

/** Retries until the request is accepted, as a partner would: the service may be full or restarting. */
async function accept(address: string, key: string, body: unknown, idempotencyKey: string): Promise<string> {
  for (;;) {
    const answer = await post(address, key, body, { "Idempotency-Key": idempotencyKey }).catch(
      () => undefined,
    );
    if (answer?.status === 202) {
      const { data } = (await answer.json()) as { data: { image_id: string } };
      return data.image_id;
    }
    if (answer && ![429, 503].includes(answer.status))
      throw new Error(`create was answered ${answer.status}: ${await answer.text()}`);
    await Bun.sleep(POLL_MS);
  }
}

async function untilEnded(address: string, key: string, id: string): Promise<string> {
  for (const deadline = performance.now() + END_MS; performance.now() < deadline; await Bun.sleep(POLL_MS)) {
    const answer = await get(address, key, `/v1/images/${id}`).catch(() => undefined);
    if (answer?.status !== 200) continue;
    const { data } = (await answer.json()) as { data: { status: string; failure?: { message: string } } };
    if (data.status !== "processing")
      return data.status === "failed" ? `failed, ${data.failure?.message}` : data.status;
  }
  return "still unfinished";
}

async function sample(cards: number, pid: number, data: string): Promise<Sample> {
  const family = familyOf(pid);
  const sum = (members: typeof family) =>
    Math.round(members.reduce((all, { memoryMb }) => all + memoryMb, 0));
  return {
    cards,
    serverMb: sum(family.filter((each) => each.pid === pid)),
    workersMb: sum(family.filter((each) => each.pid !== pid)),
    diskMb: await diskMb(data),
  };
}

/** The processes that still refer to this folder, and the files that should exist only temporarily. */
function leftovers(data: string): string[] {
  const running = processes().filter(({ args, pid }) => args.includes(data) && pid !== process.pid);
  const files = ["profiles", "scratch"].flatMap((folder) =>
    readdirSync(join(data, folder)).map((name) => `${folder}/${name}`),
  );
  rmSync(join(data, "cache"), { recursive: true, force: true });
  return [...running.map(({ pid, args }) => `process ${pid}: ${args.slice(0, 120)}`), ...files];
}

async function rendersOf({ read: { db, t } }: Store): Promise<Record<number, number>> {
  const { renders } = t.images;
  const rows = await db.select({ renders, images: count() }).from(t.images).groupBy(renders);
  return Object.fromEntries(rows.map((row) => [row.renders, row.images]));
}

async function brokenRules(store: Store): Promise<string[]> {
  const { findings } = await audit(store, Date.now());
  return findings.filter(({ ok }) => !ok).map(({ check, broken }) => `${check}: ${broken[0]?.id}`);
}
