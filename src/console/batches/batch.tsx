/** @jsxImportSource preact */
import { batchStatus } from "../../app/batches/batch-view.ts";
import { batchZip } from "../../app/batches/batch-zip.ts";
import { cancelBatch } from "../../app/batches/cancel-batch.ts";
import { cardsToRemake } from "../../app/batches/changed-cards.ts";
import { logAction } from "../../app/operations/activity.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { IMAGE_STATES, type ImageState, isCanceled, UNFINISHED_STATES } from "../../core/image-state.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { changesOfBatch } from "../../store/images/batch-places.ts";
import { type Batch, batchImages, findBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { takeFromBudget } from "../budget.ts";
import { isOpen, placeText, playerName, StatusBadge, Thumb } from "../cards/image-parts.tsx";
import {
  Badge,
  Card,
  Confirm,
  count,
  counted,
  Empty,
  EnvironmentBadge,
  Notice,
  PageHead,
  Pager,
  refreshing,
  Segments,
  Stat,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { faultsOf } from "../outcomes.ts";
import { notFound } from "../page-error.ts";
import { privateFile, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { BatchBadge, batchName, isRunning } from "./batches.tsx";

/** The batch in the URL, in either environment of this account. Throws 404. */
export async function ownBatch({ deps, account, params }: MemberVisit): Promise<Batch> {
  for (const environment of ENVIRONMENTS) {
    const scope = { accountId: account.id, environment, id: params.id ?? "" };
    const batch = await findBatch(deps.store.read, scope);
    if (batch) return batch;
  }
  throw notFound();
}

/** A page can be scanned at a glance, and refreshes itself every second while cards are being made. */
const SHEET_SIZE = 60;

const SHOWS: Record<
  string,
  {
    label: string;
    states: readonly ImageState[];
    canceled?: boolean;
    changes?: boolean;
    size: (batch: Batch) => number;
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
    size: ({ total, completed, failed }) => total - completed - failed,
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

function Progress({ batch, now }: { batch: Batch; now: number }) {
  const { total, completed, failed } = batch;
  const ended = completed + failed;
  const percent = Math.floor((ended / total) * 100);
  return (
    <Card>
      <dl class="stats">
        <Stat label="Cards" value={count(total)} />
        <Stat label="Completed" value={<span class="key-completed">{count(completed)}</span>} />
        <Stat label="Failed" value={<span class="key-failed">{count(faultsOf(batch))}</span>} />
        {batch.canceled > 0 && <Stat label="Canceled" value={count(batch.canceled)} />}
        <Stat label="In the making" value={count(total - ended)} />
      </dl>
      {isRunning(batch) && (
        <p class="progress-line batch-progress">
          <progress max={total} value={ended} aria-label="Progress of the batch">{`${percent} %`}</progress>
          <span class="note">
            {percent} %, {timeLeft(batch, now) ?? "the time left shows with the first card"}
          </span>
        </p>
      )}
    </Card>
  );
}

/** One card of the contact sheet, and whether it is being changed. A deleted one keeps its place. */
function SheetCard({ image, change, batchId }: { image: Image; change: Image | undefined; batchId: string }) {
  if (image.forgottenAt !== null)
    return (
      <div class="tile">
        <span class="thumb">Deleted</span>
        <span class="tile-name">Deleted</span>
      </div>
    );
  return (
    <a href={`/console/images/${image.id}?batch=${batchId}`} class="tile">
      <Thumb image={image} />
      <span class="tile-name ellipsis">{playerName(image)}</span>
      <span class="tile-foot">
        <StatusBadge image={image} />
        {change && isOpen(change) && <Badge tone="busy">Being changed</Badge>}
        {change?.state === "failed" && <Badge tone="bad">Change failed</Badge>}
        <span class="ellipsis">{placeText(image) ?? image.externalId}</span>
      </span>
    </a>
  );
}

/** Named one by one; more are told by their number. */
const MAX_NAMED_CHANGES = 5;

/** The changes of finished cards that failed: the previous cards stay. */
function FailedChanges({ failed, batchId }: { failed: Image[]; batchId: string }) {
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
            {isCanceled(image) ? "Canceled." : image.failureMessage}
          </li>
        ))}
      </ul>
      {more > 0 && <p>And {counted(more, "more", "more")}.</p>}
    </Notice>
  );
}

