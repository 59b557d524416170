/** @jsxImportSource preact */
import { isLow } from "../app/credits/credit-warning.ts";
import type { Credits } from "../app/credits/credits.ts";
import type { UsageDay } from "../store/credits/usage.ts";
import { count } from "./elements.tsx";
import { faultsOf } from "./outcomes.ts";

// Drawn on the server with plain SVG attributes: no script, no inline style, works offline.

interface Size {
  width: number;
  height: number;
  /** How many days are labelled. */
  labels: number;
}

/**
 * The page contains both and the style sheet shows one: shrunk to a phone's width, the wide one would be
 * illegible.
 */
const WIDE: Size = { width: 960, height: 220, labels: 8 };
const SMALL: Size = { width: 340, height: 190, labels: 4 };
const LEFT = 44;
const BOTTOM = 24;
const TOP = 10;

/** The smallest of 1, 2 or 5 times a power of ten of which `steps` reach `max`. */
function niceStep(max: number, steps: number): number {
  const rough = Math.max(1, max / steps);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}

/**
 * Completed and failed images per day, stacked. The table or numbers beside it say the same to those who
 * cannot see it.
 */
export function UsageChart({ days }: { days: UsageDay[] }) {
  return (
    <>
      <Bars days={days} size={WIDE} name="chart chart-wide" />
      <Bars days={days} size={SMALL} name="chart chart-small" />
    </>
  );
}

/** Such as "12 Nov". */
function dayName(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}

function Lines({ values, width, y }: { values: number[]; width: number; y: (value: number) => number }) {
  return (
    <>
      {values.map((value) => (
        <g key={value}>
          <line class="chart-line" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
          <text class="chart-text" x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {count(value)}
          </text>
        </g>
      ))}
    </>
  );
}

function Bars({ days, size, name }: { days: UsageDay[]; size: Size; name: string }) {
  const { width, height } = size;
  const max = Math.max(1, ...days.map((d) => d.completed + faultsOf(d)));
  const step = niceStep(max, 4);
  const top = Math.ceil(max / step) * step;
  const plot = height - TOP - BOTTOM;
  const y = (value: number) => TOP + plot - (value / top) * plot;
  const slot = (width - LEFT) / Math.max(days.length, 1);
  const bar = Math.min(22, slot * 0.7);
  const every = Math.ceil(days.length / size.labels);
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return (
    <svg
      class={name}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Images by day from ${dayName(days[0]?.day ?? "")} to ${dayName(days.at(-1)?.day ?? "")}, at most ${count(max)} a day`}
    >
      <Lines values={lines} width={width} y={y} />
      {days.map((day, i) => {
        const x = LEFT + i * slot + (slot - bar) / 2;
        const faults = faultsOf(day);
        const failedTop = y(day.completed + faults);
        const canceled = day.canceled > 0 ? `, ${count(day.canceled)} canceled` : "";
        return (
          <g key={day.day} class="chart-day">
            <title>{`${dayName(day.day)}: ${count(day.completed)} completed, ${count(faults)} failed${canceled} of ${count(day.requested)} requested`}</title>
            <rect class="chart-hit" x={LEFT + i * slot} y={TOP} width={slot} height={plot} />
            <rect
              class="chart-completed"
              x={x}
              y={y(day.completed)}
              width={bar}
              height={plot + TOP - y(day.completed)}
              rx={2}
            />
            {faults > 0 && (
              <rect
                class="chart-failed"
                x={x}
                y={failedTop}
                width={bar}
                height={Math.max(2, y(day.completed) - failedTop - 1)}
                rx={2}
              />
            )}
            {i % every === 0 && (
              <text class="chart-text" x={x + bar / 2} y={height - 6} text-anchor="middle">
                {dayName(day.day)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** How much of this month's plan and top-ups is left. */
export function CreditMeter({ credits }: { credits: Credits }) {
  const all = credits.limit + credits.topup;
  const share = all === 0 ? 0 : Math.min(1, credits.left / all);
  return (
    <svg
      class={isLow(credits) ? "meter meter-low" : "meter"}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${Math.round(share * 100)} % of this month's credits are left`}
    >
      <rect x="0" y="0" width={share * 100} height="8" />
    </svg>
  );
}
