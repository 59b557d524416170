import type { Canvas } from "./scene-canvas.ts";
import { circle, linear, n, path, polygon, radial, rect, stroke, times } from "./svg.ts";

type Motif = (canvas: Canvas, step: number, colour: string) => string;

/** Motifs for words that match no theme; the text's seed picks two of them with their angle and size. */
const MOTIFS: Motif[] = [hexagons, triangles, rings, chevrons, bars, halftone, waves, diamonds, plus, scales];

/** The designs of a card without a theme: one crystal, lit differently for each player. */
const LIGHTS = [rays, blades, orbits, speedLines];

/**
 * Draws "facets", the design of a card without a theme; "sashes" in the canvas's tones; or the pattern of an
 * unknown text.
 */
export function drawPattern(scene: "facets" | "sashes" | "pattern", canvas: Canvas): string {
  if (scene === "facets") return facets(canvas);
  return scene === "sashes" ? sashes(canvas) : seeded(canvas);
}

function base({ height: h, x, y, colours: c }: Canvas, turn: number): string {
  const [dx, dy] = [Math.cos(turn) / 2, Math.sin(turn) / 2];
  return (
    linear(
      "base",
      [
        [0, c.light],
        [0.42, c.mid],
        [1, c.deep],
      ],
      [0.5 - dx, 0.5 - dy, 0.5 + dx, 0.5 + dy].map((v) => Math.round(v * 100) / 100) as [
        number,
        number,
        number,
        number,
      ],
    ) +
    radial("spot", [
      [0, c.glow, 0.75],
      [0.5, c.light, 0.35],
      [1, c.light, 0],
    ]) +
    rect(0, 0, 1000, h, "url(#base)") +
    circle(x, y, 620, "url(#spot)")
  );
}

const pointAt =
  ({ x, y }: Canvas) =>
  (r: number, a: number): [number, number] => [x + Math.cos(a) * r, y + 80 + Math.sin(a) * r];

/** Light that shines from behind the head and fades out at its radius. */
function lightOf({ x, y, colours: c }: Canvas): string {
  return `<radialGradient id="ray" gradientUnits="userSpaceOnUse" cx="${n(x)}" cy="${n(y + 80)}" r="1100"><stop offset="0" stop-color="${c.glow}" stop-opacity="0.5"/><stop offset="0.6" stop-color="${c.light}" stop-opacity="0.3"/><stop offset="1" stop-color="${c.light}" stop-opacity="0"/></radialGradient>`;
}

/**
 * Cut crystal: a mesh of tilted facets around the light behind the player, light in it, bars in the second
 * colour.
 */
function facets(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const at = pointAt(canvas);
  const light = LIGHTS[Math.floor(random(0, LIGHTS.length))] ?? rays;
  const splinters = times(36, (i) => {
    const a = random(0, Math.PI * 2);
    const r = random(420, 1000);
    const long = random(24, 90);
    const wide = random(0.004, 0.014);
    return polygon(
      [at(r, a), at(r + long * 0.4, a + wide), at(r + long, a), at(r + long * 0.3, a - wide * 0.6)],
      i % 4 === 0 ? c.accent : c.glow,
      `fill-opacity="${n(random(0.4, 0.9))}"`,
    );
  });
  const shift = random(-70, 90);
  const slope = random(0.3, 0.5);
  const bar = (x: number, wide: number, tone: string, opacity: number) =>
    polygon(
      [
        [shift + x, -10],
        [shift + x + wide, -10],
        [shift + x + wide - h * slope, h],
        [shift + x - h * slope, h],
      ],
      tone,
      `fill-opacity="${opacity}"`,
    );
  const bars = [
    bar(915, 9, c.accent, 1),
    bar(936, 3, c.accent, 0.9),
    bar(1010, 60, c.glow, 0.14),
    bar(1180, 22, c.accent, 1),
    bar(1215, 4, c.accent, 0.9),
    bar(150, 46, c.light, 0.2),
    bar(216, 6, c.light, 0.35),
  ];
  return (
    base(canvas, random(1.05, 2.1)) +
    crystal(canvas) +
    lightOf(canvas) +
    light(canvas) +
    bars.join("") +
    splinters
  );
}

/** One path for all rays, so that their gradient is computed once. */
function rays(canvas: Canvas): string {
  const { random } = canvas;
  const at = pointAt(canvas);
  return path(
    times(17, (i) => {
      const a = (i / 17) * Math.PI * 2 + random(-0.1, 0.1);
      const w = random(0.025, 0.085);
      const corners = [at(random(60, 200), a), at(1150, a - w), at(1150, a + w)];
      return `M${corners.map(([px, py]) => `${n(px)} ${n(py)}`).join("L")}Z`;
    }),
    "url(#ray)",
  );
}

