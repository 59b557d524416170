/** @jsxImportSource preact */
import { Refusal } from "../../core/errors.ts";
import { LIST_KEPT_MS } from "../../core/list-limits.ts";
import { Breakable, Card, Confirm, count, Time } from "../elements.tsx";
import { logFault } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { draftCards } from "./draft-cards.ts";
import type { Draft } from "./list-store.ts";

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
          <p>Its columns and the choice of its photos are forgotten. Nothing was made or charged.</p>
        </Confirm>
      </td>
    </tr>
  );
}

/** This person's uploaded lists of which no batch was made yet; nothing without any. */
export async function WaitingLists({ visit }: { visit: MemberVisit }) {
  const drafts = canWrite(visit) ? await visit.lists.all(visit) : [];
  if (drafts.length === 0) return null;
  return (
    <Card
      flush
      title="Not started yet"
      note="Lists you have uploaded. Nothing of them is made or charged; each is kept for four hours after its last change."
    >
      <table class="table">
        <caption class="visually-hidden">Lists that are not started yet</caption>
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

async function discard(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  await visit.lists.drop(visit);
  await visit.flashes.put(visit.session.id, { notice: `${listName(draft)} is discarded.` });
  return redirect("/console/batches", visit.exchange);
}

export const waitingListRoutes = [member.post("/console/lists/:id/discard", discard)];
