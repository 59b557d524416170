import { join } from "node:path";
import { makeSet } from "../../src/app/sets/manage-sets.ts";
import { quietLog } from "../../src/log.ts";
import { STAGES } from "../../src/render/protocol.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { get, imageRequest, testAccount, testConfig, testFolder } from "../harness.ts";
import { AFTER_CANCELING, freshBatches, type PromisedBatch, sendBatch } from "./batches.ts";
import { type Bench, type CrashFigures, type Promised, send, startCrashing } from "./bench.ts";
import { auditFile, CREDITS, noteOrphans, settle, untilIdle } from "./settle.ts";

/** Every step between two effects, and the three processes at any moment. */
export const STEPS: readonly string[] = [
  // The photo is on the disk, nothing in the database yet.
  "accept: before",
  // Between the image and its reservation's entry.
  "id: led",
  "accept: before commit",
  // Accepted, but the partner has not got the answer.
  "accept: after commit",
  "answer: POST 202",
  // A batch: all of its cards or none.
  "accept batch: before commit",
  "accept batch: after commit",
  // The photo of a card is on the disk, the card still waits for it; or it cannot be had.
  "queue card: before",
  "queue card: before commit",
  "queue card: after commit",
  // Canceled, and not one of its cards has ended yet; then in the middle of them.
  "cancel batch: before commit",
  "cancel batch: after commit",
  "fail unbegun: before commit",
  "fail unbegun: after commit",
  "claim: before",
  "claim: before commit",
  "claim: after commit",
  ...STAGES.map((stage) => `server at ${stage}`),
  "worker at find",
  "worker at cut_out",
  "worker at compose",
  "worker at capture",
  "browser at decode",
  "browser at cut_out",
  "browser at capture",
  // The picture, if there is one, is on the disk, its row still says "rendering".
  "finish: before",
  "finish: before commit",
  "finish completed: before commit",
  "finish: after commit",
  // At the start, when the renders of the killed process are taken back.
  "requeue: before commit",
  "requeue: after commit",
  "answer: GET 200",
  "server at any moment",
  "worker at any moment",
  "browser at any moment",
];

/** Good photos, and one without a player, so that both ends of an image are met. */
const PHOTOS = ["astronaut.png", "coffee.png", "skier.jpg", "astronaut.png"];
const LIVE_PER_CYCLE = 4;
/** A card of two pictures, one of two pages in a file, and plain ones. */
const STYLES = [
  { width: 512, height: 512, back: true },
  { width: 650, height: 839, back: true, format: "pdf" },
  { width: 512, height: 512 },
  { width: 512, height: 512 },
] as const;
/** The player of the set, and how many cards of a cycle are numbered in it. */
const NUMBERED = "numbered";
const NUMBERED_PER_CYCLE = 3;
const ANY_MOMENT_MS = 5_000;
/** How long a server may keep running after one of its children was killed. */
const AFTERWARDS_MS = 2_000;
const CANCELED_LOOK_MS = 100;

/**
 * Kills and restarts the service again and again over one data folder, then checks that nothing was lost.
 * `steps`: those of STEPS at which it is killed; all of them in turn when absent.
 */
export async function crashCycles(options: {
  cycles: number;
  steps?: readonly string[];
  seed: number;
  note?: (line: string) => void;
}): Promise<CrashFigures> {
  const folder = testFolder();
  const batches: PromisedBatch[] = [];
  const photos = freshPhotos(batches);
  const photoOrigin = `http://127.0.0.1:${photos.port}`;
  const env = {
    CARDPRESS_DATA_DIR: folder.dir,
    CARDPRESS_PORT: "0",
    CARDPRESS_RENDER_WORKERS: "1",
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photoOrigin,
  };
  const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
  const { account, liveKey, testKey } = await testAccount(workspace, { credits: CREDITS });
  const {
    set: { id: setId },
  } = await makeSet(
    workspace,
    { accountId: account.id, environment: "live" },
    {
      name: "Season",
      season: "",
      parallels: [{ name: "gold", size: 10_000 }],
      players: [{ externalId: NUMBERED, name: "", number: null }],
    },
  );
  await workspace.store.close();
  const figures: CrashFigures = {
    cycles: options.cycles,
    reached: 0,
    accepted: 0,
    completed: 0,
    failed: 0,
    replayed: 0,
    canceled: 0,
    lost: 0,
    double: 0,
    orphansServed: 0,
    orphansSwept: 0,
    leftoverProcesses: 0,
    creditsAddUp: false,
    problems: [],
  };
  const bench: Bench = {
    dir: folder.dir,
    env,
    keys: { live: liveKey, test: testKey },
    photoOrigin,
    promised: [],
    batches,
    setId,
    orphans: new Set(),
    figures,
    note: options.note ?? (() => {}),
  };
  const random = generator(options.seed);
  const { steps = STEPS } = options;
  try {
    for (let cycle = 0; cycle < options.cycles; cycle++) {
      const step = steps[cycle % steps.length] ?? "";
      await runCycle(bench, cycle, step, random);
      await auditFile(bench, `after cycle ${cycle} (${step})`);
      await noteOrphans(bench);
    }
    await settle(bench);
    return figures;
  } finally {
    await photos.stop(true);
    await folder.remove();
  }
}

