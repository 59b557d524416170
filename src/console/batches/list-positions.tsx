/** @jsxImportSource preact */
import { asPosition } from "../../app/batches/position-words.ts";
import type { SquadList } from "../../app/batches/squad-list.ts";
import { POSITIONS } from "../../core/card.ts";
import { positionText } from "../card-words.ts";
import { Options } from "../choices.tsx";
import { Card, counted, Field, PostForm } from "../elements.tsx";
import { redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import type { Draft } from "./list-store.ts";

// Words of a list for a position that nobody here knows: said once, for all the rows that have them.

/** More are a column that holds something else. */
const SHOWN_WORDS = 30;

const isPosition = (text: string) => POSITIONS.some((position) => position === text);

/** The words that no position is known for, each with how many rows have it. */
function unknownWords({ list, mapping }: Draft): [word: string, rows: number][] {
  const at = mapping.columns.position;
  if (at === undefined) return [];
  const words = new Map<string, number>();
  for (const { cells } of list.rows) {
    const word = cells[at] ?? "";
    if (word !== "" && !isPosition(asPosition(word))) words.set(word, (words.get(word) ?? 0) + 1);
  }
  return [...words];
}

/** The list with what was said of its words in their place. */
export function withPositions(
  list: SquadList,
  at: number | undefined,
  said: Readonly<Record<string, string>> = {},
): SquadList {
  if (at === undefined) return list;
  const rows = list.rows.map((row) => {
    const position = Object.hasOwn(said, row.cells[at] ?? "") ? said[row.cells[at] ?? ""] : undefined;
    return position === undefined ? row : { ...row, cells: row.cells.with(at, position) };
  });
  return { ...list, rows };
}

/** Asks which position each unknown word is; nothing where all are known. */
export function UnknownPositions({ visit, draft }: { visit: MemberVisit; draft: Draft }) {
  const words = unknownWords(draft).slice(0, SHOWN_WORDS);
  if (words.length === 0 || !canWrite(visit)) return null;
  return (
    <Card
      title={words.length === 1 ? "One position is not known" : "Some positions are not known"}
      note="Say which position each word is, for all the rows that have it."
    >
      <PostForm visit={visit} action={`/console/lists/${draft.id}/positions`} class="form">
        {words.map(([word, rows], n) => (
          <Field key={word} label={word} id={`position_${n}`} hint={counted(rows, "row")}>
            <input type="hidden" name="word" value={word} />
            <select id={`position_${n}`} name="position" aria-describedby={`position_${n}-hint`}>
              <option value="">Leave it</option>
              <Options names={POSITIONS} chosen="" text={positionText} />
            </select>
          </Field>
        ))}
        <div class="actions">
          <button type="submit" class="button button-primary">
            Use these positions
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

async function say(visit: MemberVisit): Promise<Response> {
  const positions = visit.form.getAll("position");
  const words = visit.form.getAll("word").map((word, n): [string, string] => [word, positions[n] ?? ""]);
  const chosen = Object.fromEntries(words.filter(([, position]) => isPosition(position)));
  const { id } = await visit.lists.change(visit, (draft) => {
    const said = { ...draft.positions, ...chosen };
    return {
      ...draft,
      positions: said,
      list: withPositions(draft.list, draft.mapping.columns.position, said),
    };
  });
  return redirect(`/console/lists/${id}/check`, visit.exchange);
}

export const listPositionRoutes = [member.post("/console/lists/:id/positions", say)];
