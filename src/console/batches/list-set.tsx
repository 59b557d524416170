/** @jsxImportSource preact */
import { guessMapping, type Mapping, SET_TARGETS } from "../../app/batches/squad-cards.ts";
import type { SquadList } from "../../app/batches/squad-list.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { type CardSet, findSet, listSets } from "../../store/sets/card-sets.ts";
import { ofBothEnvironments } from "../both-environments.ts";
import { Field } from "../elements.tsx";
import { field, type MemberVisit } from "../visit.ts";

// The set that the cards of a squad list belong to.

/** Sets of an environment that a list offers: the newest. */
const OFFERED_SETS = 50;

/** The account's sets to choose among: the newest first, and those of live cards before those of test. */
export const offeredSets = (visit: MemberVisit): Promise<CardSet[]> =>
  ofBothEnvironments(visit, OFFERED_SETS, (of) => listSets(visit.deps.store.read, of));

/** A set as a choice names it. */
export const setLabel = ({ name, season, environment }: CardSet): string =>
  `${[name, season].filter((text) => text !== "").join(", ")}${environment === "test" ? " (test)" : ""}`;

/** The choice of a list's set, which sends the form that has the columns; nothing without sets. */
export async function SetChoice({
  visit,
  form,
  chosen,
}: {
  visit: MemberVisit;
  form: string;
  chosen?: CardSet;
}) {
  const sets = await offeredSets(visit);
  if (sets.length === 0 && !chosen) return null;
  const all = chosen && !sets.some(({ id }) => id === chosen.id) ? [chosen, ...sets] : sets;
  return (
    <div class="row-form">
      <Field label="Set" id="set" hint="Whose cards these are; each then has a parallel.">
        <select id="set" name="set" form={form} data-submits aria-describedby="set-hint">
          <option value="">None</option>
          {all.map((set) => (
            <option key={set.id} value={set.id} selected={set.id === chosen?.id}>
              {setLabel(set)}
            </option>
          ))}
        </select>
      </Field>
      <noscript>
        <button type="submit" class="button" form={form}>
          Use
        </button>
      </noscript>
    </div>
  );
}

/** The set that a form names, in either environment of the account. */
export const sentSet = (visit: MemberVisit): Promise<CardSet | undefined> =>
  setOfId(visit, field(visit, "set"));

/** A set of the account in either environment; undefined where there is none of this id. */
export async function setOfId({ deps, account }: MemberVisit, id: string): Promise<CardSet | undefined> {
  if (id === "") return undefined;
  for (const environment of ENVIRONMENTS) {
    const set = await findSet(deps.store.read, { accountId: account.id, environment, id });
    if (set) return set;
  }
  return undefined;
}

/** A mapping for the cards of a set: what columns are called, and else the set's first parallel for all. */
export function mappingWithSet({ columns, all }: Mapping, set: CardSet, list: SquadList): Mapping {
  const keys = new Set(SET_TARGETS.map(({ key }) => key));
  const without = <T,>(of: Record<string, T>) =>
    Object.fromEntries(Object.entries(of).filter(([key]) => !keys.has(key)));
  const others = Object.values(without(columns));
  const guessed = Object.entries(guessMapping(list, SET_TARGETS).columns).filter(
    ([, at]) => !others.includes(at),
  );
  return {
    columns: { ...without(columns), ...Object.fromEntries(guessed) },
    all: { ...without(all), set_parallel: set.parallels[0]?.name ?? "" },
  };
}
