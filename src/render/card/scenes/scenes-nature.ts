import type { Canvas, Painter } from "./scene-canvas.ts";
import { glow, roll, sky } from "./scene-sky.ts";
import { circle, ellipse, linear, n, path, polygon, rect, stroke, times } from "./svg.ts";

/** Themes of sky and land. */
export const NATURE = {
  galaxy,
  forest,
  sunset,
  ocean,
  desert,
  mountain,
  night,
} satisfies Record<string, Painter>;

function galaxy(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const clouds = times(9, (i) =>
    glow(
      `n${i}`,
      random(-100, 1100),
      random(0, h),
      random(260, 560),
      [c.light, c.accent, c.mid][i % 3] as string,
      random(0.55, 0.9),
    ),
  );
  const arms = times(420, (i) => {
    const t = (i / 420) * 7.5;
    const r = 90 + t * 95 + random(-70, 70);
    const a = t + (i % 2) * Math.PI + random(-0.25, 0.25);
    return circle(
      x + Math.cos(a) * r,
      y + Math.sin(a) * r * 0.62 + r * 0.18 * Math.cos(a),
      random(1.6, 5.4),
      i % 5 ? c.glow : c.accent,
      `opacity="${n(random(0.3, 1))}"`,
    );
  });
  const bright = times(9, () => {
    const [sx, sy, s] = [random(0, 1000), random(0, h), random(10, 30)];
    return path(
      `M${n(sx - s)} ${n(sy)}Q${n(sx)} ${n(sy)} ${n(sx)} ${n(sy - s)}Q${n(sx)} ${n(sy)} ${n(sx + s)} ${n(sy)}Q${n(sx)} ${n(sy)} ${n(sx)} ${n(sy + s)}Q${n(sx)} ${n(sy)} ${n(sx - s)} ${n(sy)}Z`,
      c.glow,
    );
  });
  return (
    rect(0, 0, 1000, h, c.deep) +
    clouds +
    arms +
    times(160, () =>
      circle(random(0, 1000), random(0, h), random(0.8, 2.4), c.glow, `opacity="${n(random(0.3, 1))}"`),
    ) +
    bright
  );
}

function forest(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const pine = (px: number, base: number, s: number, fill: string, opacity: number) => {
    let d = `M${n(px)} ${n(base - s)}`;
    const tiers = 5;
    for (let i = 1; i <= tiers; i++)
      d += `L${n(px + (s * 0.26 * i) / tiers)} ${n(base - s + (s * i) / tiers)}L${n(px + (s * 0.13 * i) / tiers)} ${n(base - s + (s * i) / tiers - s * 0.035)}`;
    for (let i = tiers; i >= 1; i--)
      d += `L${n(px - (s * 0.13 * i) / tiers)} ${n(base - s + (s * i) / tiers - s * 0.035)}L${n(px - (s * 0.26 * i) / tiers)} ${n(base - s + (s * i) / tiers)}`;
    return path(`${d}Z`, fill, `opacity="${opacity}"`);
  };
  const row = (count: number, base: number, low: number, high: number, fill: string, opacity: number) =>
    times(count, (i) =>
      pine(
        ((i + random(0.1, 0.9)) / count) * 1100 - 50,
        base + random(-20, 20),
        random(low, high),
        fill,
        opacity,
      ),
    );
  const shafts = times(6, (i) =>
    polygon(
      [
        [x - 60 + i * 30, -40],
        [x - 20 + i * 30, -40],
        [x - 520 + i * 210, h],
        [x - 640 + i * 210, h],
      ],
      c.glow,
      'opacity="0.1"',
    ),
  );
  return (
    sky(canvas, 0.45) +
    glow("g", x, y, 640, c.glow, 0.75) +
    row(13, h * 0.68, h * 0.4, h * 0.62, c.light, 0.55) +
    shafts +
    row(9, h * 0.88, h * 0.5, h * 0.82, c.mid, 0.85) +
    row(6, h * 1.05, h * 0.4, h * 0.9, c.deep, 0.95)
  );
}

function sunset(canvas: Canvas): string {
  const { height: h, x, y, colours: c } = canvas;
  const r = 330;
  // Bars of sky cut across the lower half of the sun, each as wide as the sun is at that height.
  const bars = times(7, (i) => {
    const [top, tall] = [20 + i * 46, 6 + i * 4];
    const half = (dy: number) => Math.sqrt(Math.max(0, r * r - dy * dy));
    const [upper, lower] = [half(top) + 2, half(top + tall) + 2];
    return path(
      `M${n(x - upper)} ${n(y + top)}H${n(x + upper)}L${n(x + lower)} ${n(y + top + tall)}H${n(x - lower)}Z`,
      c.light,
      'opacity="0.85"',
    );
  });
  return (
    sky(canvas, 0.42) +
    glow("g", x, y, 900, c.accent, 0.6) +
    circle(x, y, r, c.accent) +
    bars +
    times(7, (i) => rect(0, h * (0.06 + i * 0.07), 1000, 7, c.glow, 'opacity="0.1"')) +
    [0.66, 0.75, 0.85]
      .map((at, i) =>
        roll(canvas, h * at, 60, [c.mid, c.mid, c.deep][i] as string, `opacity="${[0.75, 1, 1][i]}"`),
      )
      .join("")
  );
}

