/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { endOfDay } from "../core/time.ts";
import { Icon } from "../web/icons.tsx";

// What lists are narrowed by.

/** The days of a list in UTC, such as 2026-11-22; "" for any. */
export interface Days {
  from: string;
  to: string;
}

/** The days in the address of a page. */
export function readDays(query: URLSearchParams): Days {
  return { from: readDay(query.get("from")), to: readDay(query.get("to")) };
}

/** A day that there is; "" for anything else. */
function readDay(text: string | null): string {
  return text && !Number.isNaN(endOfDay(text)) ? text : "";
}

/** The moments that days stand for: the last one is meant whole. */
export function momentsOf({ from, to }: Days): { from: number | undefined; before: number | undefined } {
  return {
    from: from === "" ? undefined : Date.parse(from),
    before: to === "" ? undefined : endOfDay(to) + 1,
  };
}

/** What a list of these days says, of which there are none; undefined where there are some. */
export function noDays({ from, to }: Days): string | undefined {
  if (from === "" || to === "" || from <= to) return undefined;
  return `From is after to: ${from} comes later than ${to}. Choose an earlier day to begin with.`;
}

function Day({ name, label, value }: { name: "from" | "to"; label: string; value: string }) {
  return (
    <label class="day">
      {label} <input name={name} type="date" value={value} />
    </label>
  );
}

/** What a list is narrowed by, by the names in its address; empty ones are left out. */
type Kept = Readonly<Record<string, string | undefined>>;

/** The address of a list with its filters. */
export function addressOf(path: string, filters: Kept): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

function KeptInputs({ kept }: { kept: Kept }) {
  return Object.entries(kept).map(
    ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
  );
}

/** A list's search; `kept` are its other filters. */
export function SearchForm({
  action,
  label,
  search,
  kept,
}: {
  action: string;
  /** What can be written, in words. */
  label: string;
  search: string;
  kept: Kept;
}) {
  return (
    <form class="search" action={action} method="get">
      <Icon name="search" />
      <label for="search" class="visually-hidden">
        {label}
      </label>
      <input id="search" name="search" type="search" value={search} placeholder={label} />
      <KeptInputs kept={kept} />
    </form>
  );
}

/** The chosen days, in words; empty ones for those that were not. */
export function daysInWords({ from, to }: Days): string[] {
  return [from && `from ${from}`, to && `to ${to}`];
}

/** A choice of days; `kept` are the other filters of the list. */
export function DaysForm({ action, days, kept }: { action: string; days: Days; kept: Kept }) {
  return (
    <form class="days" action={action} method="get" aria-label="Days">
      <Day name="from" label="From" value={days.from} />
      <Day name="to" label="to" value={days.to} />
      <KeptInputs kept={kept} />
      <button type="submit" class="button button-small">
        Show
      </button>
    </form>
  );
}

/** A list's filters, which fold into one line on a phone that says what is chosen. */
export function Filters({ chosen, children }: { chosen: string; children: ComponentChildren }) {
  return (
    <details class="filters" open>
      <summary>
        Filters <span class="note ellipsis">{chosen}</span>
      </summary>
      <div class="toolbar">{children}</div>
    </details>
  );
}
