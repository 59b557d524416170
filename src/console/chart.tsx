/** @jsxImportSource preact */
import type { UsageDay } from "../store/usage.ts";
import { count } from "./elements.tsx";

// Drawn on the server with plain SVG attributes: no script, no inline style, the same offline.

const WIDTH = 960;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 24;
const TOP = 10;

/** The smallest of 1, 2, 5 times a power of ten that `steps` of reach `max`. */
function niceStep(max: number, steps: number): number {
  const rough = Math.max(1, max / steps);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
}

/** Completed and failed images by day, stacked. A table beside it says the same to those who do not see it. */
export function UsageChart({ days }: { days: UsageDay[] }) {
  const max = Math.max(1, ...days.map((d) => d.completed + d.failed));
  const step = niceStep(max, 4);
  const top = Math.ceil(max / step) * step;
  const plot = HEIGHT - TOP - BOTTOM;
  const y = (value: number) => TOP + plot - (value / top) * plot;
  const slot = (WIDTH - LEFT) / Math.max(days.length, 1);
  const bar = Math.min(22, slot * 0.68);
  const every = Math.ceil(days.length / 8);
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label="Images by day; the table below has the numbers"
    >
      {lines.map((value) => (
        <g key={value}>
          <line class="chart-line" x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
          <text class="chart-text" x={LEFT - 8} y={y(value) + 4} text-anchor="end">
            {count(value)}
          </text>
        </g>
      ))}
      {days.map((day, i) => {
        const x = LEFT + i * slot + (slot - bar) / 2;
        const failedTop = y(day.completed + day.failed);
        return (
          <g key={day.day} class="chart-day">
            <title>{`${day.day}: ${count(day.completed)} completed, ${count(day.failed)} failed of ${count(day.requested)} requested`}</title>
            <rect class="chart-hit" x={LEFT + i * slot} y={TOP} width={slot} height={plot} />
            <rect
              class="chart-completed"
              x={x}
              y={y(day.completed)}
              width={bar}
              height={plot + TOP - y(day.completed)}
              rx={2}
            />
            {day.failed > 0 && (
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
              <text class="chart-text" x={x + bar / 2} y={HEIGHT - 6} text-anchor="middle">
                {day.day.slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** How much of the plan is left. */
export function CreditMeter({ left, limit }: { left: number; limit: number }) {
  const share = limit === 0 ? 0 : Math.min(1, left / limit);
  return (
    <svg
      class={share <= 0.2 ? "meter meter-low" : "meter"}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${Math.round(share * 100)} % of the plan's credits are left`}
    >
      <rect x="0" y="0" width={share * 100} height="8" />
    </svg>
  );
}
