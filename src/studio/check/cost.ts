import type { Previewed } from "../../render/preview/messages.ts";
import { DEFAULT_TEMPLATE } from "../../templates/built-in.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import type { CheckCase } from "./cards.ts";
import { type Drawing, draw } from "./draw.ts";

/** Draws per template; the fastest counts, as it is least disturbed by other load. */
const COST_DRAWS = 5;

/**
 * The time to lay out and capture a card as a multiple of the built-in card's: same photo, size and format,
 * alternating.
 */
export async function costOf(drawing: Drawing, manifest: TemplateManifest, one: CheckCase): Promise<number> {
  // On one worker: on another the other page would be the warm one.
  const renderer = await drawing.pool.acquire();
  try {
    const pool = { ...drawing.pool, acquire: async () => ({ ...renderer, release: () => {} }) };
    return await costOnOneWorker({ ...drawing, pool }, manifest, one);
  } finally {
    renderer.release();
  }
}

async function costOnOneWorker(
  drawing: Drawing,
  manifest: TemplateManifest,
  one: CheckCase,
): Promise<number> {
  const plainBody = { player: one.body.player, branding: one.body.branding };
  const theirManifest = { ...manifest, fields: {} };
  const measure = async (preview: Promise<Previewed>) => {
    const { compose = 0, capture = 0 } = (await preview).timingsMs;
    return compose + capture;
  };
  const [own, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i <= COST_DRAWS; i++) {
    const ownMs = await measure(draw(drawing, manifest, one, 1024, "no"));
    const theirMs = await measure(
      draw(drawing, theirManifest, { ...one, body: plainBody }, 1024, "no", DEFAULT_TEMPLATE),
    );
    // The first draw of each opens its page.
    if (i === 0) continue;
    own.push(ownMs);
    theirs.push(theirMs);
  }
  return Math.min(...own) / Math.min(...theirs);
}
