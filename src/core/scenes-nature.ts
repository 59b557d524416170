import { circle, ellipse, linear, n, path, polygon, radial, rect, stroke, times } from "./svg.ts";
import type { Canvas } from "./themes.ts";

const PAINTERS: Record<string, (canvas: Canvas) => string> = {
  fire,
  ice,
  galaxy,
  rain,
  forest,
  storm,
  sunset,
  ocean,
  desert,
  mountain,
  smoke,
  aurora,
  snow,
  night,
};

/** Themes of sky, weather and land. */
export const NATURE: ReadonlySet<string> = new Set(Object.keys(PAINTERS));

export function drawNature(theme: string, canvas: Canvas): string {
  return PAINTERS[theme]?.(canvas) ?? "";
}

function sky({ height, colours: c }: Canvas, middle = 0.5): string {
  return (
    linear("sky", [
      [0, c.deep],
      [middle, c.mid],
      [1, c.light],
    ]) + rect(0, 0, 1000, height, "url(#sky)")
  );
}

/** A soft round light. */
function glow(id: string, x: number, y: number, r: number, colour: string, opacity: number): string {
  return (
    radial(id, [
      [0, colour, opacity],
      [0.45, colour, opacity * 0.38],
      [1, colour, 0],
    ]) + circle(x, y, r, `url(#${id})`)
  );
}

function fire(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const tongues = (base: number, size: number, count: number, fill: string, opacity: number) =>
    times(count, (i) => {
      const x = ((i + random(0, 0.8)) / count) * 1100 - 50;
      const w = random(70, 130) * size;
      const t = random(0.7, 1.5) * 430 * size;
      const lean = random(-90, 90);
      const y = h * base;
      const tip = y - t;
      // Out at the foot, in at the waist, out again and over to the tip: two opposite bends on each side.
      const side = (edge: number, turn: number) =>
        `${n(x + edge * 1.25)} ${n(y)} ${n(x + edge * 0.1 - lean * 0.8)} ${n(y - t * turn)} `;
      return path(
        `M${n(x - w)} ${n(h)}C${side(-w, 0.35)}${n(x - w * 0.32 + lean * 0.1)} ${n(y - t * 0.6)}Q${n(x - w * 0.1 + lean)} ${n(y - t * 0.8)} ${n(x + lean)} ${n(tip)}Q${n(x + w * 0.5 + lean * 0.6)} ${n(y - t * 0.72)} ${n(x + w * 0.34 - lean * 0.1)} ${n(y - t * 0.45)}C${n(x + w * 0.2 - lean)} ${n(y - t * 0.2)} ${n(x + w * 1.4)} ${n(y)} ${n(x + w)} ${n(h)}Z`,
        fill,
        `opacity="${opacity}"`,
      );
    });
  const sparks = times(70, () => {
    const y = random(0, h * 0.8);
    return ellipse(
      random(0, 1000),
      y,
      random(1.5, 5),
      random(4, 12),
      random(0, 1) > 0.4 ? c.accent : c.glow,
      `opacity="${n(random(0.4, 1))}" transform="rotate(${n(random(-25, 25))} 500 ${n(y)})"`,
    );
  });
  return (
    sky(canvas, 0.6) +
    tongues(0.55, 1.6, 8, c.mid, 0.9) +
    glow("g", 500, h * 0.8, 620, c.accent, 0.55) +
    tongues(0.64, 1.25, 10, c.light, 0.85) +
    tongues(0.74, 0.95, 12, c.accent, 0.8) +
    tongues(0.84, 0.62, 13, c.glow, 0.75) +
    sparks
  );
}

function ice(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const shards = times(46, (i) => {
    const angle = (i / 46) * Math.PI * 2 + random(-0.08, 0.08);
    const near = random(200, 430);
    const far = random(700, 1500);
    const spread = random(0.03, 0.11);
    const at = (r: number, a: number): [number, number] => [x + Math.cos(a) * r, y + Math.sin(a) * r * 1.15];
    const fill = [c.light, c.accent, c.glow, c.mid][i % 4] as string;
    return (
      polygon(
        [at(near, angle), at(far, angle - spread), at(far, angle + spread * 0.25)],
        fill,
        `opacity="${n(random(0.25, 0.75))}"`,
      ) +
      polygon(
        [at(near, angle), at(far, angle + spread * 0.25), at(far, angle + spread)],
        c.deep,
        'opacity="0.3"',
      )
    );
  });
  return (
    sky(canvas, 0.35) +
    glow("g", x, y, 700, c.glow, 0.8) +
    shards +
    times(50, () =>
      circle(random(0, 1000), random(0, h), random(1.5, 4.5), c.glow, `opacity="${n(random(0.5, 1))}"`),
    )
  );
}

