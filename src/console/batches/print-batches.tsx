/** @jsxImportSource preact */
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS } from "../../core/limits.ts";
import { type PrintSizeName, printSizeLabel } from "../../core/print-sizes.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { batchesByKeyStart } from "../../store/images/batch-keys.ts";
import { type Batch, findBatch, imagesOfBatch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { takeFromBudget } from "../budget.ts";
import { Breakable, Card, counted, Time } from "../elements.tsx";
import type { MemberVisit } from "../visit.ts";
import { BatchBadge, batchName } from "./batches.tsx";
import { logBatch } from "./log-batch.ts";

// The cards made of a batch for print are a batch of their own, whose idempotency key names the first.

const keyStart = (batchId: string) => `console-print-${batchId}`;
const printedFrom = (key: string | null) => /^console-print-(\w+)-/.exec(key ?? "")?.[1];

/** The batches that were made of this one for print, the newest first. */
const printBatches = ({ deps }: MemberVisit, { id, accountId, environment }: Batch): Promise<Batch[]> =>
  batchesByKeyStart(deps.store.read, { accountId, environment, start: keyStart(id) });

/** Whether a batch has a picture, or may have one yet. */
async function isOfUse({ deps }: MemberVisit, { id }: Batch): Promise<boolean> {
  const images = await imagesOfBatch(deps.store.read, id);
  return images.some(({ state, purgedAt }) => state !== "failed" && purgedAt === null);
}

/** A card as it is to be printed, and the one it is a picture of. */
export interface PrintCard {
  image: Image;
  request: CreateImageRequest;
}

/** By what an order is known: the same cards of a batch, in the same size, again. */
const orderOf = (cards: PrintCard[]) =>
  fingerprintOf(cards.map(({ image, request }) => [request, request.set ? image.id : null]));

/**
 * Makes cards for print beside the batch they come from, once for the same cards, and leaves a notice for
 * the next page; a refusal, as without credits, is left there too.
 * @returns the batch for print; undefined when it was refused
 */
export async function makePrintBatch(
  visit: MemberVisit,
  from: Batch,
  size: PrintSizeName,
  choose: () => Promise<PrintCard[]>,
): Promise<Batch | undefined> {
  const { deps, account, session, flashes } = visit;
  const { environment } = from;
  try {
    const cards = await choose();
    const order = `${keyStart(from.id)}-${orderOf(cards)}`;
    const tries = (await printBatches(visit, from)).filter(({ idempotencyKey }) =>
      isTry(idempotencyKey, order),
    );
    const [last] = tries;
    if (last && (await isOfUse(visit, last))) return last;
    await takeFromBudget(visit, environment);
    const suffix = `, for print ${printSizeLabel(size)}`;
    const name = `${[...batchName(from)].slice(0, MAX_ACCOUNT_NAME_CHARS - suffix.length).join("")}${suffix}`;
    const { batch, replayed } = await deps.acceptBatch({
      account,
      environment,
      // A key answers for three days with the batch it stands for, also when all of that failed.
      idempotencyKey: last ? `${order}-${tries.length + 1}` : order,
      reusesCards: true,
      name,
      requests: cards.map(({ request }) => request),
      shows: cards.map(({ image }) => image.id),
    });
    if (replayed) return batch;
    await logBatch(visit, batch);
    const notice = `${counted(batch.total, "card is", "cards are")} made for print beside ${batchName(from)}, which stays as it is. The print file is ready when they are.`;
    await flashes.put(session.id, { notice });
    return batch;
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail ? `${error.message} ${detail.field} ${detail.message}` : error.message;
    await flashes.put(session.id, { problem });
    return undefined;
  }
}

const isTry = (key: string | null, order: string) => key === order || key?.startsWith(`${order}-`) === true;

/** The ways between a batch and those made of it for print; nothing where there are none. */
export async function printLinks(visit: MemberVisit, batch: Batch) {
  const { deps, account } = visit;
  const id = printedFrom(batch.idempotencyKey) ?? "";
  const scope = { accountId: account.id, environment: batch.environment };
  const from = id === "" ? undefined : await findBatch(deps.store.read, { ...scope, id });
  const made = await printBatches(visit, batch);
  if (!from && made.length === 0) return null;
  return (
    <Card title="For print">
      {from && (
        <p>
          These cards are for print. Those for screens are in{" "}
          <a href={`/console/batches/${from.id}`}>
            <Breakable text={batchName(from)} />
          </a>
          .
        </p>
      )}
      {made.map((print) => (
        <p key={print.id}>
          <a href={`/console/batches/${print.id}`}>
            <Breakable text={batchName(print)} />
          </a>{" "}
          <BatchBadge batch={print} />{" "}
          <span class="note">
            <Time at={print.createdAt} />
            {print.completed > 0 && (
              <>
                {" "}
                <a href={`/console/batches/${print.id}/print`}>Print file</a>
              </>
            )}
          </span>
        </p>
      ))}
    </Card>
  );
}
