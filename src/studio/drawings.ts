import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CardInput } from "../core/card.ts";
import { sha256 } from "../core/sha256.ts";
import type { PreviewPool } from "../render/pool.ts";
import type { PreviewOutcome } from "../render/pool-worker.ts";
import type { Previewed } from "../render/preview/messages.ts";

/** A picture to draw. */
export interface DrawingJob {
  pane: string;
  /** Of two jobs of a pane the one of the higher turn is the newer. */
  turn: number;
  /** Lower goes first; among equals the newest. */
  priority: number;
  dir: string;
  /** The card's other side; without it the front. */
  side?: "back" | undefined;
  /** Digest of the folder's files; with the other fields it identifies a picture already drawn. */
  digest: string;
  card: CardInput;
  photo: { path: string; sha256: string } | null;
  badge: { path: string; sha256: string } | null;
  /** Those among its own fields, by the fields' names. */
  pictures: Record<string, { path: string; sha256: string }>;
  inspect: "no" | "looks" | "contrast";
  encoding: "file" | "screen";
}

export interface Drawing {
  key: string;
  path: string;
  preview: Previewed;
  isCached: boolean;
}

export type DrawingOutcome =
  | { kind: "drawn"; drawing: Drawing }
  | { kind: "superseded" }
  | { kind: "refused"; message: string };

/** Draws on one worker, the newest job of each pane first; keeps pictures, so that none is drawn twice. */
export interface Drawings {
  /** Rejects when the worker or the template's page crashed. */
  draw(job: DrawingJob): Promise<DrawingOutcome>;
  /** The file of a picture by its key. */
  file(key: string): { path: string; contentType: string } | undefined;
  close(): Promise<void>;
}

interface Waiting {
  job: DrawingJob;
  key: string;
  number: number;
  end: Promise<DrawingOutcome>;
  resolve(end: DrawingOutcome): void;
  reject(error: unknown): void;
}

/** A wall of a hundred cards for the screen, and those viewed before it. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

export function openDrawings(pool: PreviewPool, dir: string): Drawings {
  const kept = keptDrawings();
  const waiting = new Map<string, Waiting>();
  let count = 0;
  let isDrawing = false;
  let isClosed = false;

  const next = () =>
    [...waiting.values()].sort((a, b) => a.job.priority - b.job.priority || b.number - a.number)[0];

  const pump = async () => {
    if (isDrawing) return;
    isDrawing = true;
    for (let one = next(); one && !isClosed; one = next()) {
      waiting.delete(one.job.pane);
      const { job, key, resolve, reject } = one;
      try {
        const known = kept.find(key);
        if (known) {
          resolve({ kind: "drawn", drawing: { ...known, isCached: true } });
          continue;
        }
        const path = join(dir, `${one.number}.${job.card.style.format}`);
        const end = await drawOn(pool, job, path, key);
        if (end.kind === "refused") resolve(end);
        else {
          // A file may have been saved since the job was given: the picture is kept as one of the files it
          // shows.
          const shown = keyOf({ ...job, digest: end.preview.digest });
          const drawing = { key: shown, path, preview: end.preview, isCached: false };
          await kept.add(drawing);
          resolve({ kind: "drawn", drawing });
        }
      } catch (error) {
        reject(error);
      }
    }
    isDrawing = false;
  };

  return {
    draw: async (job) => {
      const key = keyOf(job);
      const other = waiting.get(job.pane);
      if (other?.key === key) return other.end;
      if (other && other.job.turn > job.turn) return { kind: "superseded" };
      other?.resolve({ kind: "superseded" });
      waiting.delete(job.pane);
      const known = kept.find(key);
      if (known) return { kind: "drawn", drawing: { ...known, isCached: true } };
      const { promise: end, resolve, reject } = Promise.withResolvers<DrawingOutcome>();
      waiting.set(job.pane, { job, key, number: count++, end, resolve, reject });
      void mkdir(dir, { recursive: true }).then(pump, reject);
      return end;
    },
    file: (key) => {
      const drawing = kept.find(key);
      return drawing && { path: drawing.path, contentType: drawing.preview.contentType };
    },
    close: async () => {
      isClosed = true;
      for (const one of waiting.values()) one.resolve({ kind: "superseded" });
      waiting.clear();
    },
  };
}

/** The pictures drawn last, as many as the limit allows. */
function keptDrawings() {
  const kept = new Map<string, Drawing>();
  let bytes = 0;
  const remove = async (key: string) => {
    const drawing = kept.get(key);
    if (!drawing) return;
    kept.delete(key);
    bytes -= drawing.preview.bytes;
    await rm(drawing.path, { force: true });
  };
  return {
    /** The picture of that key, which then counts as the newest. */
    find: (key: string): Drawing | undefined => {
      const drawing = kept.get(key);
      if (!drawing) return undefined;
      kept.delete(key);
      kept.set(key, drawing);
      return drawing;
    },
    add: async (drawing: Drawing): Promise<void> => {
      await remove(drawing.key);
      kept.set(drawing.key, drawing);
      bytes += drawing.preview.bytes;
      for (const key of [...kept.keys()].slice(0, -1)) {
        if (bytes <= MAX_KEPT_BYTES) break;
        await remove(key);
      }
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
      side: job.side ?? "front",
      card: job.card,
      photo: job.photo,
      badgePath: job.badge?.path ?? null,
      picturePaths: Object.fromEntries(
        Object.entries(job.pictures).map(([field, { path: file }]) => [field, file]),
      ),
      outputPath: path,
      inspect: job.inspect,
      encoding: job.encoding,
    });
  } finally {
    renderer.release();
  }
}

function keyOf({ dir, side, digest, card, photo, badge, pictures, inspect, encoding }: DrawingJob): string {
  const inputs = [
    dir,
    side ?? null,
    digest,
    card,
    photo?.sha256 ?? null,
    badge?.sha256 ?? null,
    Object.entries(pictures).map(([field, { sha256 }]) => [field, sha256]),
    inspect,
    encoding,
  ];
  return sha256(JSON.stringify(inputs)).slice(0, 32);
}
