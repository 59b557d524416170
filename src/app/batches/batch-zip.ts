import { makeZip } from "client-zip";
import type { Blobs } from "../../blobs/blobs.ts";
import { readSetPlace, type SetPlace } from "../../core/card-set.ts";
import { csvField } from "../../core/csv.ts";
import { hintFor } from "../../core/failure-reasons.ts";
import { publicStatus } from "../../core/image-state.ts";
import { MAX_PARALLEL_SIZE } from "../../core/limits.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import type { AppContext } from "../context.ts";
import { setOf } from "../images/image-view.ts";

export interface ZipDeps extends AppContext {
  blobs: Blobs;
}

/** What pictures are called in an archive: `9.png` by external id, `07 Maya Okafor.png` by player. */
export type PictureNaming = "external_id" | "player";

/**
 * The finished pictures of a batch as one streamed ZIP archive, with a table of all cards in `cards.csv`.
 * Expired and deleted ones appear only in the table.
 */
export async function batchZip(
  deps: ZipDeps,
  batch: Batch,
  naming: PictureNaming,
): Promise<ReadableStream<Uint8Array>> {
  return picturesZip(deps, await imagesOfBatch(deps.store.read, batch.id), batch.updatedAt, naming);
}

/** The same of any images; `updatedAt` is the time of its table. */
export function picturesZip(
  { blobs }: Pick<ZipDeps, "blobs">,
  images: Image[],
  updatedAt: number,
  naming: PictureNaming,
): ReadableStream<Uint8Array> {
  const names = pictureNames(images, naming);
  async function* files() {
    const present = new Set<Image>();
    for (const image of images) {
      if (image.outputName === null || image.purgedAt !== null || image.forgottenAt !== null) continue;
      const picture = await blobs.open("picture", image.outputName);
      if (!picture) continue;
      present.add(image);
      const name = names.get(image) ?? image.id;
      yield entry(name, image, picture);
      const back = image.backOutputName && (await blobs.open("picture", image.backOutputName));
      if (back) yield entry(backName(name), image, back);
    }
    yield {
      name: "cards.csv",
      lastModified: new Date(updatedAt),
      input: table(images, names, present),
    };
  }
  return makeZip(files());
}

const entry = (name: string, { completedAt }: Image, picture: Blob) => ({
  name,
  lastModified: new Date(completedAt ?? 0),
  input: picture.stream() as ReadableStream<Uint8Array<ArrayBuffer>>,
  size: picture.size,
});

/** The other side's name, behind the front's where files are sorted: `9.png` and `9_back.png`. */
const backName = (name: string): string => name.replace(/\.\w+$/, "_back$&");

/** No file system allows these in a name, and a name made only of dots means a folder. */
const UNFIT = /[\\/:*?"<>|\p{Cc}]|^\.+$|[. ]+$/gu;
const MAX_NAME_CHARS = 100;

/** Invisible marks of the writing direction, which make one name look like another. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text as a file name, composed as most systems write it; `end` is never cut off. */
const fileName = (text: string, end: string): string =>
  `${text.replace(DIRECTION, "").normalize("NFC").slice(0, MAX_NAME_CHARS).toWellFormed()}${end}`.replace(
    UNFIT,
    "_",
  );

const typeOf = ({ outputName }: Image): string => /\.\w+$/.exec(outputName ?? "")?.[0] ?? "";

/** What a single card's picture is called: as in an archive by player, and with its place in a set. */
export const pictureName = (image: Image): string =>
  `${fileName(numberAndName(image) || image.externalId, setSuffix(readSetPlace(image.setPlace))) || image.id}${typeOf(image)}`;

/**
 * A recognisable file name for each picture, unique even where case does not count: of players with several
 * cards with parallel and number, such as `9_gold_012.png`, so that they sort by them.
 */
function pictureNames(images: Image[], naming: PictureNaming): Map<Image, string> {
  const taken = new Set<string>();
  const names = new Map<Image, string>();
  const called = (image: Image) => (naming === "player" && numberAndName(image)) || image.externalId;
  const ofPlayers = Map.groupBy(images, called);
  for (const image of images) {
    const isOnly = ofPlayers.get(called(image))?.length === 1;
    const stem = fileName(called(image), isOnly ? "" : setSuffix(readSetPlace(image.setPlace))) || image.id;
    const type = typeOf(image);
    const isTaken = [stem + type, backName(stem + type)].some((one) => taken.has(one.toLowerCase()));
    const name = isTaken ? `${stem}-${image.id}${type}` : stem + type;
    for (const one of [name, backName(name)]) taken.add(one.toLowerCase());
    names.set(image, name);
  }
  return names;
}

/** Such as `07 Maya Okafor`, so that a squad sorts by its shirts; empty for a deleted card. */
function numberAndName(image: Image): string {
  const { name, number } = playerOf(image);
  return [number?.padStart(2, "0"), name].filter(Boolean).join(" ");
}

/** The request is JSON from the database, so nothing is assumed about it. */
function playerOf({ request }: Pick<Image, "request">): { name: string; number: string | undefined } {
  const { player } = (request ?? {}) as { player?: { name?: unknown; number?: unknown } };
  return {
    name: typeof player?.name === "string" ? player.name : "",
    number: typeof player?.number === "number" ? String(player.number) : undefined,
  };
}

const COLUMNS = [
  "external_id",
  "image_id",
  "status",
  "file",
  "message",
  "reason",
  "hint",
  "parallel",
  "serial",
  "size",
  "name",
  "number",
];

function setSuffix(place: SetPlace | null): string {
  if (!place) return "";
  const digits = String(place.size ?? MAX_PARALLEL_SIZE).length;
  return `_${place.parallel}${place.serial === null ? "" : `_${String(place.serial).padStart(digits, "0")}`}`;
}

function table(images: Image[], names: Map<Image, string>, present: Set<Image>): string {
  const placed = images.map((image) => ({ image, place: setOf(image).set }));
  const rows = placed.map(({ image, place }) => [
    image.externalId,
    image.id,
    image.forgottenAt === null ? publicStatus(image.state) : "deleted",
    present.has(image) ? (names.get(image) ?? "") : "",
    image.forgottenAt === null ? (image.failureMessage ?? "") : "",
    image.forgottenAt === null ? (image.failureReason ?? "") : "",
    image.forgottenAt === null ? (hintFor(image.failureReason) ?? "") : "",
    place?.parallel ?? "",
    String(place?.serial ?? ""),
    String(place?.size ?? ""),
    playerOf(image).name,
    playerOf(image).number ?? "",
  ]);
  return [COLUMNS, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n");
}
