/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { endOfDay } from "../core/time.ts";

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

function Day({ name, label, value }: { name: "from" | "to"; label: string; value: string }) {
  return (
    <label class="day">
      {label} <input name={name} type="date" value={value} />
    </label>
  );
}

/** A choice of days; `kept` are the other filters of the list. */
export function DaysForm({
  action,
  days,
  kept,
}: {
  action: string;
  days: Days;
  kept: Readonly<Record<string, string | undefined>>;
}) {
  return (
    <form class="days" action={action} method="get" aria-label="Days">
      <Day name="from" label="From" value={days.from} />
      <Day name="to" label="to" value={days.to} />
      {Object.entries(kept).map(
        ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
      )}
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
