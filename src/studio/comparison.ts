import { readFile } from "node:fs/promises";
import { OperatorError } from "../core/errors.ts";
import { sha256 } from "../core/sha256.ts";
import { differenceOf } from "./difference.ts";
import type { DrawingJob } from "./drawings.ts";
import { GOLDEN_WIDTH, type GoldenDrawer, goldenName, readGolden } from "./goldens.ts";
import type { CompareAnswer, PictureRequest } from "./messages.ts";
import type { Session } from "./session.ts";

export type CompareRequest = PictureRequest & { sample: string; size: string; against: "golden" | "head" };

/** Pictures that were read or computed rather than drawn, by the last part of their address. */
export type ComparedPictures = Map<string, Uint8Array>;

/** The number of such pictures kept; each is some 100 KB. */
const MAX_COMPARED = 60;

/** A sample's picture now and before, and where they differ. */
export async function compare(
  session: Session,
  compared: ComparedPictures,
  request: CompareRequest,
  base: string,
): Promise<CompareAnswer> {
  const now = await session.folderNow(request.template);
  const height = Math.round((GOLDEN_WIDTH * request.height) / request.width);
  const job = await session.jobOf(
    { ...request, width: GOLDEN_WIDTH, height, format: "webp", inspect: "no", encoding: "file" },
    now,
  );
  const after = await session.draw(job, base);
  if (after.kind !== "drawn")
    throw new OperatorError("message" in after ? after.message : "A newer request came.");
  const plain = {
    before: null,
    after: after.url,
    difference: null,
    changed: null,
    width: GOLDEN_WIDTH,
    height,
  };
  const before = await pictureBefore(session, compared, request, job, base);
  if (!before) return plain;
  const path = session.drawings.file(after.url.slice(after.url.lastIndexOf("/") + 1))?.path ?? "";
  const { changed, picture } = await differenceOf(before.bytes, new Uint8Array(await readFile(path)));
  const difference = picture && `${base}/pictures/${keep(compared, picture)}`;
  return { ...plain, before: before.url, difference, changed };
}

async function pictureBefore(
  session: Session,
  compared: ComparedPictures,
  request: CompareRequest,
  job: DrawingJob,
  base: string,
): Promise<{ bytes: Uint8Array; url: string } | null> {
  if (request.against === "golden") {
    const name = goldenName(request.sample, request.size, job.side);
    const bytes = await readGolden(job.dir, name);
    return bytes && { bytes, url: `${base}/pictures/${keep(compared, bytes)}` };
  }
  const committed = await session.lastCommitted(job.dir);
  if (!committed || (job.side === "back" && !committed.state.hasBack)) return null;
  const pane = `${job.pane}:head`;
  const { folder, digest } = committed.state;
  const end = await session.drawings.draw({ ...job, pane, dir: folder, digest: digest ?? "" });
  if (end.kind !== "drawn") return null;
  const bytes = new Uint8Array(await readFile(end.drawing.path));
  return { bytes, url: `${base}/pictures/${end.drawing.key}` };
}

function keep(compared: ComparedPictures, picture: Uint8Array): string {
  const key = sha256(picture).slice(0, 32);
  compared.set(key, picture);
  const [eldest] = compared.keys();
  if (compared.size > MAX_COMPARED && eldest !== undefined) compared.delete(eldest);
  return key;
}

/** Draws one side of a sample in one of the template's sizes the way accepted pictures are drawn. */
export function goldenDrawer(session: Session): GoldenDrawer {
  return async (now, wanted, pane) => {
    const request = {
      ...wanted,
      template: now.state.name,
      pane,
      turn: 0,
      priority: 5,
      inspect: "no" as const,
    };
    const end = await session.drawings.draw(await session.jobOf(request, now));
    if (end.kind !== "drawn")
      throw new OperatorError(end.kind === "refused" ? end.message : "A newer request came.");
    return new Uint8Array(await readFile(end.drawing.path));
  };
}
