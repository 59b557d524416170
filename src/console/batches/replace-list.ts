import { guessMapping, type Mapping } from "../../app/batches/squad-cards.ts";
import type { SquadList } from "../../app/batches/squad-list.ts";
import type { MemberVisit } from "../visit.ts";
import { draftCards, targetsOf } from "./draft-cards.ts";
import { withPositions } from "./list-positions.tsx";
import type { Draft, DraftPhoto } from "./list-store.ts";

const heading = (text = "") => text.trim().toLowerCase();

/**
 * A list's choices with a newer file in its place: its columns by their headings, its photos by their
 * players.
 */
export async function withNewerFile(
  visit: MemberVisit,
  draft: Draft,
  newer: Pick<Draft, "list" | "name">,
): Promise<Draft> {
  const targets = await targetsOf(visit, draft.style.preset, draft.set);
  const guessed = guessMapping(newer.list, targets);
  const mapping = movedMapping(draft, newer.list, guessed);
  const list = withPositions(newer.list, mapping.columns.position, draft.positions);
  const replaced = { ...draft, ...newer, list, mapping };
  const [{ players: before }, { players: now }] = await Promise.all([
    draftCards(visit, draft),
    draftCards(visit, replaced),
  ]);
  const rowOf = (row: number) => {
    const player = before[row];
    const same = (key: "externalId" | "name") =>
      player?.[key] ? now.findIndex((other) => other[key] === player[key]) : -1;
    return same("externalId") >= 0 ? same("externalId") : same("name");
  };
  const photos = (draft.photos ?? []).map((photo): DraftPhoto => {
    if (typeof photo.row !== "number" || photo.row < 0) return photo;
    const { row, ...rest } = photo;
    const at = rowOf(row);
    // Whose player is gone is asked about again where its name does not say.
    return at < 0 ? rest : { ...rest, row: at };
  });
  return { ...replaced, photos };
}

/**
 * What was chosen for a heading holds for the same heading, "no column" too; only headings that are new are
 * guessed.
 */
function movedMapping({ list, mapping }: Draft, newer: SquadList, guessed: Mapping): Mapping {
  const known = new Set(list.columns.map(heading));
  const heads = newer.columns.map(heading);
  const columns: Record<string, number> = {};
  for (const key of new Set([...Object.keys(mapping.columns), ...Object.keys(guessed.columns)])) {
    const [before, guess] = [mapping.columns[key], guessed.columns[key]];
    const wanted = before === undefined ? undefined : heading(list.columns[before]);
    const at =
      wanted === undefined ? -1 : wanted === heads[before ?? -1] ? (before ?? -1) : heads.indexOf(wanted);
    if (at >= 0) columns[key] = at;
    else if (guess !== undefined && !known.has(heads[guess] ?? "")) columns[key] = guess;
  }
  return { ...mapping, columns };
}
