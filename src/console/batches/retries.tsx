/** @jsxImportSource preact */
import { cardsToRemake } from "../../app/batches/changed-cards.ts";
import { needsOtherPhoto } from "../../core/failure-reasons.ts";
import { isCanceled } from "../../core/image-state.ts";
import { changesOfBatch } from "../../store/images/batch-places.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { playerName } from "../cards/image-parts.tsx";
import { Confirm, count, counted, Notice } from "../elements.tsx";
import { redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { isRunning } from "./batches.tsx";
import { ownBatch } from "./own-batch.ts";
import { remakeInBatch } from "./remake.ts";
import { otherPhotoPath } from "./sheet-card.tsx";

/** Named one by one; of more, only their number is given. */
const MAX_NAMED_CHANGES = 5;

/** The changes of finished cards that failed: the previous cards stay. */
export function FailedChanges({
  failed,
  batchId,
  canWrite,
}: {
  failed: Image[];
  batchId: string;
  canWrite: boolean;
}) {
  if (failed.length === 0) return null;
  const more = failed.length - MAX_NAMED_CHANGES;
  return (
    <Notice
      tone="bad"
      title={`${counted(failed.length, "change")} failed: ${failed.length === 1 ? "the previous card stays" : "the previous cards stay"}`}
    >
      <ul>
        {failed.slice(0, MAX_NAMED_CHANGES).map((image) => (
          <li key={image.id}>
            <a href={`/console/images/${image.id}/again?batch=${batchId}`}>{playerName(image)}</a>:{" "}
            {isCanceled(image) ? "Canceled." : image.failureMessage}{" "}
            {canWrite && needsOtherPhoto(image.failureReason) && (
              <a href={otherPhotoPath(image, batchId)}>Choose another photo</a>
            )}
          </li>
        ))}
      </ul>
      {more > 0 && <p>And {counted(more, "more", "more")}.</p>}
    </Notice>
  );
}

export interface RetriesProps {
  visit: MemberVisit;
  batch: Batch;
  /** How many of its cards failed, by their reasons. */
  failures: ReadonlyMap<string, number>;
  /** Or canceled. */
  failedChanges: Image[];
}

/** Why another try of the same may succeed. */
const mayRetry = (reason: string | null) => reason !== "canceled" && !needsOtherPhoto(reason);

/**
 * Makes everything again that was canceled, or failed for something that may be otherwise now; nothing where
 * the batch may not be changed. Who needs another photo is not among them.
 */
export function Retries({ visit, batch, failures, failedChanges }: RetriesProps) {
  if (!canWrite(visit) || (batch.canceledAt !== null && isRunning(batch))) return null;
  const cards = [...failures].reduce((sum, [reason, n]) => sum + (mayRetry(reason) ? n : 0), 0);
  const changes = failedChanges.filter(({ failureReason }) => mayRetry(failureReason)).length;
  const retry = (what: "failed" | "canceled", cards: number) =>
    cards > 0 && (
      <Confirm
        visit={visit}
        id={`retry-${what}`}
        action={`/console/batches/${batch.id}/retry-${what}`}
        button={`Retry ${count(cards)} ${what}`}
        title={`Make ${counted(cards, `${what} card`)} again?`}
        confirm="Make them again"
        danger={false}
        small={false}
      >
        <p>
          Their photos are fetched again.{" "}
          {batch.environment === "live"
            ? `Up to ${counted(cards, "credit")} for what succeeds; a card that fails again costs nothing.`
            : "Test cards are free."}
        </p>
      </Confirm>
    );
  return (
    <>
      {retry("failed", cards + changes)}
      {retry("canceled", batch.canceled + failedChanges.filter(isCanceled).length)}
    </>
  );
}

/** The cards of a batch that only another photo helps. */
async function withUnfitPhotos({ deps }: MemberVisit, batchId: string): Promise<Set<string>> {
  const [images, changes] = await Promise.all([
    imagesOfBatch(deps.store.read, batchId),
    changesOfBatch(deps.store.read, batchId),
  ]);
  const last = ({ id, failureReason }: Image) => (changes.get(id) ?? { failureReason }).failureReason;
  return new Set(images.filter((image) => needsOtherPhoto(last(image))).map(({ id }) => id));
}

/** Makes what failed or was canceled again. */
async function retry(visit: MemberVisit, what: "failed" | "canceled"): Promise<Response> {
  const batch = await ownBatch(visit);
  const cards = async () => {
    const hopeless = await withUnfitPhotos(visit, batch.id);
    const asked = await cardsToRemake(visit.deps, batch, { [what]: true });
    return asked.filter(({ imageId }) => !hopeless.has(imageId));
  };
  await remakeInBatch(visit, batch, cards, (made) =>
    made > 0
      ? `${counted(made, "card is", "cards are")} made again.`
      : `No ${what} card is left that another try may help.`,
  );
  return redirect(`/console/batches/${batch.id}`, visit.exchange);
}

export const retryRoutes = [
  member.post("/console/batches/:id/retry-failed", (visit) => retry(visit, "failed")),
  member.post("/console/batches/:id/retry-canceled", (visit) => retry(visit, "canceled")),
];