/** Broad blades rising from the bottom, like pieces of cut glass. */
function blades({ height: h, colours: c, random }: Canvas): string {
  return times(12, (i) => {
    const x = ((i + random(0.1, 0.9)) / 12) * 1100 - 50;
    const lean = (x - 500) * random(0.3, 0.7);
    const wide = random(26, 80);
    const tip = h * random(0.08, 0.55);
    return (
      polygon(
        [
          [x - wide, h],
          [x + lean, tip],
          [x, h],
        ],
        c.glow,
        `fill-opacity="${n(random(0.1, 0.34))}"`,
      ) +
      polygon(
        [
          [x, h],
          [x + lean, tip],
          [x + wide, h],
        ],
        c.deep,
        'fill-opacity="0.4"',
      )
    );
  });
}

/** Broken rings around the light, and dots between them. */
function orbits(canvas: Canvas): string {
  const { x, y, colours: c, random } = canvas;
  const ring = (i: number) => {
    const r = 250 + i * 82;
    const round = Math.PI * 2 * r;
    return circle(
      x,
      y + 80,
      r,
      "none",
      `stroke="${i % 3 ? c.glow : c.accent}" stroke-width="${n(i % 3 ? random(3, 22) : 8)}" stroke-opacity="${i % 3 ? 0.22 : 0.85}" stroke-dasharray="${n(round * random(0.1, 0.34))} ${n(round * random(0.06, 0.3))}" stroke-dashoffset="${n(random(0, round))}"`,
    );
  };
  const at = pointAt(canvas);
  const dots = times(90, (i) => {
    const [px, py] = at(300 + (i % 10) * 82, (Math.floor(i / 10) / 9) * Math.PI * 2 + (i % 10) * 0.13);
    return circle(px, py, 3 + (i % 10) * 0.9, c.glow, 'fill-opacity="0.55"');
  });
  return times(11, ring) + dots;
}

/** Streaks across the card, as behind a sprinter. */
function speedLines({ height: h, colours: c, random }: Canvas): string {
  return times(46, (i) => {
    const y = random(-0.1, 1.1) * h;
    const [x, long, wide] = [random(-300, 900), random(160, 700), random(2, 20)];
    const drop = long * 0.2;
    return polygon(
      [
        [x, y],
        [x + long, y - drop],
        [x + long * 0.96, y - drop + wide],
      ],
      i % 5 ? c.glow : c.accent,
      `fill-opacity="${i % 5 ? n(random(0.2, 0.5)) : 0.9}"`,
    );
  });
}

/** Broad sashes across the card, one in each of the canvas's tones, over cut crystal. */
function sashes(canvas: Canvas): string {
  const { height: h, tones, random } = canvas;
  const slope = random(0.5, 0.7) * 1000;
  const step = (h + slope) / tones.length;
  const bands = tones.map((tone, i) => {
    const y = i * step - slope;
    return polygon(
      [
        [-10, y + slope],
        [1010, y],
        [1010, y + step + 2],
        [-10, y + slope + step + 2],
      ],
      tone,
    );
  });
  return bands.join("") + lightOf(canvas) + crystal(canvas) + rays(canvas);
}

/** A jittered mesh of triangles, each lit by how far it faces the upper left, like cut stone. */
function crystal({ height: h, x, y, colours: c, random }: Canvas): string {
  const step = 175;
  const columns = Math.ceil(1000 / step) + 2;
  const rows = Math.ceil(h / step) + 2;
  const points = Array.from({ length: rows * columns }, (_, i) => ({
    x: ((i % columns) - 0.5) * step + random(-0.36, 0.36) * step,
    y: (Math.floor(i / columns) - 0.5) * step + random(-0.36, 0.36) * step,
    z: random(0, 1),
  }));
  const triangle = (i: number, k: number, l: number): string => {
    const [p, q, r] = [points[i], points[k], points[l]];
    if (!p || !q || !r) return "";
    // The slope along the light of the plane through the three heights.
    const area = (q.x - p.x) * (r.y - p.y) - (r.x - p.x) * (q.y - p.y);
    const dx = ((q.z - p.z) * (r.y - p.y) - (r.z - p.z) * (q.y - p.y)) / area;
    const dy = ((r.z - p.z) * (q.x - p.x) - (q.z - p.z) * (r.x - p.x)) / area;
    const lit = Math.max(-1, Math.min(1, (dx * 0.6 + dy * 0.8) * step * 0.8));
    const far = Math.hypot((p.x + q.x + r.x) / 3 - x, (p.y + q.y + r.y) / 3 - y);
    const strength = Math.min(1, 0.35 + far / 900) * Math.abs(lit);
    return polygon(
      [
        [p.x, p.y],
        [q.x, q.y],
        [r.x, r.y],
      ],
      lit > 0 ? c.glow : c.deep,
      `fill-opacity="${(strength * (lit > 0 ? 0.3 : 0.6)).toFixed(2)}"`,
    );
  };
  return times(rows * columns, (i) =>
    i % columns === columns - 1
      ? ""
      : triangle(i, i + 1, i + columns) + triangle(i + 1, i + columns + 1, i + columns),
  );
}

