/** @jsxImportSource preact */
import { cardsToRemake } from "../../app/batches/changed-cards.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, printSizeLabel } from "../../core/print-sizes.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { takeFromBudget } from "../budget.ts";
import { counted, Field, PostForm } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { isRunning } from "./batches.tsx";
import { ownBatch } from "./own-batch.ts";

/** The finished cards of a batch whose player is not deleted. */
const finished = (images: Image[]) =>
  images.filter(({ state, forgottenAt }) => state === "completed" && forgottenAt === null);

/**
 * Makes a batch's finished cards again in a size with bleed, where they have none; nothing for whoever may
 * not, and while the batch is in the making.
 */
export function MakeForPrint({
  visit,
  batch,
  images,
}: {
  visit: MemberVisit;
  batch: Batch;
  images: Image[];
}) {
  // A player's cards are made again together, those that failed as well.
  const players = new Set(finished(images).map(({ externalId }) => externalId));
  const cards = images.filter(({ externalId }) => players.has(externalId)).length;
  if (!canWrite(visit) || isRunning(batch) || cards === 0) return null;
  return (
    <PostForm visit={visit} action={`/console/batches/${batch.id}/for-print`} class="form">
      <Field label="Size, once it is cut" id="print-size">
        <select id="print-size" name="size">
          {PRINT_SIZE_NAMES.map((name) => (
            <option key={name} value={name}>
              {printSizeLabel(name)}
            </option>
          ))}
        </select>
      </Field>
      <p>
        They take the places of those in the batch.{" "}
        {batch.environment === "live"
          ? `It costs up to ${counted(cards, "credit")}.`
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

/** A refusal, as without credits, is shown on the page that it was asked on. */
async function makeForPrint(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const { id: batchId, environment } = batch;
  const { deps, account, session } = visit;
  const size = PRINT_SIZE_NAMES.find((name) => name === field(visit, "size"));
  if (!size) throw notFound();
  try {
    await takeFromBudget(visit, environment);
    const images = finished(await imagesOfBatch(deps.store.read, batchId));
    const { short, long } = PRINT_SIZES[size].px;
    const cards = [...new Map(images.map((image) => [image.externalId, image])).values()].map(
      ({ externalId, outputWidth, outputHeight }) => {
        const isWide = (outputWidth ?? 0) > (outputHeight ?? 0);
        const style = isWide ? { width: long, height: short } : { width: short, height: long };
        return { external_id: externalId, style };
      },
    );
    const remade = await cardsToRemake(deps, batch, { cards });
    const { made } = await deps.remakeCards({ account, environment, batchId, cards: remade });
    const notice = `${counted(made, "card is", "cards are")} made again for print. The print file is ready when they are.`;
    await visit.flashes.put(session.id, { notice });
    return redirect(`/console/batches/${batchId}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail ? `${error.message} ${detail.field} ${detail.message}` : error.message;
    await visit.flashes.put(session.id, { problem });
    return redirect(`/console/batches/${batchId}/print`, visit.exchange);
  }
}

export const forPrintRoutes = [member.post("/console/batches/:id/for-print", makeForPrint)];
