import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { PICTURE_SIDE_PX } from "../core/picture-limits.ts";
import { PRINT_SIZES, printSizeLabel, printSizeOf, SAFE_PX } from "../core/print-sizes.ts";
import type { PreviewPool } from "../render/pool.ts";
import { cutFaults } from "./check/cards.ts";
import { type DrawingJob, type Drawings, openDrawings } from "./drawings.ts";
import { lastCommit, writeCommit } from "./git.ts";
import type { PictureAnswer, PictureRequest } from "./messages.ts";
import { badgeFile, type PictureFile, photoFile, pictureFiles } from "./sample-files.ts";
import { sampleCard } from "./samples.ts";
import { type FolderNow, findTemplates, readFolderNow } from "./template-folder.ts";

export interface StudioOptions {
  /** A template's folder, or one that contains some. */
  root: string;
  /** A folder for pictures, dropped photos and the last commit's files. */
  scratch: string;
  pool: PreviewPool;
  /** The service's address in requests that are copied. */
  baseUrl: string;
}

/** The studio's working state: the folders as they are now, and a worker that draws them. */
export interface Session {
  readonly drawings: Drawings;
  /** Photos dropped on the page, by id. */
  readonly photos: Map<string, PictureFile>;
  /** Increases with every save. */
  revision(): number;
  changed(): number;
  dirOf(template: string): Promise<string>;
  folderNow(template: string): Promise<FolderNow>;
  /** Makes the next request for a folder read it again. */
  forget(template: string): void;
  /** The drawing job for a request. Throws an OperatorError that says what is wrong with the sample. */
  jobOf(request: PictureRequest, now: FolderNow): Promise<DrawingJob>;
  draw(job: DrawingJob, base: string): Promise<PictureAnswer>;
  /**
   * The template as of the last commit, in a folder of its own; null when there is none that makes a card.
   */
  lastCommitted(dir: string): Promise<FolderNow | null>;
}

export function openSession({ root, scratch, pool }: StudioOptions): Session {
  const drawings = openDrawings(pool, join(scratch, "pictures"));
  const folders = new Map<string, { now: Promise<FolderNow>; revision: number }>();
  const photos = new Map<string, PictureFile>();
  let revision = 1;

  const dirOf = async (template: string): Promise<string> => {
    const dir = (await findTemplates(root)).get(template);
    if (dir === undefined) throw new OperatorError(`There is no template "${template}" in ${root} any more.`);
    return dir;
  };
  const folderNow = async (template: string): Promise<FolderNow> => {
    const kept = folders.get(template);
    if (kept?.revision === revision) return kept.now;
    const asOf = revision;
    const before = await kept?.now.catch(() => undefined);
    const latest = folders.get(template);
    if (latest?.revision === asOf) return latest.now;
    const now = dirOf(template).then((dir) => readFolderNow(dir, before, asOf));
    folders.set(template, { now, revision: asOf });
    return now;
  };
  return {
    drawings,
    photos,
    revision: () => revision,
    changed: () => {
      revision += 1;
      return revision;
    },
    dirOf,
    folderNow,
    forget: (template) => void folders.delete(template),
    jobOf: async (request, now) => {
      const { manifest, state, digest } = now;
      if (!manifest || digest === null) throw new OperatorError("The template's files make no card.");
      const size = { width: side(request.width), height: side(request.height), format: request.format };
      const { card, photo, badge, pictures } = sampleCard(request.body, manifest, size);
      const places = { dir: state.folder, scratch };
      return {
        pane: String(request.pane),
        turn: Number(request.turn) || 0,
        priority: Number(request.priority) || 0,
        dir: state.folder,
        ...(request.side === "back" && { side: "back" }),
        digest,
        card,
        photo:
          request.photo === undefined
            ? await photoFile(state.folder, photo)
            : (photos.get(request.photo) ?? null),
        badge: await badgeFile(places, badge),
        pictures: await pictureFiles(places, pictures),
        inspect: request.inspect,
        encoding: request.encoding ?? "file",
      };
    },
    draw: (job, base) => drawFor(drawings, job, base),
    lastCommitted: async (dir) => {
      const commit = await lastCommit(dir);
      if (commit === null) return null;
      const to = join(scratch, "commits", commit, basename(dir));
      await mkdir(to, { recursive: true });
      await writeCommit(dir, commit, to);
      const now = await readFolderNow(to, undefined, 0);
      return now.digest === null ? null : now;
    },
  };
}

async function drawFor(drawings: Drawings, job: DrawingJob, base: string): Promise<PictureAnswer> {
  const startedAt = performance.now();
  const end = await drawings.draw(job);
  if (end.kind !== "drawn") return end;
  const { key, preview, isCached } = end.drawing;
  return {
    kind: "drawn",
    url: `${base}/pictures/${key}`,
    width: preview.width,
    height: preview.height,
    bytes: preview.bytes,
    ms: performance.now() - startedAt,
    page: isCached ? "cached" : preview.page,
    print: printOf(preview),
    inspection: preview.inspection,
    cut: preview.inspection
      ? cutFaults(preview.inspection).map(({ subject, text }) => `${subject} ${text}`)
      : [],
  };
}

function printOf(size: { width: number; height: number }) {
  const name = printSizeOf(size);
  if (!name) return null;
  const { bleed } = PRINT_SIZES[name].px;
  return {
    label: printSizeLabel(name),
    cutPx: bleed,
    safePx: bleed + SAFE_PX,
  };
}

/** The studio also draws small pictures, which the API does not offer. */
const SMALLEST_PX = 16;

/** The side of a picture in pixels. */
function side(value: unknown): number {
  const pixels = Math.round(Number(value));
  if (!(pixels >= SMALLEST_PX && pixels <= PICTURE_SIDE_PX.maximum))
    throw new OperatorError(`Width and height go from ${SMALLEST_PX} to ${PICTURE_SIDE_PX.maximum} pixels.`);
  return pixels;
}