function galaxy(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const clouds = times(9, (i) =>
    glow(
      `n${i}`,
      random(-100, 1100),
      random(0, h),
      random(260, 560),
      [c.light, c.accent, c.mid][i % 3] as string,
      random(0.35, 0.65),
    ),
  );
  const arms = times(420, (i) => {
    const t = (i / 420) * 7.5;
    const r = 90 + t * 95 + random(-70, 70);
    const a = t + (i % 2) * Math.PI + random(-0.25, 0.25);
    return circle(
      x + Math.cos(a) * r,
      y + Math.sin(a) * r * 0.62 + r * 0.18 * Math.cos(a),
      random(1, 4.2),
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

function clouds({ colours: c, random }: Canvas, y: number, count: number, fill: string): string {
  return times(count, () => {
    const [cx, cy, r] = [random(-50, 1050), y + random(-90, 90), random(70, 170)];
    return (
      ellipse(cx, cy, r * 1.7, r * 0.55, fill, `opacity="${n(random(0.3, 0.7))}"`) +
      ellipse(cx - r * 0.4, cy - r * 0.3, r * 0.8, r * 0.5, c.light, 'opacity="0.12"')
    );
  });
}

function rain(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const drops = times(210, () => {
    const [x, y, l] = [random(-100, 1100), random(-50, h), random(40, 150)];
    return stroke(
      `M${n(x)} ${n(y)}l${n(-l * 0.28)} ${n(l)}`,
      random(0, 1) > 0.5 ? c.accent : c.glow,
      random(1.2, 3.6),
      `opacity="${n(random(0.2, 0.8))}" stroke-linecap="round"`,
    );
  });
  const rings = times(16, () => {
    const r = random(24, 90);
    return ellipse(
      random(0, 1000),
      h - random(0, h * 0.28),
      r,
      r * 0.26,
      "none",
      `stroke="${c.accent}" stroke-width="3" opacity="${n(random(0.3, 0.7))}"`,
    );
  });
  return (
    sky(canvas, 0.7) +
    clouds(canvas, h * 0.06, 14, c.deep) +
    glow("g", canvas.x, canvas.y, 560, c.light, 0.6) +
    rings +
    drops
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

function bolt({ random }: Canvas, x: number, y: number, end: number): string {
  let d = `M${n(x)} ${n(y)}`;
  let bx = x;
  const steps = 9;
  for (let i = 1; i <= steps; i++) {
    bx += random(-75, 75);
    d += `L${n(bx)} ${n(y + ((end - y) * i) / steps)}`;
  }
  return d;
}

function storm(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const bolts = [150, 820, 940, 360].map((x, i) => {
    const d = bolt(canvas, x, -20, h * random(0.55, 1));
    return (
      stroke(d, c.accent, 26 - i * 3, 'opacity="0.16" stroke-linejoin="round"') +
      stroke(d, c.accent, 12 - i, 'opacity="0.5" stroke-linejoin="round"') +
      stroke(d, c.glow, 5, 'stroke-linejoin="bevel"')
    );
  });
  return (
    sky(canvas, 0.55) +
    clouds(canvas, h * 0.1, 22, c.deep) +
    glow("a", 150, h * 0.12, 420, c.accent, 0.7) +
    glow("b", 860, h * 0.1, 480, c.accent, 0.7) +
    bolts.join("") +
    clouds(canvas, h * 0.72, 18, c.deep)
  );
}

/** One rolling line of hills or waves as a filled shape down to the bottom. */
function roll({ height: h, random }: Canvas, y: number, swing: number, fill: string, more = ""): string {
  let d = `M-60 ${n(h + 10)}L-60 ${n(y)}`;
  let px = -60;
  while (px < 1060) {
    const w = random(150, 330);
    d += `Q${n(px + w * 0.5)} ${n(y + random(-swing, swing) * 1.6)} ${n(px + w)} ${n(y + random(-swing, swing) * 0.4)}`;
    px += w;
  }
  return path(`${d}L1100 ${n(h + 10)}Z`, fill, more);
}

function sunset(canvas: Canvas): string {
  const { height: h, x, y, colours: c } = canvas;
  const r = 330;
  const bars = times(7, (i) => rect(x - r, y + 20 + i * 46, 2 * r, 6 + i * 4, c.light, 'opacity="0.85"'));
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

function smoke(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const puffs = times(34, (i) =>
    glow(
      `s${i}`,
      random(-100, 1100),
      h * random(0.1, 1.05),
      random(160, 400),
      [c.light, c.accent, c.deep, c.mid][i % 4] as string,
      random(0.35, 0.75),
    ),
  );
  const wisps = times(9, (i) => {
    const sx = random(-100, 1000);
    return stroke(
      `M${n(sx)} ${n(h)}C${n(sx + random(-300, 300))} ${n(h * 0.7)} ${n(sx + random(-300, 300))} ${n(h * 0.4)} ${n(sx + random(-200, 300))} -30`,
      i % 2 ? c.accent : c.light,
      random(12, 50),
      'opacity="0.1" stroke-linecap="round"',
    );
  });
  return sky(canvas, 0.6) + glow("g", x, y, 560, c.glow, 0.6) + puffs + wisps;
}

function aurora(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const curtain = (id: string, at: number, colour: string) => {
    const phase = random(0, 6);
    return (
      linear(id, [
        [0, colour, 0],
        [0.75, colour, 0.55],
        [1, c.glow, 0],
      ]) +
      times(64, (i) => {
        const px = i * 16 - 10;
        const bottom = h * at + Math.sin(i * 0.13 + phase) * h * 0.1 + Math.sin(i * 0.31 + phase) * 26;
        return rect(px, bottom - h * random(0.24, 0.42), 17, h * 0.42, `url(#${id})`);
      })
    );
  };
  return (
    rect(0, 0, 1000, h, c.deep) +
    times(110, () =>
      circle(
        random(0, 1000),
        random(0, h * 0.8),
        random(0.8, 2.4),
        c.glow,
        `opacity="${n(random(0.3, 0.9))}"`,
      ),
    ) +
    curtain("a", 0.34, c.light) +
    curtain("b", 0.5, c.accent) +
    curtain("d", 0.64, c.light) +
    roll(canvas, h * 0.84, 70, c.mid) +
    roll(canvas, h * 0.92, 50, c.deep)
  );
}

function snow(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const flake = (fx: number, fy: number, r: number) => {
    const arms = times(6, (i) => {
      const [a, b] = [Math.cos((i * Math.PI) / 3), Math.sin((i * Math.PI) / 3)];
      const side = (s: number) =>
        `M${n(fx + a * r * 0.6)} ${n(fy + b * r * 0.6)}l${n((a * 0.5 - b * 0.87 * s) * r * 0.3)} ${n((b * 0.5 + a * 0.87 * s) * r * 0.3)}`;
      return `M${n(fx)} ${n(fy)}L${n(fx + a * r)} ${n(fy + b * r)}${side(1)}${side(-1)}`;
    });
    return stroke(arms, c.glow, Math.max(2, r / 12), 'stroke-linecap="round" opacity="0.8"');
  };
  return (
    sky(canvas, 0.5) +
    glow("g", x, y, 620, c.glow, 0.7) +
    roll(canvas, h * 0.66, 60, c.light) +
    roll(canvas, h * 0.78, 50, c.accent, 'opacity="0.9"') +
    times(12, () => flake(random(0, 1000), random(0, h), random(26, 70))) +
    times(150, () =>
      circle(random(0, 1000), random(0, h), random(2, 9), c.glow, `opacity="${n(random(0.4, 0.95))}"`),
    )
  );
}

function night(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const moon =
    circle(x, y, 300, c.accent) +
    [
      [-90, -80, 62],
      [80, 40, 84],
      [-30, 130, 46],
      [130, -120, 36],
      [-160, 60, 34],
    ]
      .map(([dx, dy, r]) =>
        circle(x + (dx as number), y + (dy as number), r as number, c.light, 'opacity="0.35"'),
      )
      .join("");
  return (
    linear("sky", [
      [0, c.deep],
      [1, c.mid],
    ]) +
    rect(0, 0, 1000, h, "url(#sky)") +
    times(180, () =>
      circle(random(0, 1000), random(0, h), random(0.8, 3), c.glow, `opacity="${n(random(0.3, 1))}"`),
    ) +
    glow("g", x, y, 720, c.glow, 0.55) +
    moon +
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
