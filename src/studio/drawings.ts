import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CardInput } from "../core/card.ts";
import type { PreviewPool } from "../render/pool.ts";
import type { PreviewOutcome } from "../render/pool-worker.ts";
import type { Previewed } from "../render/preview/messages.ts";

/** A picture to draw. */
export interface DrawingJob {
  pane: string;
  /** Lower goes first; among equals the newest. */
  priority: number;
  dir: string;
  /** Digest of the folder's files; with the other fields it identifies a picture already drawn. */
  digest: string;
  card: CardInput;
  photo: { path: string; sha256: string } | null;
  badge: { path: string; sha256: string } | null;
  inspect: "no" | "looks" | "contrast";
}

export interface Drawing {
  key: string;
  path: string;
  preview: Previewed;
  isCached: boolean;
}

export type DrawingEnd =
  | { kind: "drawn"; drawing: Drawing }
  | { kind: "superseded" }
  | { kind: "refused"; message: string };

/** Draws on one worker, the newest job of each pane first; keeps pictures, so that none is drawn twice. */
export interface Drawings {
  /** Rejects when the worker or the template's page crashed. */
  draw(job: DrawingJob): Promise<DrawingEnd>;
  /** The file of a picture by its key. */
  file(key: string): { path: string; contentType: string } | undefined;
  close(): Promise<void>;
}

interface Waiting {
  job: DrawingJob;
  key: string;
  number: number;
  resolve(end: DrawingEnd): void;
  reject(error: unknown): void;
}

/** About 200 MB of pictures: a wall of two hundred and those viewed before it. */
const MAX_KEPT = 400;

export function openDrawings(pool: PreviewPool, dir: string): Drawings {
  const kept = new Map<string, Drawing>();
  const waiting = new Map<string, Waiting>();
  let count = 0;
  let isDrawing = false;
  let isClosed = false;

  const keep = async (drawing: Drawing) => {
    kept.set(drawing.key, drawing);
    for (const [key, { path }] of kept) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(key);
      await rm(path, { force: true });
    }
  };
  const next = () =>
    [...waiting.values()].sort((a, b) => a.job.priority - b.job.priority || b.number - a.number)[0];

  const pump = async () => {
    if (isDrawing) return;
    isDrawing = true;
    for (let one = next(); one && !isClosed; one = next()) {
      waiting.delete(one.job.pane);
      const { job, key, resolve, reject } = one;
      try {
        const known = kept.get(key);
        if (known) {
          resolve({ kind: "drawn", drawing: { ...known, isCached: true } });
          continue;
        }
        const path = join(dir, `${key}.${job.card.style.format}`);
        const end = await drawOn(pool, job, path, key);
        if (end.kind === "refused") resolve(end);
        else {
          const drawing = { key, path, preview: end.preview, isCached: false };
          await keep(drawing);
          resolve({ kind: "drawn", drawing });
        }
      } catch (error) {
        reject(error);
      }
    }
    isDrawing = false;
  };

  return {
    draw: (job) =>
      new Promise((resolve, reject) => {
        const key = keyOf(job);
        const known = kept.get(key);
        if (known) {
          kept.delete(key);
          kept.set(key, known);
          waiting.get(job.pane)?.resolve({ kind: "superseded" });
          waiting.delete(job.pane);
          return resolve({ kind: "drawn", drawing: { ...known, isCached: true } });
        }
        waiting.get(job.pane)?.resolve({ kind: "superseded" });
        waiting.delete(job.pane);
        waiting.set(job.pane, { job, key, number: count++, resolve, reject });
        void mkdir(dir, { recursive: true }).then(pump, reject);
      }),
    file: (key) => {
      const drawing = kept.get(key);
      return drawing && { path: drawing.path, contentType: drawing.preview.contentType };
    },
    close: async () => {
      isClosed = true;
      for (const one of waiting.values()) one.resolve({ kind: "superseded" });
      waiting.clear();
    },
  };
}

async function drawOn(
  pool: PreviewPool,
  job: DrawingJob,
  path: string,
  key: string,
): Promise<PreviewOutcome> {
  const renderer = await pool.acquire();
  try {
    return await renderer.preview({
      jobId: key,
      dir: job.dir,
      card: job.card,
      photo: job.photo,
      badgePath: job.badge?.path ?? null,
      outputPath: path,
      inspect: job.inspect,
    });
  } finally {
    renderer.release();
  }
}

function keyOf({ dir, digest, card, photo, badge, inspect }: DrawingJob): string {
  const inputs = [dir, digest, card, photo?.sha256 ?? null, badge?.sha256 ?? null, inspect];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 32);
}
