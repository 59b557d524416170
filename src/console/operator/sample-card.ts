import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import PQueue from "p-queue";
import type { LayoutName } from "../../render/card/template-layout.ts";
import { SAMPLE_PHOTO_FILE } from "../../templates/built-in.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { ConsoleParts } from "../visit.ts";

/** A size inside each layout's range, in pixels: large enough to judge a template by, quick to set. */
export const SAMPLE_SIZES: Record<LayoutName, { width: number; height: number }> = {
  portrait: { width: 640, height: 800 },
  square: { width: 720, height: 720 },
  landscape: { width: 960, height: 600 },
};

/** Partners' cards come first: one sample at a time, and none while no renderer gets free. */
const making = new PQueue({ concurrency: 1 });
const WAIT_FOR_RENDERER_MS = 20_000;

/**
 * The path of a card a template makes, set once for each version of its files and kept in the cache folder. Rejects when
 * no renderer gets free in time, or the template cannot be set.
 */
export function sampleCard(
  parts: Pick<ConsoleParts, "pool" | "folder">,
  name: string,
  template: LoadedTemplate,
  layout: LayoutName,
): Promise<string> {
  const pathOf = (digest: string) =>
    join(parts.folder.cache, "samples", `${name}-${layout}-${digest.slice(0, 16)}.webp`);
  return making.add(async () => {
    const path = pathOf(template.digest);
    if (await Bun.file(path).exists()) return path;
    const made = `${path}.new`;
    // The files may have been edited meanwhile, or make no card: its name says what it was really made with.
    const named = pathOf(await make(parts, { name, layout, path: made }));
    await rename(made, named);
    return named;
  });
}

/** Makes the card and returns the digest of the template it was made with. */
async function make(
  { pool }: Pick<ConsoleParts, "pool">,
  { name, layout, path }: { name: string; layout: LayoutName; path: string },
): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const renderer = await pool.acquire(AbortSignal.timeout(WAIT_FOR_RENDERER_MS));
  try {
    const outcome = await renderer.render(
      {
        jobId: `sample-${layout}`,
        card: {
          player: { name: "Maya Okafor", position: "ST", number: 9, skillLevel: 93 },
          style: {
            preset: name,
            ...SAMPLE_SIZES[layout],
            format: "webp",
            backgroundTheme: "stadium night",
          },
          branding: {},
        },
        photoPath: SAMPLE_PHOTO_FILE,
        photoSha256: new Bun.CryptoHasher("sha256")
          .update(await Bun.file(SAMPLE_PHOTO_FILE).bytes())
          .digest("hex"),
        badgePath: null,
        outputPath: path,
      },
      () => {},
    );
    if (outcome.kind === "refused") throw new Error(`The sample of ${name} was refused: ${outcome.message}`);
    return outcome.file.template.digest;
  } finally {
    renderer.release();
  }
}
