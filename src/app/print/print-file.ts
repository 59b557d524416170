import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { storedRequest } from "../../core/image-request.ts";
import { publicStatus } from "../../core/image-state.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { PDF } from "../../core/picture-formats.ts";
import {
  PRINT_SIZES,
  type PrintSize,
  type PrintSizeName,
  printSizeOf,
  printSizesInPixels,
} from "../../core/print-sizes.ts";
import { streamed } from "../../core/streamed.ts";
import { FOIL_WITHIN_BYTES, foilPlateOf, hasFoilPlate } from "../../render/card/formats/foil-plate.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { BUILD } from "../../version.ts";
import type { AppContext } from "../context.ts";
import { isVideo } from "../images/output-name.ts";
import { rgbFace, sideOfPdf } from "./card-pdf.ts";
import type { CmykProcess, Press } from "./cmyk-process.ts";
import { type Face, facePage, gridOf, type Sheet, sheetPage } from "./imposition.ts";
import { type Page, pdfOf } from "./pdf.ts";
import { type PrintRequest, type PrintWishes, printWishes } from "./print-request.ts";
import { takePrintSlot } from "./print-slots.ts";

export interface PrintDeps extends AppContext {
  blobs: Blobs;
  /** Where the operator named its profile. */
  press: Press | undefined;
}

/** So many are named where some cannot be printed. */
const NAMED = 5;

/** What is printed: a batch with all of its cards, or one card. */
export interface Printed {
  field: "batch_id" | "image_id";
  id: string;
  accountId: string;
  /** What programs that show the file call it. */
  title: string;
  images: Image[];
}

export const printedBatch = async ({ store }: Pick<AppContext, "store">, batch: Batch): Promise<Printed> => ({
  field: "batch_id",
  id: batch.id,
  accountId: batch.accountId,
  title: batch.name || batch.id,
  images: await imagesOfBatch(store.read, batch.id),
});

export const printedImage = (image: Image): Printed => ({
  field: "image_id",
  id: image.id,
  accountId: image.accountId,
  title: image.externalId,
  images: [image],
});

/**
 * Cards as one PDF file for a printer, in their order, written while it is read. All must be of one print
 * size, since their pictures hold the bleed that is cut off. Throws when too many are being written.
 * @param onPicture is called after each picture of the file
 */
export async function printFile(
  { blobs, press, log }: Pick<PrintDeps, "blobs" | "press" | "log">,
  { field, id, accountId, title, images }: Printed,
  asked: PrintRequest,
  onPicture: (done: number, all: number) => void = () => {},
): Promise<ReadableStream<Uint8Array>> {
  const { cards, size } = printable(images);
  const video = cards.find(isVideo);
  if (video) throw invalidRequest([{ field, message: noVideo(video) }]);
  const { wishes, details } = printWishes(asked, { press, size });
  const isShort = cards.length < images.length && !asked.incomplete;
  if (isShort && field === "batch_id") details.push(missing(images, cards));
  if (size === undefined) details.push({ field, message: wrongSize(field, images, cards) });
  if (details.length > 0 || size === undefined) throw invalidRequest(details);
  if (wishes.foil !== undefined && !(await areFoiled(blobs, cards))) throw invalidRequest([NO_FOIL]);
  const giveBack = takePrintSlot(accountId);
  const file = written({ blobs, press, onPicture }, { title, cards, size: PRINT_SIZES[size] }, wishes);
  return streamed(file, (fault) => {
    giveBack();
    // The reader sees a broken connection and nothing else: the answer has begun.
    if (fault !== undefined) log.warn("print_cut_off", { [field]: id, error: String(fault) });
  });
}

/** The file piece by piece. The process for inks is taken when somebody reads, and given back at any end. */
async function* written(
  {
    blobs,
    press,
    onPicture,
  }: Pick<PrintDeps, "blobs" | "press"> & { onPicture: (done: number, all: number) => void },
  { title, cards, size }: { title: string; cards: Image[]; size: PrintSize },
  wishes: PrintWishes,
): AsyncGenerator<Uint8Array> {
  const { sheet, colour, standard, foil } = wishes;
  const inks = colour === "cmyk" ? press : undefined;
  const id = new Bun.CryptoHasher("sha256").update(
    JSON.stringify([wishes, cards.map(({ outputName, backOutputName }) => [outputName, backOutputName])]),
  );
  if (inks) id.update(inks.profile);
  const cmyk = await inks?.use();
  try {
    const all = cards.reduce((sum, card) => sum + (keptSides(card).back ? 2 : 1), 0);
    let done = 0;
    const faceOf = async (side: KeptSide) => {
      const made = await decoding.add(() => face(blobs, side, wishes, cmyk));
      done += 1;
      onPicture(done, all);
      return made;
    };
    const pages = sheet
      ? sheets(faceOf, cards, size, { ...wishes, sheet })
      : deck(faceOf, cards, size, wishes);
    yield* pdfOf(pages, {
      title,
      producer: `cardpress ${BUILD}`,
      createdAt: Math.max(...cards.map(({ completedAt }) => completedAt ?? 0)),
      id: id.digest("hex").slice(0, 32),
      foil,
      ...(inks && cmyk && { intent: { profile: inks.profile, name: cmyk.name, standard } }),
    });
  } finally {
    cmyk?.close();
  }
}

const noVideo = ({ id }: Image) =>
  `must be without videos, as ${id} is one. Make that card again with the \`style.format\` \`png\`.`;

/** The cards with a picture, and their print size when all have the same. */
export function printable(images: Image[]): { cards: Image[]; size: PrintSizeName | undefined } {
  const cards = images.filter(
    (image) => image.outputName !== null && image.purgedAt === null && image.forgottenAt === null,
  );
  const sizes = new Set(cards.map((card) => printSizeOf(sidesOf(card))));
  const [size] = sizes;
  return { cards, size: sizes.size === 1 && !cards.some(isVideo) ? size : undefined };
}