async function runCycle(bench: Bench, cycle: number, step: string, random: () => number): Promise<void> {
  const startedAt = performance.now();
  // Steps are met more than once in a cycle; which time is left to chance.
  const count = /any moment|GET|cancel batch|completed/.test(step) ? 1 : 1 + Math.floor(random() * 2);
  const server = await startCrashing(bench, {
    CRASH_STEP: step,
    CRASH_COUNT: String(count),
    CRASH_AFTER_MS: String(Math.round(random() * ANY_MOMENT_MS)),
  });
  // The server lives on when one of its children was killed, until it is killed itself a little later.
  const afterwards = random() * AFTERWARDS_MS;
  void server.reached.then(() => setTimeout(() => server.kill(), afterwards));
  if (server.address !== undefined) await work(bench, cycle, server.address, server.exited);
  // A step that has not come by now will not: all the work is done.
  if (!step.endsWith("at any moment")) await untilIdle(bench, server.exited).then(server.kill);
  await server.exited;
  const hit = server.step() === step;
  if (hit) bench.figures.reached += 1;
  const ms = Math.round(performance.now() - startedAt);
  bench.note(`${cycle} ${step} #${count}: ${hit ? "reached" : "not reached"}, ${ms} ms`);
}

/**
 * A photo never sent before: the same picture with other bytes appended, so that no cutout of it is cached.
 * One for a card of a batch that is to be canceled is served only afterwards.
 */
function freshPhotos(batches: PromisedBatch[]) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search, searchParams } = new URL(request.url);
      const key = searchParams.get(AFTER_CANCELING);
      const batch = batches.find((one) => one.key === key);
      while (batch && !batch.canceled && !request.signal.aborted) await Bun.sleep(CANCELED_LOOK_MS);
      const photo = Bun.file(join(import.meta.dir, "../photos", pathname));
      if (!(await photo.exists())) return new Response("no such photo", { status: 404 });
      return new Response(new Blob([await photo.bytes(), search]));
    },
  });
}

/**
 * What partners do meanwhile: new creates, the uncertain ones of before again, and polling, until the crash.
 */
async function work(bench: Bench, cycle: number, address: string, exited: Promise<number>): Promise<void> {
  const fresh: Promised[] = Array.from({ length: LIVE_PER_CYCLE }, (_, n) => ({
    key: `c${cycle}-${n}`,
    apiKey: bench.keys.live,
    body: JSON.stringify(
      imageRequest({
        player: {
          external_id: n < NUMBERED_PER_CYCLE ? NUMBERED : `c${cycle}-${n}`,
          source_image_url: `${bench.photoOrigin}/${PHOTOS[(cycle + n) % PHOTOS.length]}?${n < 2 ? cycle : ""}`,
        },
        style: STYLES[n % STYLES.length] ?? {},
        ...(n < NUMBERED_PER_CYCLE ? { set: { id: bench.setId, parallel: "gold" } } : {}),
      }),
    ),
  }));
  fresh.push({ key: `c${cycle}-test`, apiKey: bench.keys.test, body: JSON.stringify(imageRequest()) });
  const again = [...bench.promised.filter(({ answer }) => answer === undefined), ...bench.promised.slice(-3)];
  bench.promised.push(...fresh);
  const unsure = bench.batches.filter(
    ({ batchId, isUnwanted, canceled }) => batchId === undefined || (isUnwanted && !canceled),
  );
  const batches = freshBatches(cycle, bench.photoOrigin);
  bench.batches.push(...batches);
  const sending = Promise.all([
    ...[...fresh, ...again].map((promise) => send(bench, address, promise)),
    ...[...batches, ...unsure].map((promise) => sendBatch(bench, address, promise)),
  ]);
  await Promise.race([sending, exited]);
  await sending;
  const known = bench.promised.filter(({ imageId }) => imageId !== undefined).slice(-2);
  for (const { apiKey, imageId } of known)
    await get(address, apiKey, `/v1/images/${imageId}`).catch(() => {});
}

/** mulberry32 (Ettinger, 2017): small, seeded, good enough to choose moments. */
function generator(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