async function batchPage(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  const { query, deps } = visit;
  const shown = Object.keys(SHOWS).find((name) => name === query.get("show")) ?? "all";
  const { states = IMAGE_STATES, canceled, changes: withChanges } = SHOWS[shown] ?? {};
  const page = Math.max(1, Math.min(Number.parseInt(query.get("page") ?? "1", 10) || 1, 1_000));
  const found = await batchImages(deps.store.read, {
    batchId: batch.id,
    states,
    canceled,
    changes: withChanges,
    offset: (page - 1) * SHEET_SIZE,
    limit: SHEET_SIZE + 1,
  });
  const images = found.slice(0, SHEET_SIZE);
  const changes = await changesOfBatch(deps.store.read, batch.id);
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
      <Head visit={visit} batch={batch} failedChanges={failedChanges} />
      <FailedChanges failed={failedChanges} batchId={batch.id} />
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
          <Empty title="None of the cards">{`No card of this batch is here${shown === "all" ? "" : " any more"}.`}</Empty>
        </Card>
      ) : (
        <ul class="grid sheet">
          {images.map((image) => (
            <li key={image.id}>
              <SheetCard image={image} change={changes.get(image.id)} batchId={batch.id} />
            </li>
          ))}
        </ul>
      )}
      <Pager
        newest={page > 1 && address({ page: page - 1 })}
        older={found.length > SHEET_SIZE && address({ page: page + 1 })}
        labels={["Previous", "Next"]}
      />
    </div>,
    { wide: true },
  );
}

interface HeadProps {
  visit: MemberVisit;
  batch: Batch;
  /** Or canceled. */
  failedChanges: Image[];
}

/** Makes everything again that failed, or was canceled; nothing where the batch may not be changed. */
function Retries({ visit, batch, failedChanges }: HeadProps) {
  if (!canWrite(visit) || (batch.canceledAt !== null && isRunning(batch))) return null;
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
          Their photos are fetched anew.{" "}
          {batch.environment === "live"
            ? `Up to ${counted(cards, "credit")} for what succeeds; a card that fails again costs nothing.`
            : "Test cards are free."}
        </p>
      </Confirm>
    );
  return (
    <>
      {retry("failed", faultsOf(batch) + failedChanges.filter((image) => !isCanceled(image)).length)}
      {retry("canceled", batch.canceled + failedChanges.filter(isCanceled).length)}
    </>
  );
}

function Head({ visit, batch, failedChanges }: HeadProps) {
  const open = batch.total - batch.completed - batch.failed;
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
          Download ZIP
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
      <Retries visit={visit} batch={batch} failedChanges={failedChanges} />
      {canWrite(visit) && batchStatus(batch) === "processing" && (
        <Confirm
          visit={visit}
          id="cancel-batch"
          action={`/console/batches/${batch.id}/cancel`}
          button="Cancel"
          title="Cancel this batch?"
          confirm="Cancel the batch"
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
  const notice = canceledAt === null ? "The batch had ended already." : "The batch is canceled.";
  await visit.flashes.put(session.id, { notice });
  return redirect(`/console/batches/${id}`, visit.exchange);
}

/** Makes what failed or was canceled again. A refusal, as without credits, is shown on the batch's page. */
async function retry(visit: MemberVisit, what: "failed" | "canceled"): Promise<Response> {
  const batch = await ownBatch(visit);
  const { id, environment } = batch;
  const { deps, account, session } = visit;
  try {
    await takeFromBudget(visit, environment);
    const cards = await cardsToRemake(deps, batch, { [what]: true });
    const { made } = await deps.remakeCards({ account, environment, batchId: id, cards });
    const notice =
      made > 0 ? `${counted(made, "card is", "cards are")} made again.` : `No card is ${what} any more.`;
    await visit.flashes.put(session.id, { notice });
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail ? `${error.message} ${detail.field} ${detail.message}` : error.message;
    await visit.flashes.put(session.id, { problem });
  }
  return redirect(`/console/batches/${id}`, visit.exchange);
}

async function pictures(visit: MemberVisit): Promise<Response> {
  const batch = await ownBatch(visit);
  return zipFile(visit, await batchZip(visit.deps, batch), batchName(batch), batch.id);
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
  const plain = name.replaceAll(/[^\w -]/g, "").trim() || plainName;
  const whole = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return privateFile(exchange, parts, {
    "Content-Type": `application/${extension}`,
    "Content-Disposition": `attachment; filename="${plain}.${extension}"; filename*=UTF-8''${whole}.${extension}`,
  });
}

export const batchRoutes = [
  member.get("/console/batches/:id", batchPage),
  member.get("/console/batches/:id/pictures.zip", pictures),
  member.post("/console/batches/:id/cancel", cancel),
  member.post("/console/batches/:id/retry-failed", (visit) => retry(visit, "failed")),
  member.post("/console/batches/:id/retry-canceled", (visit) => retry(visit, "canceled")),
];