const NO_FOIL: ErrorDetail = {
  field: "foil",
  message:
    "must be left out: no card has a plate of foil. Make the cards with `style.foil`, as PNG in a size for print and with a preset that `GET /v1/presets` lists with `foil`.",
};

/** Whether one of them has a plate of foil. Reads no further than the first that has. */
export async function areFoiled(blobs: Blobs, cards: readonly Image[]): Promise<boolean> {
  for (const { outputName, backOutputName } of cards)
    for (const name of [outputName, backOutputName]) {
      const picture = name === null ? null : await blobs.open("picture", name);
      if (picture && hasFoilPlate(await picture.slice(0, FOIL_WITHIN_BYTES).bytes())) return true;
    }
  return false;
}

function missing(images: Image[], cards: Image[]): ErrorDetail {
  const without = images.filter((image) => !cards.includes(image));
  const named = without
    .slice(0, NAMED)
    .map(({ id, state }) => `${id} (${publicStatus(state)})`)
    .join(", ");
  const more = without.length > NAMED ? `, and ${without.length - NAMED} more` : "";
  return {
    field: "incomplete",
    message: `must be true to print without ${without.length} of ${images.length} cards, which have no picture: ${named}${more}.`,
  };
}

function wrongSize(field: Printed["field"], [image]: Image[], cards: Image[]): string {
  const isBatch = field === "batch_id";
  if (cards.length === 0 && isBatch) return "is of a batch without a picture.";
  if (cards.length === 0)
    return `is of an image without a picture: ${image?.purgedAt === null ? `it is ${publicStatus(image.state)}` : "it has expired"}.`;
  const found = [...new Set(cards.map(sidesOf).map(({ width, height }) => `${width}x${height}`))];
  const pixels = `${found.slice(0, NAMED).join(", ")} pixels`;
  const [those, needed] = isBatch
    ? [`a batch whose pictures have ${pixels}`, "one size with bleed for all: create the cards"]
    : [`an image whose picture has ${pixels}`, "a size with bleed: create the card"];
  return `is of ${those}. A print file needs ${needed} with \`style.width\` and \`style.height\` of ${printSizesInPixels()}, or the other way round.`;
}

const sidesOf = ({ outputWidth, outputHeight }: Image) => ({
  width: outputWidth ?? 0,
  height: outputHeight ?? 0,
});

/** A page for every side of every card. */
async function* deck(
  faceOf: FaceOf,
  cards: Image[],
  size: PrintSize,
  { marks, order }: PrintWishes,
): AsyncGenerator<Page> {
  for (const card of cards) {
    const { front, back } = keptSides(card);
    for (const side of order === "front_first" ? [front, back] : [back, front])
      if (side) yield facePage(await faceOf(side), size, { marks });
  }
}

/** Sheets of fronts, each followed by the sheet of their backs where one of them has a back. */
async function* sheets(
  faceOf: FaceOf,
  cards: Image[],
  size: PrintSize,
  { sheet, marks, order }: PrintWishes & { sheet: Sheet },
): AsyncGenerator<Page> {
  const { columns, rows } = gridOf(size, sheet);
  const places = columns * rows;
  for (let at = 0; at < cards.length; at += places) {
    const on = cards.slice(at, at + places);
    const hasBacks = on.some((card) => keptSides(card).back);
    const sides = hasBacks ? (["front", "back"] as const) : (["front"] as const);
    for (const side of order === "front_first" ? sides : sides.toReversed()) {
      const kept = on.map((card) => keptSides(card)[side]);
      const faces = await Promise.all(kept.map((one) => one && faceOf(one)));
      yield sheetPage(faces, size, { sheet, marks, side });
    }
  }
}

/** Decoding keeps a processor busy, which cards need too: of all print files so many at a time. */
const decoding = new PQueue({ concurrency: 2 });

/** Where a side of a finished card is kept. */
interface KeptSide {
  name: string;
  /** Which page it is of a PDF; null: the file is its picture. */
  page: "front" | "back" | null;
}

/** Both sides of a finished card: of two pictures, or of one PDF. */
function keptSides(card: Image): { front: KeptSide | null; back: KeptSide | null } {
  const { outputName, outputContentType, backOutputName } = card;
  if (outputName !== null && outputContentType === PDF) {
    const hasBack = storedRequest(card.request).style.back === true;
    const [front, back] = [
      { name: outputName, page: "front" },
      { name: outputName, page: "back" },
    ] as const;
    return { front, back: hasBack ? back : null };
  }
  const kept = (name: string | null) => (name === null ? null : { name, page: null });
  return { front: kept(outputName), back: kept(backOutputName) };
}

type FaceOf = (side: KeptSide) => Promise<Face>;

/** A kept picture as PDF shows it. It may have gone since the file was begun. */
async function face(
  blobs: Blobs,
  { name, page }: KeptSide,
  { inkLimit, foil: foilName }: PrintWishes,
  cmyk: CmykProcess | undefined,
): Promise<Face> {
  const picture = await blobs.open("picture", name);
  if (!picture) throw new Error("a picture was deleted while it was printed");
  const file = await picture.bytes();
  const kept = page === null ? file : sideOfPdf(file, page);
  if (!kept) throw new Error(`the ${page} is not in the card's PDF`);
  const foil = foilName === undefined ? null : foilPlateOf(kept);
  if (cmyk) {
    const { jpeg, ...sides } = await cmyk.convert(kept, inkLimit);
    return { ...sides, bytes: jpeg, colour: "cmyk", foil };
  }
  return { ...(await rgbFace(kept)), foil };
}
