import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { writeWhole } from "../system/write-whole.ts";
import { ownFolder, readOwnFile } from "../templates/files.ts";
import { changedFrom, differenceOf } from "./difference.ts";
import type { GoldenState, PictureRequest } from "./messages.ts";
import { SAMPLE_NAME } from "./samples.ts";
import type { FolderNow } from "./template-folder.ts";

/** Width of accepted pictures in pixels. As WebP each adds some 50 KB to a repository. */
export const GOLDEN_WIDTH = 512;

/** Draws one side of a sample in one size the way accepted pictures are drawn. */
export type GoldenDrawer = (
  now: FolderNow,
  wanted: Pick<PictureRequest, "body" | "width" | "height" | "format" | "side">,
  pane: string,
) => Promise<Uint8Array>;

/** Where a template's accepted pictures lie. Throws a TemplateFileError when that is a link. */
const goldenFolder = (dir: string): Promise<string> => ownFolder(dir, "golden");

/** Where pictures of differences to accepted ones lie. Throws a TemplateFileError when a link leads there. */
export async function differencesFolder(dir: string): Promise<string> {
  await goldenFolder(dir);
  return ownFolder(dir, "golden/differences");
}

/** The path of an accepted picture. Throws an OperatorError for an invalid name. */
export function goldenPath(dir: string, name: string): string {
  const [sample = "", size = "", ...more] = name.split("@");
  if (!SAMPLE_NAME.test(sample) || !/^[a-z0-9_]+(\.back)?$/.test(size) || more.length > 0)
    throw new OperatorError(`"${name}" names no picture; SAMPLE@SIZE and SAMPLE@SIZE.back do.`);
  return join(dir, "golden", `${name}.webp`);
}

/**
 * An accepted picture; null when there is none. Throws a TemplateFileError for a link, what is no file, and a
 * file that is too large.
 */
export async function readGolden(dir: string, name: string): Promise<Uint8Array | null> {
  await goldenFolder(dir);
  if (!(await lstat(goldenPath(dir, name)).catch(() => null))) return null;
  return readOwnFile(dir, `golden/${name}.webp`);
}

/** The name of an accepted picture, by which `template check` knows it too. */
export const goldenName = (sample: string, size: string, side?: "back"): string =>
  `${sample}@${size}${side === "back" ? ".back" : ""}`;

/** The names of a template's accepted pictures: every sample in every size, of either side. */
function goldenNames({ state }: FolderNow): string[] {
  return state.samples
    .filter(({ problem }) => problem === null)
    .flatMap(({ name }) =>
      Object.keys(state.sizes).flatMap((size) => [
        goldenName(name, size),
        ...(state.hasBack ? [goldenName(name, size, "back")] : []),
      ]),
    );
}

function wanted(now: FolderNow, name: string) {
  const isBack = name.endsWith(".back");
  const [sample, size = ""] = (isBack ? name.slice(0, -".back".length) : name).split("@");
  const text = now.state.samples.find((one) => one.name === sample)?.text;
  const sides = now.state.sizes[size];
  if (text === undefined || !sides || (isBack && !now.state.hasBack))
    throw new OperatorError(`There is no sample, size and side "${name}".`);
  return {
    ...(isBack && { side: "back" as const }),
    body: JSON.parse(text),
    width: GOLDEN_WIDTH,
    height: Math.round((GOLDEN_WIDTH * sides[1]) / sides[0]),
    format: "webp" as const,
  };
}

/** Compares the template's current pictures with the accepted ones. */
export async function goldenStates(now: FolderNow, draw: GoldenDrawer): Promise<GoldenState[]> {
  const names = goldenNames(now);
  if (now.digest === null) return names.map((name) => ({ name, state: "broken", changed: null }));
  return Promise.all(
    names.map(async (name): Promise<GoldenState> => {
      try {
        const before = await readGolden(now.state.folder, name);
        if (!before) return { name, state: "new", changed: null };
        const request = wanted(now, name);
        const after = await draw(now, request, `golden:${name}`);
        const { changed } = await differenceOf(before, after);
        const differs = changed > changedFrom(request, now.state.compositions);
        return { name, state: differs ? "changed" : "same", changed };
      } catch {
        return { name, state: "broken", changed: null };
      }
    }),
  );
}

/** Accepts a picture as it is drawn now. */
export async function writeGolden(now: FolderNow, name: string, draw: GoldenDrawer): Promise<void> {
  const { folder } = now.state;
  const path = goldenPath(folder, name);
  const picture = await draw(now, wanted(now, name), `accept:${name}`);
  await mkdir(await goldenFolder(folder), { recursive: true });
  await writeWhole(path, picture);
}