function ocean(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const swell = times(13, (i) => {
    const at = h * 0.3 + (i / 13) * h * 0.75;
    const amp = 12 + i * 5;
    const period = 150 + i * 22;
    let d = `M-80 ${n(h + 10)}L-80 ${n(at)}`;
    let crest = `M-80 ${n(at)}`;
    const shift = random(0, period);
    for (let px = -80 - shift; px < 1080; px += period) {
      const curve = `C${n(px + period * 0.4)} ${n(at - amp)} ${n(px + period * 0.55)} ${n(at - amp * 1.5)} ${n(px + period)} ${n(at)}`;
      d += curve;
      crest += curve;
    }
    return (
      path(`${d}L1100 ${n(h + 10)}Z`, i % 2 ? c.mid : c.deep, 'opacity="0.5"') +
      stroke(crest, i % 3 ? c.accent : c.glow, 2 + i * 0.35, 'opacity="0.75"')
    );
  });
  return (
    sky(canvas, 0.3) +
    glow("g", x, y, 700, c.glow, 0.7) +
    swell +
    times(60, () =>
      circle(random(0, 1000), random(h * 0.3, h), random(2, 7), c.glow, `opacity="${n(random(0.2, 0.7))}"`),
    )
  );
}

function desert(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const dunes = times(6, (i) => {
    const at = h * (0.42 + i * 0.11);
    const peak = random(200, 800);
    const flip = i % 2 ? 1 : -1;
    return (
      path(
        `M-20 ${n(h)}L-20 ${n(at + 90)}Q${n(peak - 220)} ${n(at + 70)} ${n(peak)} ${n(at - 60)}Q${n(peak + 240)} ${n(at + 60)} 1020 ${n(at + 60 * flip)}L1020 ${n(h)}Z`,
        i % 2 ? c.mid : c.light,
      ) +
      path(
        `M${n(peak)} ${n(at - 60)}Q${n(peak + 240)} ${n(at + 60)} 1020 ${n(at + 60 * flip)}L1020 ${n(h)}L${n(peak + 160)} ${n(h)}Q${n(peak - 130)} ${n(at + 160)} ${n(peak)} ${n(at - 60)}Z`,
        c.deep,
        'opacity="0.5"',
      )
    );
  });
  return (
    linear("sky", [
      [0, c.mid],
      [0.5, c.accent],
      [1, c.light],
    ]) +
    rect(0, 0, 1000, h, "url(#sky)") +
    circle(x, y - 20, 260, c.glow, 'opacity="0.9"') +
    glow("g", x, y, 760, c.glow, 0.5) +
    dunes
  );
}

function mountain(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const peak = (px: number, top: number, base: number, w: number, dark: string, lit: string) => {
    const snow = (base - top) * 0.3;
    return (
      polygon(
        [
          [px, top],
          [px + w, base],
          [px - w, base],
        ],
        dark,
      ) +
      polygon(
        [
          [px, top],
          [px - w, base],
          [px - w * 0.1, base],
          [px + w * 0.09, top + snow * 1.6],
        ],
        lit,
        'opacity="0.75"',
      ) +
      polygon(
        [
          [px, top],
          [px + w * 0.3, top + snow],
          [px + w * 0.12, top + snow * 0.8],
          [px, top + snow * 1.15],
          [px - w * 0.13, top + snow * 0.8],
          [px - w * 0.3, top + snow],
        ],
        c.accent,
        'opacity="0.92"',
      )
    );
  };
  const far = times(5, (i) =>
    peak(i * 250 + random(-50, 50), h * random(0.2, 0.32), h, random(300, 420), c.light, c.accent),
  );
  const near = times(4, (i) =>
    peak(i * 330 + random(-60, 60), h * random(0.46, 0.6), h * 1.1, random(300, 400), c.deep, c.mid),
  );
  return `${sky(canvas, 0.5) + glow("g", x, y, 620, c.glow, 0.7)}<g opacity="0.7">${far}</g>${near}`;
}

function night(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  return (
    linear("sky", [
      [0, c.deep],
      [1, c.mid],
    ]) +
    rect(0, 0, 1000, h, "url(#sky)") +
    times(180, () =>
      circle(random(0, 1000), random(0, h), random(0.8, 3), c.glow, `opacity="${n(random(0.3, 1))}"`),
    ) +
    glow("g", x, y, 720, c.glow, 0.75) +
    times(6, (i) =>
      ellipse(
        random(0, 1000),
        h * (0.38 + i * 0.07),
        random(220, 420),
        random(8, 20),
        c.deep,
        'opacity="0.55"',
      ),
    ) +
    roll(canvas, h * 0.74, 60, c.deep)
  );
}
