/** @jsxImportSource preact */
import { checkCard } from "../../app/images/check-card.ts";
import { withoutPhoto } from "../../app/images/gone-photos.ts";
import { readSetPlace } from "../../core/card-set.ts";
import { type ErrorDetail, Refusal } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import { storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { isMoving } from "../../core/moving-pictures.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, type PrintSizeName, printSizeLabel } from "../../core/print-sizes.ts";
import { PRINTER_NAMES, printerOf } from "../../core/printers.ts";
import { changedRequest } from "../../core/remake-request.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { hasFoil } from "../../templates/load.ts";
import { playerName } from "../cards/image-parts.tsx";
import {
  addNewPhoto,
  newPhotoThumb,
  type Photoless,
  PLAN_PART,
  stillPhotoless,
} from "../cards/photoless.tsx";
import { count, counted, Field, PostForm } from "../elements.tsx";
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

/** What can be made for print of a batch. */
interface PrintPlan {
  /** Its finished cards whose player is not deleted, but those for which another photo is needed first. */
  images: Image[];
  photoless: Photoless[];
}

/** What is made of a batch's cards; those whose uploaded photo is gone need another one. */
export async function printPlan(visit: MemberVisit, batch: Batch, all: Image[]): Promise<PrintPlan> {
  const { deps, account, newPhotos } = visit;
  const finished = all.filter(({ state, forgottenAt }) => state === "completed" && forgottenAt === null);
  const scope = { accountId: account.id, environment: batch.environment };
  const gone = await withoutPhoto(deps, scope, finished);
  const photoless = new Map<string, Photoless>();
  for (const image of finished) {
    const { externalId } = image;
    if (!gone.has(image.id) || photoless.has(externalId)) continue;
    const { number } = storedRequest(image.request).player;
    const photo = await newPhotos.get(visit, { ownerId: batch.id, externalId });
    photoless.set(externalId, { externalId, name: playerName(image), number: String(number), photo });
  }
  const isLeftOut = ({ id, externalId }: Image) => gone.has(id) && !photoless.get(externalId)?.photo;
  return { images: finished.filter((image) => !isLeftOut(image)), photoless: [...photoless.values()] };
}

/** The form's field that says how many players are left out. */
const LEFT_OUT = "left_out";

/**
 * Makes a batch's finished cards in a size with bleed, where they have none, beside the batch; nothing for
 * users who may not, and while the batch is in the making.
 */
export function MakeForPrint({
  visit,
  batch,
  plan: { images, photoless },
  hasFoil,
}: {
  visit: MemberVisit;
  batch: Batch;
  plan: PrintPlan;
  hasFoil: boolean;
}) {
  const cards = images.length;
  const leftOut = stillPhotoless(photoless).length;
  if (!canWrite(visit) || isRunning(batch) || cards + leftOut === 0) return null;
  return (
    <PostForm visit={visit} action={`/console/batches/${batch.id}/for-print`} class="form">
      <PrintSizeField name="size" />
      {hasFoil && (
        <label class="check">
          <input name="foil" type="checkbox" value="true" /> A plate of foil too, for printers who foil cards
        </label>
      )}
      <div class="form" id={PLAN_PART}>
        {cards === 0 ? (
          <p>Every card needs another photo first.</p>
        ) : (
          <>
            <p>
              They become a squad of their own beside this one, whose cards, ZIP and contact sheet stay as
              they are.
              {areNumbered(images) && " Cards of a set keep their numbers and take no more of them."}{" "}
              {batch.environment === "live"
                ? `Making them again costs up to ${counted(cards, "credit")}; the print file itself is free.`
                : "Test cards are free."}
            </p>
            {leftOut > 0 && (
              <label class="check">
                <input name={LEFT_OUT} type="checkbox" value={leftOut} required /> Leave out the{" "}
                {counted(leftOut, "player")} who {leftOut === 1 ? "needs" : "need"} another photo
              </label>
            )}
            <div class="actions">
              <button type="submit" class="button button-primary">
                Make {counted(cards, "card")} for print
              </button>
            </div>
          </>
        )}
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

/** Names this many players in a refusal; the page has all of them. */
const MAX_NAMED = 5;

/** Throws unless the form leaves out just those who need another photo. */
function checkLeftOut(visit: MemberVisit, { images, photoless }: PrintPlan): void {
  const left = stillPhotoless(photoless);
  if ((field(visit, LEFT_OUT) || "0") === String(left.length) && images.length > 0) return;
  const names = left.slice(0, MAX_NAMED).map(({ name }) => name);
  if (left.length > MAX_NAMED) names.push(`${count(left.length - MAX_NAMED)} more`);
  throw new Refusal(
    "INVALID_REQUEST",
    left.length === 0
      ? "The cards to make have changed meanwhile. Look at them again."
      : `Nothing is made yet: the uploaded photos of ${names.join(", ")} are gone. Add others below, or tick that these players are left out.`,
  );
}

/** The finished cards in a size for print; those of one player may differ in their presets. */
async function cardsInSize(visit: MemberVisit, batch: Batch, size: PrintSizeName): Promise<PrintCard[]> {
  const { deps } = visit;
  const plan = await printPlan(visit, batch, await imagesOfBatch(deps.store.read, batch.id));
  checkLeftOut(visit, plan);
  const { images } = plan;
  const photos = new Map(plan.photoless.map(({ externalId, photo }) => [externalId, photo]));
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
    const photo = photos.get(image.externalId);
    const player = photo && { source_image_url: uploadUrl(deps.config, photo.id) };
    const changed = changedRequest(before, { style, ...(player && { player }) });
    // What was allowed then may not be now, such as a preset that is not listed any more.
    const checked = await checkCard(changed, deps.config, deps.templates);
    for (const { field, message } of checked.details ?? [])
      details.push({ field: `${playerName(image)}: ${field}`, message });
    const { request } = checked;
    if (request) cards.set(request.set ? image.id : fingerprintOf(request), { image, request });
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

/** Keeps a photo for a player whose earlier one is gone. */
async function addPhoto(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const { photoless } = await printPlan(visit, batch, await imagesOfBatch(visit.deps.store.read, batch.id));
  return addNewPhoto(visit, { owner: batch, players: photoless }, `/console/batches/${batch.id}/print`);
}

export const forPrintRoutes = [
  member.post("/console/batches/:id/for-print", makeForPrint),
  member.upload("/console/batches/:id/for-print/photos", MAX_UPLOAD_BODY_BYTES, addPhoto),
  member.get("/console/batches/:id/for-print/photo", newPhotoThumb),
];
