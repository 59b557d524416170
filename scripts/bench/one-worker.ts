import { join } from "node:path";
import type { CardInput, ImageFormat } from "../../src/core/card.ts";
import { quietLog } from "../../src/log.ts";
import type { Chromium } from "../../src/render/browser/chromium.ts";
import { packagedRuntime } from "../../src/render/photo/onnx-runtime.ts";
import { createRenderPool, type RenderPool } from "../../src/render/pool.ts";
import { systemRandom, workerCommand } from "../../src/service/system.ts";

export const PHOTOS = join(import.meta.dir, "../../test/photos");

/** The sample photos with a player, from close-up to full length and in many sizes. */
export const SAMPLES = [
  "unsplash_man.jpg",
  "astronaut.png",
  "skier.jpg",
  "yoga.jpg",
  "market_street.jpg",
].map((name) => join(PHOTOS, name));

const NAMES = ["Maya Okafor", "Li Wei", "João Félix da Silva", "Ana", "Zlatko Đorđević", "O'Brien"];

/** The n-th card of a bench. */
export function card(n: number, format: ImageFormat): CardInput {
  return {
    player: {
      name: NAMES[n % NAMES.length] ?? "",
      position: "ST",
      number: (n % 99) + 1,
      skillLevel: 60 + (n % 40),
    },
    style: { preset: "club_card", width: 1024, height: 1280, format, backgroundTheme: "stadium" },
    branding: { primaryColor: "#C8102E", secondaryColor: "#F6EB61" },
  };
}

/** Makes a photo of 13 million pixels in a folder, and returns its path. */
export async function largePhoto(folder: string): Promise<string> {
  const path = join(folder, "large.jpg");
  await Bun.write(path, await new Bun.Image(SAMPLES[0] as string).resize(3000, 4500).jpeg().bytes());
  return path;
}

/** One render worker in a process of its own, as in the service, with a browser that is not recycled. */
export interface BenchWorker {
  pid: number;
  /**
   * Makes one card. The hash tells photos apart: a new one stands for a new photo.
   * @returns the milliseconds of each stage; null when the photo is refused
   */
  tryRender(card: CardInput, photo: { path: string; sha256: string }): Promise<Record<string, number> | null>;
  /** The same, of a photo that must not be refused. */
  render(card: CardInput, photo: { path: string; sha256: string }): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/**
 * Render workers as in the service, whose browsers are not recycled.
 * @param scratch a folder for profiles and cutouts
 */
export function benchPool(workers: number, chromium: Chromium, scratch: string): RenderPool {
  return createRenderPool({
    workers,
    command: workerCommand(),
    renderer: {
      chromium,
      onnxRuntime: packagedRuntime(),
      matteModel: null,
      mp4Encoder: null,
      profilesDir: scratch,
      cutoutsDir: join(scratch, "cutouts"),
      templatesDir: null,
      presets: ["club_card"],
      noSandbox: process.getuid?.() === 0,
    },
    log: quietLog(),
    random: systemRandom,
    rendersPerBrowser: 100_000,
  });
}

/** @param scratch a folder for profiles, cutouts and pictures */
export async function openWorker(chromium: Chromium, scratch: string): Promise<BenchWorker> {
  const pool = benchPool(1, chromium, scratch);
  const renderer = await pool.acquire();
  const [pid = 0] = pool.pids();
  let jobs = 0;
  const outcomeOf = (card: CardInput, { path, sha256 }: { path: string; sha256: string }) =>
    renderer.render(
      {
        jobId: `bench-${jobs++}`,
        card,
        photoPath: path,
        photoSha256: sha256,
        badgePath: null,
        outputPath: join(scratch, "card.png"),
      },
      () => {},
    );
  return {
    pid,
    async tryRender(card, photo) {
      const outcome = await outcomeOf(card, photo);
      return outcome.kind === "refused" ? null : outcome.file.timingsMs;
    },
    async render(card, photo) {
      const outcome = await outcomeOf(card, photo);
      if (outcome.kind === "refused") throw new Error(outcome.message);
      return outcome.file.timingsMs;
    },
    async close() {
      renderer.release();
      await pool.close();
    },
  };
}
