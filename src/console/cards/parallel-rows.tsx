/** @jsxImportSource preact */
import { MAX_PARALLEL_NAME_CHARS, MAX_PARALLEL_SIZE, MAX_PARALLELS } from "../../core/limits.ts";

/** A parallel as a form has it. */
export interface SentParallel {
  name: string;
  size: string;
  /** When an open edition closes, as in 2026-12-06T18:00; empty for any other. */
  until: string;
}

/** Rows that are shown at once; the others are folded. */
const SHOWN = 4;
const EXAMPLES = ["base", "gold", "silver", "rainbow"];

function Row({ of: { name, size, until }, nth }: { of: SentParallel; nth: number }) {
  return (
    <div class="parallel-row">
      <input
        type="text"
        name={`parallel_${nth}`}
        value={name}
        maxLength={MAX_PARALLEL_NAME_CHARS}
        aria-label={`Parallel ${nth}`}
        placeholder={EXAMPLES[nth - 1]}
      />
      <input
        type="number"
        name={`size_${nth}`}
        value={size}
        min={1}
        max={MAX_PARALLEL_SIZE}
        aria-label={`Parallel ${nth}: how many of each player`}
        placeholder="no limit"
      />
      <input
        type="datetime-local"
        name={`until_${nth}`}
        value={until}
        aria-label={`Parallel ${nth}: open until, in UTC`}
      />
    </div>
  );
}

/** The versions in which a new set has each card, a row for each. */
export function ParallelRows({ parallels }: { parallels: SentParallel[] }) {
  const shown = Math.max(SHOWN, parallels.length);
  const rows = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from) }, (_, n) => (
      <Row key={from + n} of={parallels[from + n] ?? { name: "", size: "", until: "" }} nth={from + n + 1} />
    ));
  return (
    <fieldset class="parallels">
      <legend>Parallels</legend>
      <p class="note">
        The versions of each card. With a number, such as gold with 50, each player has so many, numbered from
        1/50 to 50/50. Without one there is no limit, and no numbers. An open edition has a time (UTC)
        instead: its cards are numbered, and counted when it closes.
      </p>
      <label class="check open-editions">
        {/* Shows the times on phones; it has no name, so that it is not sent. */}
        <input type="checkbox" checked={parallels.some(({ until }) => until !== "")} /> With open editions
      </label>
      <div class="parallel-row parallel-heads" aria-hidden="true">
        <span>Name</span>
        <span>Of each player</span>
        <span>Or open until</span>
      </div>
      {rows(0, shown)}
      {shown < MAX_PARALLELS && (
        <details>
          <summary>More parallels</summary>
          {rows(shown, MAX_PARALLELS)}
        </details>
      )}
    </fieldset>
  );
}

/** The rows of a form that say something. */
export function sentParallels(form: FormData | URLSearchParams): SentParallel[] {
  return Array.from({ length: MAX_PARALLELS }, (_, at) => {
    const cell = (name: string) => String(form.get(`${name}_${at + 1}`) ?? "").trim();
    return { name: cell("parallel"), size: cell("size"), until: cell("until") };
  }).filter(({ name, size, until }) => name !== "" || size !== "" || until !== "");
}
