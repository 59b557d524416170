import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { MAX_SOURCE_PIXELS, MIN_SOURCE_SIDE_PX } from "../../src/core/limits.ts";
import { MAX_JPEG_SCAN_PIXELS, MAX_JPEG_SCANS } from "../../src/core/outbound-limits.ts";
import { createRenderPool, type RenderPool } from "../../src/render/pool.ts";
import { rendererOptions } from "../../src/service/renderer-options.ts";
import { workerCommand } from "../../src/service/system.ts";
import { checkDecodes, checkImage, UnusableImageError } from "../../src/sources/image-check.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { sayThird, thirdOf } from "../endurance.ts";
import { seededRandom, silentLog, type TestFolder, testConfig, testFolder } from "../harness.ts";

// Real pictures, randomly corrupted in ways that have broken decoders, each from its own seed.

const LIMITS = {
  minSidePx: MIN_SOURCE_SIDE_PX,
  maxPixels: MAX_SOURCE_PIXELS,
  maxScans: MAX_JPEG_SCANS,
  maxScanPixels: MAX_JPEG_SCAN_PIXELS,
};
const FILES = 200;
/** Any third has each way of breaking each format: they come in turns of 32, which 3 does not divide. */
const SEEDS = thirdOf(Array.from({ length: FILES }, (_, seed) => seed));
/** A worker that hangs is found out by its deadline; none may come near it, where it is given a processor. */
const RENDER_TIMEOUT_MS = 20_000;

let folder: TestFolder;
let pool: RenderPool;
const ends: string[] = [];
beforeAll(async () => {
  folder = testFolder();
  const data = openDataFolder(folder.dir);
  pool = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: await rendererOptions(testConfig(folder.dir), data),
    random: seededRandom(),
    log: { ...silentLog, warn: (event, fields) => void ends.push(`${event} ${fields?.reason}`) },
    rendersPerBrowser: 10_000,
    renderTimeoutMs: RENDER_TIMEOUT_MS,
  });
});
afterAll(async () => {
  await pool.close();
  await folder.remove();
});

/** Whole numbers below a bound, from a seed. */
function dice(seed: number) {
  const random = seededRandom(seed * 7919 + 1);
  return (below: number) => Buffer.from(random.bytes(4)).readUInt32BE() % Math.max(1, below);
}

type Break = (whole: Buffer, roll: (below: number) => number, other: Buffer) => Buffer;

/** A copy with `change` made to it. */
const changed = (whole: Buffer, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(whole);
  change(copy);
  return copy;
};

const BREAKS: Record<string, Break> = {
  "bits flipped": (whole, roll) =>
    changed(whole, (copy) => {
      for (let n = 0; n < 1 + roll(40); n++) {
        const at = 12 + roll(copy.length - 12);
        copy[at] = (copy[at] ?? 0) ^ (1 << roll(8));
      }
    }),
  "header bytes at random": (whole, roll) =>
    changed(whole, (copy) => {
      for (let n = 0; n < 1 + roll(6); n++) copy[12 + roll(60)] = roll(256);
    }),
  "sizes of the largest numbers": (whole, roll) =>
    changed(whole, (copy) => {
      copy.writeUInt32BE([0xffffffff, 0x7fffffff, 0x80000000, 0][roll(4)] ?? 0, 8 + roll(copy.length - 12));
    }),
  "a part left out": (whole, roll) => {
    const from = 12 + roll(whole.length - 12);
    return Buffer.concat([whole.subarray(0, from), whole.subarray(from + 1 + roll(2_000))]);
  },
  "a part repeated": (whole, roll) => {
    const from = 12 + roll(whole.length - 12);
    const part = whole.subarray(from, from + 1 + roll(500));
    return Buffer.concat([whole.subarray(0, from), ...Array(2 + roll(200)).fill(part), whole.subarray(from)]);
  },
  "two files in one": (whole, roll, other) => {
    const cut = 12 + roll(whole.length - 12);
    return Buffer.concat([whole.subarray(0, cut), other.subarray(roll(other.length))]);
  },
  "noise where pixels were": (whole, roll) =>
    changed(whole, (copy) => {
      const from = 40 + roll(copy.length - 40);
      for (let at = from; at < Math.min(copy.length, from + 4_000); at++) copy[at] = roll(256);
    }),
  "a page behind it": (whole) =>
    Buffer.concat([whole, Buffer.from("<html><script>fetch('http://127.0.0.1/')</script>".repeat(50))]),
};

