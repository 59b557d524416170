import { previewCard } from "../../app/batches/preview-card.ts";
import type { SetPlace } from "../../core/card-set.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_LIST_PREVIEWS_PER_DAY } from "../../core/list-limits.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { withoutFields } from "../card-words.ts";
import { count } from "../elements.tsx";
import { logFault } from "../page-error.ts";
import type { MemberVisit } from "../visit.ts";
import type { Preview } from "./list-store.ts";

/**
 * Draws a card's preview; nothing when no renderer had time for it. Those of less than full width count among
 * the account's of a day. Never rejects. `ifFaulty`: what to do where it fails by our fault.
 */
export async function drawPreview(
  visit: MemberVisit,
  request: CreateImageRequest,
  { widthPx, place, ifFaulty }: { widthPx?: number; place?: SetPlace; ifFaulty: string },
): Promise<Preview | undefined> {
  const { deps, account, lists } = visit;
  try {
    if (widthPx !== undefined && !(await lists.mayPreview(account.id)))
      return {
        problem: `That was the last of today's ${count(MAX_LIST_PREVIEWS_PER_DAY)} previews. The card can be made all the same.`,
      };
    const size = { ...(widthPx !== undefined && { widthPx }), ...(place && { place }) };
    const bytes = await previewCard(deps, account, request, size);
    return { picture: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    if (isPartnerRefusal(error) && error.code === "SERVICE_OVERLOADED") return undefined;
    if (isPartnerRefusal(error))
      return {
        problem: withoutFields(error.message),
        ...(error.code === "UNSUPPORTED_IMAGE_SOURCE" && { refused: true }),
        ...(error.reason === "several_people" && { severalPeople: true }),
      };
    logFault(visit, error);
    return { problem: `It could not be drawn, which is our fault. ${ifFaulty}` };
  }
}
