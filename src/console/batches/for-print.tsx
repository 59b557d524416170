/** @jsxImportSource preact */
import { checkCard } from "../../app/images/check-card.ts";
import { readSetPlace } from "../../core/card-set.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { fingerprint } from "../../core/idempotency.ts";
import { storedRequest } from "../../core/image-request.ts";
import { isMoving } from "../../core/moving-pictures.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, type PrintSizeName, printSizeLabel } from "../../core/print-sizes.ts";
import { PRINTER_NAMES, printerOf } from "../../core/printers.ts";
import { changedRequest } from "../../core/remake-request.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { hasFoil } from "../../templates/load.ts";
import { playerName } from "../cards/image-parts.tsx";
import { counted, Field, PostForm } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { isRunning } from "./batches.tsx";
import { ownBatch } from "./own-batch.ts";
import { makePrintBatch, type PrintCard } from "./print-batches.tsx";

/** The printers whose rules are about this size alone. */
const printersOf = (size: PrintSizeName) =>
  PRINTER_NAMES.map(printerOf).flatMap((printer) =>
    printer.size === size ? [`as ${printer.name} takes it`] : [],
  );

/** The sizes of printed cards, to choose one. */
export function PrintSizeField({ name }: { name: string }) {
  return (
    <Field label="Size, once it is cut" id="print-size">
      <select id="print-size" name={name}>
        {PRINT_SIZE_NAMES.map((size) => (
          <option key={size} value={size}>
            {[printSizeLabel(size), ...printersOf(size)].join(", ")}
          </option>
        ))}
      </select>
    </Field>
  );
}

const moves = ({ request }: Image) => isMoving(storedRequest(request).style.format ?? "png");

/** What a card needs for print in a size, lying or standing as it does; one that moves becomes a still. */
export function printStyle(image: Image, size: PrintSizeName) {
  const { short, long } = PRINT_SIZES[size].px;
  const isWide = (image.outputWidth ?? 0) > (image.outputHeight ?? 0);
  const sides = isWide ? { width: long, height: short } : { width: short, height: long };
  return moves(image) ? { ...sides, format: "png" as const } : sides;
}

/** The finished cards of a batch whose player is not deleted. */
const finished = (images: Image[]) =>
  images.filter(({ state, forgottenAt }) => state === "completed" && forgottenAt === null);

/**
 * Makes a batch's finished cards in a size with bleed, where they have none, beside the batch; nothing for
 * whoever may not, and while the batch is in the making.
 */
export function MakeForPrint({
  visit,
  batch,
  images,
  hasFoil,
}: {
  visit: MemberVisit;
  batch: Batch;
  images: Image[];
  hasFoil: boolean;
}) {
  const cards = finished(images).length;
  if (!canWrite(visit) || isRunning(batch) || cards === 0) return null;
  return (
    <PostForm visit={visit} action={`/console/batches/${batch.id}/for-print`} class="form">
      <PrintSizeField name="size" />
      {hasFoil && (
        <label class="check">
          <input name="foil" type="checkbox" value="true" /> A plate of foil too, for printers who foil cards
        </label>
      )}
      <p>
        They become a batch of their own beside this one, whose cards, ZIP and contact sheet stay as they are.
        {areNumbered(images) && " Cards of a set keep their numbers and take no more of them."}{" "}
        {batch.environment === "live"
          ? `Making them again costs up to ${counted(cards, "credit")}; the print file itself is free.`
          : "Test cards are free."}
      </p>
      <div class="actions">
        <button type="submit" class="button button-primary">
          Make {counted(cards, "card")} for print
        </button>
      </div>
    </PostForm>
  );
}

const areNumbered = (images: Image[]) =>
  images.some(({ setPlace }) => (readSetPlace(setPlace)?.serial ?? null) !== null);

/** The presets of these cards that say where foil goes. */
export async function foiledPresets({ deps }: MemberVisit, images: Image[]): Promise<Set<string>> {
  const presets = new Set(images.map(({ request }) => storedRequest(request).style.preset));
  const foiled = new Set<string>();
  for (const preset of presets)
    if ((await deps.templates.has(preset)) && hasFoil(await deps.templates.current(preset)))
      foiled.add(preset);
  return foiled;
}

/** The finished cards in a size for print; those of one player may differ in their presets. */
async function cardsInSize(visit: MemberVisit, batch: Batch, size: PrintSizeName): Promise<PrintCard[]> {
  const { deps } = visit;
  const images = finished(await imagesOfBatch(deps.store.read, batch.id));
  const foiled = field(visit, "foil") === "true" ? await foiledPresets(visit, images) : new Set();
  const details: ErrorDetail[] = [];
  // A film and a picture of one player become the same still.
  const cards = new Map<string, PrintCard>();
  for (const image of images) {
    const before = storedRequest(image.request);
    const style = {
      ...printStyle(image, size),
      // No other format has room for it.
      ...(foiled.has(before.style.preset) && { foil: true, format: "png" as const }),
    };
    // What was allowed then may not be now, such as a preset that is not listed any more.
    const checked = await checkCard(changedRequest(before, { style }), deps.config, deps.templates);
    for (const { field, message } of checked.details ?? [])
      details.push({ field: `${playerName(image)}: ${field}`, message });
    const { request } = checked;
    if (request) cards.set(request.set ? image.id : fingerprint(request), { image, request });
  }
  if (details.length > 0) throw invalidRequest(details);
  return [...cards.values()];
}

async function makeForPrint(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const size = PRINT_SIZE_NAMES.find((name) => name === field(visit, "size"));
  if (!size) throw notFound();
  const made = await makePrintBatch(visit, batch, size, () => cardsInSize(visit, batch, size));
  return redirect(
    made ? `/console/batches/${made.id}` : `/console/batches/${batch.id}/print`,
    visit.exchange,
  );
}

export const forPrintRoutes = [member.post("/console/batches/:id/for-print", makeForPrint)];