async function pictures(): Promise<Buffer[]> {
  const source = await Bun.file(join(import.meta.dir, "../photos/yoga.jpg")).bytes();
  const small = () => new Bun.Image(source).resize(420);
  const made = await Promise.all([
    small().jpeg({ quality: 70 }).bytes(),
    small().jpeg({ quality: 70, progressive: true }).bytes(),
    small().png().bytes(),
    small().webp({ quality: 70 }).bytes(),
  ]);
  return made.map((bytes) => Buffer.from(bytes));
}

test(
  "hostile files crash neither the service nor its worker, and none of them takes long",
  async () => {
    sayThird(`${SEEDS.length} of ${FILES} hostile files`);
    const whole = await pictures();
    const breaks = Object.entries(BREAKS);
    const kinds = { refused: 0, undecodable: 0, done: 0, noPlayer: 0 };
    const [worker] = await warmPids();
    for (const seed of SEEDS) {
      const [name, broken] = breaks[seed % breaks.length] as [string, Break];
      const place = Math.floor(seed / breaks.length) % whole.length;
      const picture = whole[place] as Buffer;
      const bytes = broken(picture, dice(seed), whole[(place + 1) % whole.length] as Buffer);
      const label = `${name}, seed ${seed}`;
      // What the service does itself: it refuses in its own words, or takes it.
      const refusal = await checkImage(bytes, LIMITS).then(
        () => undefined,
        (error) => error,
      );
      expect(
        refusal === undefined || refusal instanceof UnusableImageError,
        `${label}: ${refusal}`,
      ).toBeTrue();
      const decoded = await checkDecodes(bytes).then(
        () => undefined,
        (error) => error,
      );
      expect(
        decoded === undefined || decoded instanceof UnusableImageError,
        `${label}: ${decoded}`,
      ).toBeTrue();
      if (refusal) kinds.refused += 1;
      else {
        const end = await render(bytes, seed);
        if (end.kind === "done") kinds.done += 1;
        else if (decoded) kinds.undecodable += 1;
        else kinds.noPlayer += 1;
      }
    }
    console.log("Hostile files:", JSON.stringify(kinds));
    expect(ends).toEqual([]);
    expect(pool.pids()).toEqual([worker as number]);
    // Enough of them came as far as the browser for this to mean something.
    expect(kinds.done + kinds.undecodable + kinds.noPlayer).toBeGreaterThan(SEEDS.length / 5);
    const [good] = whole;
    expect((await render(good as Buffer, FILES)).kind).not.toBe("fault");
  },
  60 * 60_000,
);

async function warmPids(): Promise<number[]> {
  (await pool.acquire()).release();
  return pool.pids();
}

/** One render of a card; a fault is one of ours, and fails the test with its words. */
async function render(bytes: Buffer, seed: number) {
  const photoPath = join(folder.dir, `hostile-${seed}`);
  await Bun.write(photoPath, bytes);
  const renderer = await pool.acquire();
  try {
    return await renderer.render(
      {
        jobId: `job-${seed}`,
        card: {
          player: { name: "Ana", position: "GK", number: 1, skillLevel: 70 },
          style: { preset: "club_card", width: 512, height: 512, format: "jpeg" },
          branding: {},
        },
        photoPath,
        photoSha256: String(seed).padStart(64, "0"),
        badgePath: null,
        outputPath: join(folder.dir, `card-${seed}.jpg`),
      },
      () => {},
    );
  } finally {
    renderer.release();
  }
}
