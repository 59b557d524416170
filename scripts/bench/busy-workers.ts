import { join } from "node:path";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { benchPool, PHOTOS } from "./one-worker.ts";

export interface BusyWorkers {
  /** The cards made so far. */
  made(): number;
  /** Waits for the cards under way and ends the workers. Rejects when a card could not be made. */
  stop(): Promise<void>;
}

/**
 * Render workers as in the service that make card after card of new photos, as long as something else is
 * measured. Resolves when each has made its first card. `dir` is for their files, `cacheDir` has the
 * downloaded Chromium.
 */
export async function keepRendering(
  workers: number,
  { dir, cacheDir }: { dir: string; cacheDir: string },
): Promise<BusyWorkers> {
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  const pool = benchPool(workers, chromium, dir);
  let [made, isStopping] = [0, false];
  const first = Array.from({ length: workers }, () => Promise.withResolvers<void>());
  const work = first.map(async (begun, worker) => {
    const renderer = await pool.acquire();
    for (let n = 0; !isStopping; n++) {
      const outcome = await renderer.render(
        {
          jobId: `busy-${worker}-${n}`,
          card: {
            player: { name: "Maya Okafor", position: "ST", number: 9, skillLevel: 88 },
            style: {
              preset: "club_card",
              width: 1024,
              height: 1280,
              format: "png",
              backgroundTheme: "stadium",
            },
            branding: { primaryColor: "#C8102E", secondaryColor: "#F6EB61" },
          },
          photoPath: join(PHOTOS, "unsplash_man.jpg"),
          photoSha256: `${worker}${n}`.padStart(64, "b"),
          badgePath: null,
          outputPath: join(dir, `busy-${worker}.png`),
        },
        () => {},
      );
      if (outcome.kind === "refused") throw new Error(outcome.message);
      made += 1;
      begun.resolve();
    }
    renderer.release();
  });
  const done = Promise.all(work);
  await Promise.race([Promise.all(first.map(({ promise }) => promise)), done]);
  return {
    made: () => made,
    stop: async () => {
      isStopping = true;
      await done.finally(() => pool.close());
    },
  };
}
