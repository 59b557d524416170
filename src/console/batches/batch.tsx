/** @jsxImportSource preact */
import { batchStatus } from "../../app/batches/batch-view.ts";
import { batchZip } from "../../app/batches/batch-zip.ts";
import { cancelBatch } from "../../app/batches/cancel-batch.ts";
import { logAction } from "../../app/operations/activity.ts";
import { outlivedConsents } from "../../app/people/consent.ts";
import { attachment } from "../../core/file-name.ts";
import { IMAGE_STATES, type ImageState, UNFINISHED_STATES } from "../../core/image-state.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { changesOfBatch, failuresOfBatch } from "../../store/images/batch-places.ts";
import { type Batch, batchImages } from "../../store/images/batches.ts";
import { isOpen, playerName } from "../cards/image-parts.tsx";
import {
  Card,
  Confirm,
  count,
  counted,
  Empty,
  EnvironmentBadge,
  PageHead,
  Pager,
  refreshing,
  Segments,
  Stat,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { faultsOf } from "../outcomes.ts";
import { privateFile, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { BatchBadge, batchName, isRunning } from "./batches.tsx";
import { type CountedBatch, countedBatch, ownBatch } from "./own-batch.ts";
import { printLinks } from "./print-batches.tsx";
import { FailedChanges, Retries, type RetriesProps, retryRoutes } from "./retries.tsx";
import { SheetCard } from "./sheet-card.tsx";
import { backToList } from "./waiting-lists.tsx";

/** A page can be scanned at a glance, and refreshes itself every second while cards are being made. */
const SHEET_SIZE = 60;

const SHOWS: Record<
  string,
  {
    label: string;
    states: readonly ImageState[];
    canceled?: boolean;
    changes?: boolean;
    size: (batch: CountedBatch) => number;
  }
> = {
  all: { label: "All", states: IMAGE_STATES, size: ({ total }) => total },
  completed: { label: "Completed", states: ["completed"], size: ({ completed }) => completed },
  failed: { label: "Failed", states: ["failed"], canceled: false, size: faultsOf },
  canceled: { label: "Canceled", states: ["failed"], canceled: true, size: ({ canceled }) => canceled },
  open: {
    label: "In the making",
    states: UNFINISHED_STATES,
    // A card that is being changed counts as one in the making: this is what is made of it.
    changes: true,
    size: ({ total, completed, failed, changing }) => total - completed - failed + changing,
  },
};

/** How long the rest will take at the pace so far; null before there is one. */
export function timeLeft(
  { total, completed, failed, createdAt }: Pick<Batch, "total" | "completed" | "failed" | "createdAt">,
  now: number,
): string | null {
  const ended = completed + failed;
  if (ended === 0) return null;
  const minutes = ((now - createdAt) / ended / MINUTE_MS) * (total - ended);
  if (minutes < 1) return "less than a minute left";
  if (minutes < 90) return `about ${counted(Math.round(minutes), "minute")} left`;
  return `about ${counted(Math.round(minutes / 60), "hour")} left`;
}

function Progress({ batch, now }: { batch: CountedBatch; now: number }) {
  const { total, completed, failed, changing } = batch;
  const ended = completed + failed - changing;
  const percent = Math.floor((ended / total) * 100);
  return (
    <Card>
      <dl class="stats">
        <Stat label="Cards" value={count(total)} />
        <Stat label="Completed" value={<span class="key-completed">{count(completed)}</span>} />
        <Stat label="Failed" value={<span class="key-failed">{count(faultsOf(batch))}</span>} />
        {batch.canceled > 0 && <Stat label="Canceled" value={count(batch.canceled)} />}
        {changing > 0 && <Stat label="Being changed" value={count(changing)} />}
        <Stat label="In the making" value={count(total - completed - failed)} />
      </dl>
      {isRunning(batch) && (
        <p class="progress-line batch-progress">
          <progress max={total} value={ended} aria-label="Progress of the squad">{`${percent} %`}</progress>
          <span class="note">
            {percent} %,{" "}
            {timeLeft({ ...batch, completed: completed - changing }, now) ??
              "the time left shows with the first card"}
          </span>
        </p>
      )}
    </Card>
  );
}

async function batchPage(visit: MemberVisit): Promise<Response> {
  const found = await ownBatch(visit);
  const { query, deps, account, now } = visit;
  const [changes, failures] = await Promise.all([
    changesOfBatch(deps.store.read, found.id),
    failuresOfBatch(deps.store.read, found.id),
  ]);
  const batch = countedBatch(found, [...changes.values()].filter(isOpen).length);
  const shown = Object.keys(SHOWS).find((name) => name === query.get("show")) ?? "all";
  const { states = IMAGE_STATES, canceled, changes: withChanges } = SHOWS[shown] ?? {};
  const page = Math.max(1, Math.min(Number.parseInt(query.get("page") ?? "1", 10) || 1, 1_000));
  const rows = await batchImages(deps.store.read, {
    batchId: batch.id,
    states,
    canceled,
    changes: withChanges,
    offset: (page - 1) * SHEET_SIZE,
    limit: SHEET_SIZE + 1,
  });
  const images = rows.slice(0, SHEET_SIZE);
  const kept = images.filter(({ forgottenAt }) => forgottenAt === null);
  const outlived = await outlivedConsents(deps.store.read, account.id, kept, now);
  const failedChanges = [...changes.values()].filter(({ state }) => state === "failed");
  const address = (change: { show?: string; page?: number } = {}) => {
    const { show = shown, page: at = 1 } = change;
    const text = new URLSearchParams({
      ...(show === "all" ? {} : { show }),
      ...(at > 1 ? { page: String(at) } : {}),
    }).toString();
    return `/console/batches/${batch.id}${text === "" ? "" : `?${text}`}`;
  };
  return shell(
    visit,
    batchName(batch),
    <div class="stack" {...refreshing(visit, "batch", isRunning(batch))}>
      <Head visit={visit} batch={batch} failures={failures} failedChanges={failedChanges} />
      {await Missing({ visit, batch })}
      {batch.environment === "test" && (await backToList(visit, batch.id))}
      {await printLinks(visit, found)}
      <FailedChanges failed={failedChanges} batchId={batch.id} canWrite={canWrite(visit)} />
      <Progress batch={batch} now={visit.now} />
      <div class="toolbar">
        <Segments
          label="Cards"
          choices={Object.entries(SHOWS)
            .filter(([name, { size }]) => name === "all" || name === shown || size(batch) > 0)
            .map(([name, { label, size }]) => ({
              label: `${label} ${count(size(batch))}`,
              href: address({ show: name }),
              current: name === shown,
            }))}
        />
      </div>
      {images.length === 0 ? (
        <Card>
          <Empty title="None of the cards">{`No card of this squad is here${shown === "all" ? "" : " any more"}.`}</Empty>
        </Card>
      ) : (
        <ul class="grid sheet">
          {images.map((image) => (
            <li key={image.id}>
              <SheetCard
                image={image}
                change={changes.get(image.id)}
                batchId={batch.id}
                outlived={outlived.get(image.id)}
                canWrite={canWrite(visit)}
              />
            </li>
          ))}
        </ul>
      )}
      <Pager
        newest={page > 1 && address({ page: page - 1 })}
        older={rows.length > SHEET_SIZE && address({ page: page + 1 })}
        labels={["Previous", "Next"]}
      />
    </div>,
    { wide: true },
  );
}

/** What a ZIP of a batch is called, and that it has not all cards. */
export const zipText = (cards: number, total: number): string =>
  cards === total ? "Download ZIP" : `ZIP of ${count(cards)} of ${counted(total, "card")}`;

/** More are counted. */
const MAX_NAMED_MISSING = 5;

/** Which cards a batch's ZIP has not, once there is one; each with the way to it. */
async function Missing({ visit, batch }: { visit: MemberVisit; batch: CountedBatch }) {
  const { id, total, completed, failed, changing } = batch;
  if (completed === 0 || completed === total) return null;
  const open = total - completed - failed + changing;
  const states = { batchId: id, states: ["failed"] as const, offset: 0, limit: MAX_NAMED_MISSING };
  const named = await batchImages(visit.deps.store.read, states);
  const more = failed - named.length;
  return (
    <p class="missing">
      Not in the ZIP:{" "}
      {named.map((image, at) => (
        <>
          {at > 0 && ", "}
          <a href={`/console/images/${image.id}?batch=${id}`}>
            {image.forgottenAt === null ? playerName(image) : "a deleted card"}
          </a>
        </>
      ))}
      {more > 0 && (
        <>
          {" and "}
          <a href={`/console/batches/${id}?show=failed`}>{count(more)} more</a>
        </>
      )}
      {open - changing > 0 && (
        <>
          {named.length > 0 && ", and "}
          <a href={`/console/batches/${id}?show=open`}>{count(open - changing)} in the making</a>
        </>
      )}
      .
    </p>
  );
}

function Head({ visit, batch, failures, failedChanges }: RetriesProps & { batch: CountedBatch }) {
  const open = batch.total - batch.completed - batch.failed + batch.changing;
  return (
    <PageHead
      title={batchName(batch)}
      lead={
        <>
          <BatchBadge batch={batch} /> <EnvironmentBadge environment={batch.environment} />{" "}
          <code>{batch.id}</code>
        </>
      }
    >
      {batch.completed > 0 && (
        <a class="button" href={`/console/batches/${batch.id}/pictures.zip`}>
          {zipText(batch.completed, batch.total)}
        </a>
      )}
      {batch.completed > 0 && (
        <a class="button" href={`/console/batches/${batch.id}/sheet`}>
          Contact sheet
        </a>
      )}
      {batch.completed > 0 && (
        <a class="button" href={`/console/batches/${batch.id}/print`}>
          Print file
        </a>
      )}
      {canWrite(visit) && batch.completed > 0 && (
        <a class="button" href={`/console/sets?from=${batch.id}#new`}>
          Make a set of them
        </a>
      )}
      <Retries visit={visit} batch={batch} failures={failures} failedChanges={failedChanges} />
      {canWrite(visit) && batchStatus(batch) === "processing" && (
        <Confirm
          visit={visit}
          id="cancel-batch"
          action={`/console/batches/${batch.id}/cancel`}
          button="Cancel"
          title="Stop making these cards?"
          confirm="Cancel the rest"
          small={false}
        >
          <p>
            {count(open)} {open === 1 ? "card is" : "cards are"} not finished. Those that nobody has begun are
            not made, and their credits come back. Finished cards stay.
          </p>
        </Confirm>
      )}
    </PageHead>
  );
}

async function cancel(visit: MemberVisit): Promise<Response> {
  const { id, environment } = await ownBatch(visit);
  const { deps, account, user, session } = visit;
  const { canceledAt } = await cancelBatch(deps, { accountId: account.id, environment, id });
  if (canceledAt !== null)
    await deps.store.write(
      "log cancel",
      (tx) =>
        logAction(
          tx,
          { by: user.id, accountId: account.id, action: "batch.canceled", subject: id },
          { ...deps, now: visit.now },
        ),
      { concurrent: true },
    );
  const notice =
    canceledAt === null
      ? "All its cards had ended already."
      : "The cards that nobody had begun are canceled.";
  await visit.flashes.put(session.id, { notice });
  return redirect(`/console/batches/${id}`, visit.exchange);
}

async function pictures(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  return zipFile(visit, await batchZip(visit.deps, batch, "player"), batchName(batch), batch.id);
}

/** A ZIP archive under a name that people gave; `plainName` stands in where nothing of it is plain. */
export const zipFile = (
  visit: MemberVisit,
  zip: ReadableStream<Uint8Array>,
  name: string,
  plainName: string,
): Response => namedFile(visit, zip, { name, plainName, extension: "zip" });

/** A file that is written while it is read, named as a ZIP archive is. */
export function namedFile(
  { exchange }: MemberVisit,
  parts: ReadableStream<Uint8Array>,
  { name, plainName, extension }: { name: string; plainName: string; extension: "zip" | "pdf" },
): Response {
  return privateFile(exchange, parts, {
    "Content-Type": `application/${extension}`,
    "Content-Disposition": attachment(name, plainName, extension),
  });
}

export const batchRoutes = [
  ...retryRoutes,
  member.get("/console/batches/:id", batchPage),
  member.get("/console/batches/:id/pictures.zip", pictures),
  member.post("/console/batches/:id/cancel", cancel),
];