function seeded(canvas: Canvas): string {
  const { height: h, colours: c, random, shared } = canvas;
  const first = Math.floor(shared(0, MOTIFS.length));
  const second = (first + 1 + Math.floor(shared(0, MOTIFS.length - 1))) % MOTIFS.length;
  const turn = shared(-40, 40) + random(-8, 8);
  const draw = (index: number, step: number, colour: string, opacity: number, angle: number) =>
    `<g opacity="${opacity}" transform="rotate(${n(angle)} 500 ${n(h / 2)})">${MOTIFS[index]?.(canvas, step, colour)}</g>`;
  return (
    base(canvas, random(0, 6.28)) +
    draw(second, shared(150, 240), c.deep, 0.45, turn + 30) +
    draw(first, shared(70, 140), c.accent, 0.6, turn)
  );
}

/** Calls `draw` on a grid that covers the canvas even when rotated by 45 degrees. */
function grid(
  { height: h }: Canvas,
  dx: number,
  dy: number,
  draw: (x: number, y: number, row: number, column: number) => string,
): string {
  const reach = Math.hypot(1000, h) / 2;
  const columns = Math.ceil((2 * reach) / dx) + 1;
  const rows = Math.ceil((2 * reach) / dy) + 1;
  return times(rows, (row) =>
    times(columns, (column) => draw(500 - reach + column * dx, h / 2 - reach + row * dy, row, column)),
  );
}

function hexagons(canvas: Canvas, step: number, colour: string): string {
  const r = step * 0.56;
  return grid(canvas, step, step * 0.87, (x, y, row) => {
    const cx = x + (row % 2) * step * 0.5;
    const points = Array.from({ length: 6 }, (_, i): [number, number] => [
      cx + Math.sin((i * Math.PI) / 3) * r,
      y + Math.cos((i * Math.PI) / 3) * r,
    ]);
    return polygon(
      points,
      canvas.random(0, 1) > 0.72 ? colour : "none",
      `stroke="${colour}" stroke-width="4"`,
    );
  });
}

function triangles(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, step, step, (x, y, row, column) => {
    const up = (row + column) % 2 === 0;
    return polygon(
      up
        ? [
            [x, y + step],
            [x + step, y + step],
            [x + step / 2, y],
          ]
        : [
            [x, y],
            [x + step, y],
            [x + step / 2, y + step],
          ],
      colour,
      `opacity="${n(canvas.random(0, 0.9))}"`,
    );
  });
}

function rings({ x, y }: Canvas, step: number, colour: string): string {
  return times(18, (i) =>
    circle(
      x,
      y,
      (i + 1) * step * 0.75,
      "none",
      `stroke="${colour}" stroke-width="${n(step * (i % 3 ? 0.12 : 0.34))}"`,
    ),
  );
}

function chevrons(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, 2000, step, (_, y, row) =>
    stroke(`M-500 ${n(y + 500)}L500 ${n(y)}L1500 ${n(y + 500)}`, colour, step * (row % 3 ? 0.16 : 0.44)),
  );
}

function bars(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, step, 4000, (x) =>
    rect(x, -1000, step * canvas.random(0.08, 0.62), 4000, colour, `opacity="${n(canvas.random(0.3, 1))}"`),
  );
}

function halftone(canvas: Canvas, step: number, colour: string): string {
  const s = Math.max(44, step * 0.45);
  return grid(canvas, s, s, (x, y, row) => {
    const d = Math.hypot(x - canvas.x, y - canvas.y);
    return circle(x + (row % 2) * s * 0.5, y, Math.max(2, Math.min(s * 0.55, (d / 1100) * s * 0.7)), colour);
  });
}

function waves(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, 4000, step * 0.7, (_, y, row) => {
    let d = `M-500 ${n(y)}`;
    for (let x = -500; x < 1500; x += step * 2)
      d += `q${n(step * 0.5)} ${n(-step * 0.6)} ${n(step)} 0t${n(step)} 0`;
    return stroke(d, colour, row % 2 ? 6 : step * 0.2);
  });
}

function diamonds(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, step, step * 1.6, (x, y, row, column) => {
    const s = step * (canvas.random(0, 1) > 0.5 ? 0.46 : 0.24);
    const oy = y + (column % 2) * step * 0.8;
    return polygon(
      [
        [x, oy - s * 1.6],
        [x + s, oy],
        [x, oy + s * 1.6],
        [x - s, oy],
      ],
      (row + column) % 3 ? "none" : colour,
      `stroke="${colour}" stroke-width="5"`,
    );
  });
}

function plus(canvas: Canvas, step: number, colour: string): string {
  return grid(canvas, step, step, (x, y, row, column) => {
    const s = step * ((row + column) % 2 ? 0.2 : 0.36);
    return stroke(`M${n(x - s)} ${n(y)}h${n(2 * s)}M${n(x)} ${n(y - s)}v${n(2 * s)}`, colour, s * 0.55);
  });
}

function scales(canvas: Canvas, step: number, colour: string): string {
  return grid(
    canvas,
    step,
    step * 0.5,
    (x, y, row) =>
      circle(x + (row % 2) * step * 0.5, y, step * 0.48, "none", `stroke="${colour}" stroke-width="7"`) +
      circle(x + (row % 2) * step * 0.5, y, step * 0.2, "none", `stroke="${colour}" stroke-width="5"`),
  );
}
