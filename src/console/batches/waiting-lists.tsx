/** @jsxImportSource preact */
import { Refusal } from "../../core/errors.ts";
import { LIST_KEPT_MS } from "../../core/list-limits.ts";
import { Breakable, Card, Confirm, count, Time } from "../elements.tsx";
import { logFault } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { draftCards } from "./draft-cards.ts";
import { photosPath } from "./list-photos.tsx";
import { type Draft, isTried } from "./list-store.ts";

/** Where a list is gone on with: its photos once some were sent, else its columns. */
const continuePath = ({ id, photos = [] }: Draft) =>
  `/console/lists/${id}${photos.length > 0 ? "/photos" : ""}`;

/** The name shown for a list whose file had none. */
export const listName = ({ name }: Pick<Draft, "name">) => name.trim() || "Squad list";

/** How far a list is. What cannot be read any more costs its own row, and not the page with the others. */
async function progressOf(visit: MemberVisit, draft: Draft) {
  try {
    const { players, withoutPhoto } = await draftCards(visit, draft);
    return { withPhoto: players.length - withoutPhoto.length };
  } catch (error) {
    logFault(visit, error);
    return error instanceof Refusal
      ? { problem: error.message, path: `/console/lists/${draft.id}` }
      : { problem: "It cannot be read any more. Discard it and upload it again." };
  }
}

async function WaitingRow({ visit, draft }: { visit: MemberVisit; draft: Draft }) {
  const progress = await progressOf(visit, draft);
  const path = progress.path ?? continuePath(draft);
  return (
    <tr>
      <th scope="row" class="name words">
        <a href={path}>
          <Breakable text={listName(draft)} />
        </a>
        {progress.problem && <span class="sub">{progress.problem}</span>}
        {draft.tried && (
          <span class="sub">
            {isTried(draft) ? "Tried with" : "Changed after"}{" "}
            <a href={`/console/batches/${draft.tried.batch}`}>test cards</a>
          </span>
        )}
      </th>
      <td data-label="Players" class="number">
        {count(draft.list.rows.length)}
      </td>
      <td data-label="With a photo" class="number">
        {progress.withPhoto === undefined ? "–" : count(progress.withPhoto)}
      </td>
      <td data-label="Ends">
        <Time at={draft.changedAt + LIST_KEPT_MS} style="relative" />
      </td>
      <td class="cell-actions">
        <a class="button button-small" href={path}>
          Continue
        </a>
        <Confirm
          visit={visit}
          id={`discard-${draft.id}`}
          action={`/console/lists/${draft.id}/discard`}
          button="Discard"
          title={`Discard ${listName(draft)}?`}
          confirm="Discard the list"
        >
          <p>
            Its columns and the choice of its photos are forgotten. Nothing was charged
            {draft.tried ? ", and its test cards stay." : " or made."}
          </p>
        </Confirm>
      </td>
    </tr>
  );
}

/** This person's uploaded lists of which no live batch was made yet; nothing without any. */
export async function WaitingLists({ visit }: { visit: MemberVisit }) {
  const drafts = canWrite(visit) ? await visit.lists.all(visit) : [];
  if (drafts.length === 0) return null;
  return (
    <Card
      flush
      title="Waiting lists"
      note="Lists you have uploaded and not made live. Nothing of them is charged; each is kept for four hours after its last change."
    >
      <table class="table">
        <caption class="visually-hidden">Lists that wait</caption>
        <thead>
          <tr>
            <th scope="col">List</th>
            <th scope="col" class="number">
              Players
            </th>
            <th scope="col" class="number">
              With a photo
            </th>
            <th scope="col">Ends</th>
            <th scope="col">
              <span class="visually-hidden">Continue or discard</span>
            </th>
          </tr>
        </thead>
        <tbody>{await Promise.all(drafts.map((draft) => WaitingRow({ visit, draft })))}</tbody>
      </table>
    </Card>
  );
}

/** The way from a batch of test cards back to the list it was made of, while that waits. */
export async function backToList(visit: MemberVisit, batchId: string) {
  if (!canWrite(visit)) return null;
  const draft = (await visit.lists.all(visit)).find(({ tried }) => tried?.batch === batchId);
  if (!draft) return null;
  return (
    <Card title="The list waits for you">
      <p>
        These are test cards. <Breakable text={listName(draft)} /> is kept with its photos until{" "}
        <Time at={draft.changedAt + LIST_KEPT_MS} />: change it and try again
        {draft.set?.environment === "test" ? "." : ", or make its cards live."}
      </p>
      <div class="actions">
        <a class="button button-primary" href={`/console/lists/${draft.id}/check`}>
          {draft.set?.environment === "test" ? "Go on with the list" : "Make the list live"}
        </a>
        <a class="button" href={photosPath(draft)}>
          Photos
        </a>
      </div>
    </Card>
  );
}

async function discard(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  await visit.lists.drop(visit);
  await visit.flashes.put(visit.session.id, { notice: `${listName(draft)} is discarded.` });
  return redirect("/console/batches", visit.exchange);
}

export const waitingListRoutes = [member.post("/console/lists/:id/discard", discard)];
