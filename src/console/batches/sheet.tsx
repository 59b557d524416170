/** @jsxImportSource preact */
import { picturesZip } from "../../app/batches/batch-zip.ts";
import { type OutlivedConsent, outlivedConsents } from "../../app/people/consent.ts";
import { needsOtherPhoto } from "../../core/failure-reasons.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { type Batch, imagesOfBatch } from "../../store/images/batches.ts";
import { currentCards } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import { historyPath } from "../cards/image.tsx";
import { isThere, placeText, playerName, StatusBadge } from "../cards/image-parts.tsx";
import { Badge, Breakable, Card, counted, Empty, PageHead, Segments } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { zipFile, zipText } from "./batch.tsx";
import { batchName } from "./batches.tsx";
import { ownBatch } from "./own-batch.ts";
import { OutlivedBadge, otherPhotoPath } from "./sheet-card.tsx";

/** A player of the sheet: the batch's own card, and the one that is shown. */
interface SheetEntry {
  own: Image;
  image: Image;
}

/**
 * The batch's players in their order, each with the newest finished card of theirs, whichever batch or
 * request made it; those without one, and cards of sets, with the batch's own.
 */
async function currentOf(visit: MemberVisit, batch: Batch): Promise<SheetEntry[]> {
  const entries = await ownOf(visit, batch);
  const current = await currentCards(
    visit.deps.store.read,
    { accountId: visit.account.id, environment: batch.environment },
    entries.map(({ own }) => own.externalId),
  );
  // A card of a set has a number of its own, which no other card of the player stands for.
  return entries.map(({ own }) => ({
    own,
    image: own.setPlace === null ? (current.get(own.externalId) ?? own) : own,
  }));
}

async function ownOf({ deps }: MemberVisit, batch: Batch): Promise<SheetEntry[]> {
  const images = await imagesOfBatch(deps.store.read, batch.id);
  return images.filter(({ forgottenAt }) => forgottenAt === null).map((image) => ({ own: image, image }));
}

/** The words under a card. */
function caption(image: Image): string {
  const { player } = image.request as CreateImageRequest;
  const place = placeText(image);
  return `No. ${player.number}, ${player.position}, ${player.skill_level}${place ? `, ${place}` : ""}`;
}

function Entry({
  entry: { own, image },
  outlived,
  batchId,
}: {
  entry: SheetEntry;
  outlived: OutlivedConsent | undefined;
  /** Where another photo may be chosen for it; undefined for who only looks. */
  batchId: string | undefined;
}) {
  return (
    <li>
      {isThere(image) ? (
        // Not loaded lazily: what is below the window is printed too.
        <img
          class="thumb"
          src={`/console/images/${image.id}/thumb`}
          alt={`The card of ${playerName(image)}`}
          width={360}
          height={450}
        />
      ) : (
        <span class="thumb">
          <StatusBadge image={image} />
        </span>
      )}
      <a href={historyPath(image)}>
        <Breakable text={playerName(image)} />
      </a>
      <span class="sub">{caption(image)}</span>
      {image.createdAt > own.createdAt && <Badge tone="good">Newer card</Badge>}
      {image.createdAt < own.createdAt && <Badge tone="warn">Earlier card</Badge>}
      <OutlivedBadge outlived={outlived} />
      {batchId && own.state === "failed" && needsOtherPhoto(own.failureReason) && (
        <a class="button button-small tile-action" href={otherPhotoPath(own, batchId)}>
          Choose another photo
          <span class="visually-hidden"> of {playerName(own)}</span>
        </a>
      )}
    </li>
  );
}

async function sheetPage(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const isOwn = visit.query.get("show") === "batch";
  const entries = await (isOwn ? ownOf(visit, batch) : currentOf(visit, batch));
  const shown = entries.map(({ image }) => image);
  const outlived = await outlivedConsents(visit.deps.store.read, visit.account.id, shown, visit.now);
  const path = `/console/batches/${batch.id}`;
  return shell(
    visit,
    `${batchName(batch)}, contact sheet`,
    <>
      <PageHead
        title={batchName(batch)}
        lead={
          isOwn
            ? `The ${counted(entries.length, "card")} made with this squad.`
            : `The current card of ${counted(entries.length, "player")}: the newest there is, whatever made it.`
        }
      >
        <a class="button" href={`${path}/${isOwn ? "pictures" : "current"}.zip`}>
          {zipText(shown.filter(isThere).length, shown.length)}
        </a>
        <button type="button" class="button" data-prints hidden>
          Print
        </button>
        <a class="button" href={path}>
          Back to the squad
        </a>
      </PageHead>
      <div class="toolbar">
        <Segments
          label="Cards"
          choices={[
            { label: "Current cards", href: `${path}/sheet`, current: !isOwn },
            { label: "As made", href: `${path}/sheet?show=batch`, current: isOwn },
          ]}
        />
      </div>
      {entries.length === 0 ? (
        <Card>
          <Empty title="No cards">Every card of this squad was deleted.</Empty>
        </Card>
      ) : (
        <ul class="contact">
          {entries.map((entry) => (
            <Entry
              key={entry.image.id}
              entry={entry}
              outlived={outlived.get(entry.image.id)}
              batchId={canWrite(visit) ? batch.id : undefined}
            />
          ))}
        </ul>
      )}
    </>,
    { wide: true },
  );
}

async function currentZip(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const entries = await currentOf(visit, batch);
  const zip = picturesZip(
    visit.deps,
    entries.map(({ image }) => image),
    visit.now,
    "player",
  );
  return zipFile(visit, zip, `${batchName(batch)} current`, `${batch.id}-current`);
}

export const sheetRoutes = [
  member.get("/console/batches/:id/sheet", sheetPage),
  member.get("/console/batches/:id/current.zip", currentZip),
];
