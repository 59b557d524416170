import type { Canvas, Painter } from "./scene-canvas.ts";
import { circle, ellipse, linear, n, path, polygon, radial, rect, stroke, times } from "./svg.ts";

/** Themes of man-made places. */
export const PLACES = {
  stadium,
  neon,
  gold,
  city,
  carbon,
  retro,
  pitch,
  confetti,
  circuit,
  royal,
} satisfies Record<string, Painter>;

function ground({ height, colours: c }: Canvas, middle = 0.5): string {
  return (
    linear("ground", [
      [0, c.deep],
      [middle, c.mid],
      [1, c.deep],
    ]) + rect(0, 0, 1000, height, "url(#ground)")
  );
}

function glow(id: string, x: number, y: number, r: number, colour: string, opacity: number): string {
  return (
    radial(id, [
      [0, colour, opacity],
      [0.45, colour, opacity * 0.38],
      [1, colour, 0],
    ]) + circle(x, y, r, `url(#${id})`)
  );
}

function stadium(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  const tier = (top: number, bottom: number, fill: string) =>
    path(
      `M-20 ${n(h * top)}Q500 ${n(h * (top + 0.09))} 1020 ${n(h * top)}L1020 ${n(h * bottom)}Q500 ${n(h * (bottom + 0.06))} -20 ${n(h * bottom)}Z`,
      fill,
    );
  const crowd = (top: number, rows: number) =>
    times(rows, (row) =>
      times(40, (i) => {
        const px = i * 25.6 + random(-6, 6);
        const sag = 1 - ((px - 500) / 500) ** 2;
        return circle(
          px,
          h * (top + row * 0.0165) + sag * h * 0.045,
          random(4, 7.5),
          [c.light, c.accent, c.mid, c.glow][Math.floor(random(0, 4))] as string,
          `opacity="${n(random(0.3, 0.85))}"`,
        );
      }),
    );
  const lamps = [90, 300, 700, 910].map(
    (x, i) =>
      glow(`l${i}`, x, h * 0.07, 230, c.glow, 0.95) +
      times(8, (k) => circle(x - 42 + (k % 4) * 28, h * 0.055 + Math.floor(k / 4) * 26, 10, "#ffffff")) +
      polygon(
        [
          [x - 36, h * 0.07],
          [x + 36, h * 0.07],
          [x + (500 - x) * 1.1 + 190, h],
          [x + (500 - x) * 1.1 - 190, h],
        ],
        c.glow,
        'opacity="0.11"',
      ),
  );
  const mowing = times(9, (i) =>
    polygon(
      [
        [500 + (i - 4.5) * 90, h * 0.62],
        [500 + (i - 3.5) * 90, h * 0.62],
        [500 + (i - 3.5) * 260, h],
        [500 + (i - 4.5) * 260, h],
      ],
      i % 2 ? c.mid : c.light,
      'opacity="0.85"',
    ),
  );
  return (
    ground(canvas) +
    tier(0.13, 0.36, c.deep) +
    crowd(0.16, 11) +
    tier(0.365, 0.4, c.mid) +
    tier(0.4, 0.6, c.deep) +
    crowd(0.42, 9) +
    rect(0, h * 0.62, 1000, h * 0.4, c.mid) +
    mowing +
    rect(0, h * 0.615, 1000, 8, c.glow, 'opacity="0.8"') +
    lamps.join("")
  );
}

function neon(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const tube = (d: string, colour: string, width: number) =>
    stroke(d, colour, width * 4.5, 'opacity="0.16" stroke-linejoin="round"') +
    stroke(d, colour, width * 2, 'opacity="0.4" stroke-linejoin="round"') +
    stroke(d, colour, width, 'stroke-linejoin="round"') +
    stroke(d, "#ffffff", width * 0.35, 'opacity="0.9" stroke-linejoin="round"');
  const frame = (r: number, sides: number, turn: number) =>
    `M${Array.from({ length: sides }, (_, i) => `${n(x + Math.cos(turn + (i * 2 * Math.PI) / sides) * r)} ${n(y + 60 + Math.sin(turn + (i * 2 * Math.PI) / sides) * r)}`).join("L")}Z`;
  const horizon = h * 0.66;
  const floor =
    times(17, (i) =>
      stroke(
        `M${n(500 + (i - 8) * 40)} ${n(horizon)}L${n(500 + (i - 8) * 320)} ${n(h)}`,
        c.accent,
        3,
        'opacity="0.75"',
      ),
    ) +
    times(9, (i) =>
      stroke(`M0 ${n(horizon + (h - horizon) * (i / 8) ** 2)}H1000`, c.accent, 2 + i * 0.4, 'opacity="0.75"'),
    );
  const bars = times(7, (i) => {
    const bx = [40, 105, 165, 850, 905, 960, 230][i] as number;
    const top = random(h * 0.05, h * 0.3);
    return tube(`M${bx} ${n(top)}V${n(top + random(h * 0.12, h * 0.34))}`, i % 2 ? c.glow : c.accent, 7);
  });
  return (
    ground(canvas, 0.62) +
    glow("g", x, y, 700, c.light, 0.8) +
    floor +
    tube(frame(430, 3, -Math.PI / 2), c.accent, 9) +
    tube(frame(330, 3, -Math.PI / 2), c.glow, 6) +
    bars
  );
}

function burst({ x, y }: Canvas, count: number, fill: string, opacity: number, turn = 0): string {
  return times(count, (i) => {
    const a = ((i * 2 + turn) / (count * 2)) * Math.PI * 2;
    const b = ((i * 2 + 1 + turn) / (count * 2)) * Math.PI * 2;
    return polygon(
      [
        [x, y],
        [x + Math.cos(a) * 2200, y + Math.sin(a) * 2200],
        [x + Math.cos(b) * 2200, y + Math.sin(b) * 2200],
      ],
      fill,
      `opacity="${opacity}"`,
    );
  });
}

function gold(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const flakes = times(110, () => {
    const [px, py, s] = [random(0, 1000), random(0, h), random(4, 17)];
    return polygon(
      [
        [px, py - s],
        [px + s * 0.7, py],
        [px, py + s * random(0.5, 1)],
        [px - s * 0.7, py],
      ],
      [c.accent, c.glow, c.light][Math.floor(random(0, 3))] as string,
      `opacity="${n(random(0.4, 1))}" transform="rotate(${n(random(0, 180))} ${n(px)} ${n(py)})"`,
    );
  });
  const rings = [250, 285, 440, 452, 600].map((r, i) =>
    circle(x, y, r, "none", `stroke="${c.accent}" stroke-width="${[10, 3, 5, 2, 3][i]}" opacity="0.65"`),
  );
  return (
    linear(
      "ground",
      [
        [0, c.light],
        [0.3, c.mid],
        [0.52, c.light],
        [0.75, c.mid],
        [1, c.deep],
      ],
      [0, 0, 1, 1],
    ) +
    rect(0, 0, 1000, h, "url(#ground)") +
    burst(canvas, 22, c.accent, 0.32) +
    burst(canvas, 22, c.deep, 0.22, 1) +
    glow("g", x, y, 640, c.glow, 0.9) +
    rings.join("") +
    flakes
  );
}

function city(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const row = (base: number, low: number, high: number, wide: number, fill: string, lit: number) => {
    let svg = "";
    for (let bx = -20; bx < 1010; ) {
      const w = random(wide * 0.6, wide * 1.3);
      const top = h * (base - random(low, high));
      svg += rect(bx, top, w - 4, h - top, fill);
      if (random(0, 1) > 0.6) svg += rect(bx + w / 2 - 3, top - 60, 6, 62, fill);
      for (let wy = top + 16; wy < h * 0.86; wy += 30)
        for (let wx = bx + 10; wx < bx + w - 20; wx += 24)
          if (random(0, 1) < lit) svg += rect(wx, wy, 11, 16, c.accent, `opacity="${n(random(0.5, 1))}"`);
      bx += w;
    }
    return svg;
  };
  return (
    linear("ground", [
      [0, c.deep],
      [0.45, c.mid],
      [0.8, c.light],
    ]) +
    rect(0, 0, 1000, h, "url(#ground)") +
    glow("g", x, y, 660, c.glow, 0.6) +
    `<g opacity="0.55">${row(0.8, 0.42, 0.68, 110, c.mid, 0.05)}</g>` +
    row(0.95, 0.34, 0.66, 150, c.deep, 0.3)
  );
}

function carbon(canvas: Canvas): string {
  const { height: h, x, y, colours: c } = canvas;
  const s = 44;
  const weave = `<pattern id="w" width="${s}" height="${s}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">${rect(0, 0, s, s, c.deep)}${rect(1, 1, s / 2 - 2, s / 2 - 2, "url(#t)")}${rect(s / 2 + 1, s / 2 + 1, s / 2 - 2, s / 2 - 2, "url(#t)")}${rect(s / 2 + 1, 1, s / 2 - 2, s / 2 - 2, "url(#v)")}${rect(1, s / 2 + 1, s / 2 - 2, s / 2 - 2, "url(#v)")}</pattern>`;
  const slashes = [0, 1, 2].map((i) =>
    polygon(
      [
        [700 + i * 90, -10],
        [740 + i * 90, -10],
        [740 + i * 90 - h * 0.55, h],
        [700 + i * 90 - h * 0.55, h],
      ],
      i === 1 ? c.glow : c.accent,
      `opacity="${[0.85, 0.5, 0.3][i]}"`,
    ),
  );
  return (
    linear("t", [
      [0, c.mid],
      [0.5, c.light],
      [1, c.mid],
    ]) +
    linear(
      "v",
      [
        [0, c.deep],
        [0.5, c.mid],
        [1, c.deep],
      ],
      [0, 0, 1, 0],
    ) +
    weave +
    rect(0, 0, 1000, h, "url(#w)") +
    glow("g", x, y, 640, c.glow, 0.5) +
    slashes.join("")
  );
}

function retro(canvas: Canvas): string {
  const { height: h, x, y, colours: c } = canvas;
  const tones = [c.deep, c.light, c.accent, c.mid, c.glow];
  const arcs = times(11, (i) => circle(x, y + 40, 760 - i * 62, tones[i % tones.length] as string));
  const bands = times(5, (i) =>
    path(
      `M-20 ${n(h * 0.62 + i * 62)}C300 ${n(h * 0.62 + i * 62)} 380 ${n(h * 0.84 + i * 62)} 1020 ${n(h * 0.84 + i * 62)}V${n(h * 0.84 + i * 62 + 64)}C380 ${n(h * 0.84 + i * 62 + 64)} 300 ${n(h * 0.62 + i * 62 + 64)} -20 ${n(h * 0.62 + i * 62 + 64)}Z`,
      tones[(i + 1) % tones.length] as string,
    ),
  );
  return rect(0, 0, 1000, h, c.mid) + arcs + bands;
}

function pitch(canvas: Canvas): string {
  const { height: h, colours: c, x, y } = canvas;
  const stripes = times(12, (i) => rect(0, (i * h) / 12, 1000, h / 12 + 1, i % 2 ? c.mid : c.light));
  const line = (d: string) => stroke(d, c.accent, 11, 'opacity="0.9"');
  const blades = times(260, () => {
    const [bx, by] = [canvas.random(0, 1000), canvas.random(0, h)];
    return stroke(
      `M${n(bx)} ${n(by)}l${n(canvas.random(-5, 5))} ${n(-canvas.random(8, 20))}`,
      c.deep,
      2,
      'opacity="0.25"',
    );
  });
  return (
    stripes +
    blades +
    line(
      `M0 ${n(h * 0.5)}H1000M50 0V${n(h)}M950 0V${n(h)}M230 0V${n(h * 0.17)}H770V0M370 0V${n(h * 0.07)}H630V0`,
    ) +
    circle(500, h * 0.5, 210, "none", `stroke="${c.accent}" stroke-width="11" opacity="0.9"`) +
    ellipse(500, h * 0.17, 110, 60, "none", `stroke="${c.accent}" stroke-width="9" opacity="0.6"`) +
    glow("g", x, y, 560, c.glow, 0.55)
  );
}

function confetti(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const tones = [c.accent, c.glow, c.light, c.accent];
  const pieces = times(170, (i) => {
    const [px, py] = [random(0, 1000), random(0, h)];
    return rect(
      px,
      py,
      random(10, 28),
      random(6, 14),
      tones[i % 4] as string,
      `opacity="${n(random(0.6, 1))}" transform="rotate(${n(random(0, 180))} ${n(px)} ${n(py)})"`,
    );
  });
  const streamers = times(9, (i) => {
    const sx = i * 125 + random(-40, 40);
    let d = `M${n(sx)} -20`;
    for (let k = 0; k < 9; k++) d += `q${n(k % 2 ? -56 : 56)} ${n(h * 0.03)} 0 ${n(h * 0.06)}`;
    return stroke(d, tones[i % 4] as string, 11, 'opacity="0.75" stroke-linecap="round"');
  });
  return (
    linear("ground", [
      [0, c.mid],
      [0.5, c.light],
      [1, c.deep],
    ]) +
    rect(0, 0, 1000, h, "url(#ground)") +
    burst(canvas, 12, c.deep, 0.2) +
    glow("g", x, y, 620, c.glow, 0.7) +
    streamers +
    pieces
  );
}

function circuit(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  const traces = times(64, (i) => {
    const left = i % 2 === 0;
    const sy = (Math.floor(i / 2) / 32) * h * 1.05;
    const run = random(60, 300);
    const drop = random(-1, 1) > 0 ? 1 : -1;
    const jog = random(30, 110);
    const more = random(40, 150);
    const s = left ? 1 : -1;
    const sx = left ? -10 : 1010;
    const end: [number, number] = [sx + s * (run + jog + more), sy + drop * jog];
    const colour = i % 3 ? c.accent : c.glow;
    return (
      stroke(
        `M${sx} ${n(sy)}h${n(s * run)}l${n(s * jog)} ${n(drop * jog)}h${n(s * more)}`,
        colour,
        i % 5 ? 4 : 8,
        'opacity="0.8"',
      ) + circle(...end, 10, c.deep, `stroke="${colour}" stroke-width="5"`)
    );
  });
  const bits = times(90, () =>
    rect(
      Math.round(random(0, 40)) * 25,
      Math.round(random(0, h / 25)) * 25,
      12,
      12,
      c.accent,
      `opacity="${n(random(0.1, 0.4))}"`,
    ),
  );
  return ground(canvas, 0.4) + bits + glow("g", x, y, 600, c.light, 0.85) + traces;
}

function royal(canvas: Canvas): string {
  const { height: h, x, y, colours: c } = canvas;
  const s = 130;
  const lily =
    "M65 22C80 45 84 60 72 78C92 60 110 66 108 84C106 98 92 100 86 92C84 104 74 108 70 112L72 126H58L60 112C56 108 46 104 44 92C38 100 24 98 22 84C20 66 38 60 58 78C46 60 50 45 65 22Z";
  const tile = `<pattern id="r" width="${s}" height="${s * 1.3}" patternUnits="userSpaceOnUse">${path(`M65 0L130 85L65 169L0 85Z`, "none", `stroke="${c.accent}" stroke-width="3.500" opacity="0.55"`)}<g transform="translate(0 10)">${path(lily, c.accent, 'opacity="0.5"')}</g></pattern>`;
  const drapes = times(8, (i) =>
    polygon(
      [
        [i * 128 - 10, 0],
        [i * 128 + 54, 0],
        [i * 128 + 40, h],
        [i * 128 + 4, h],
      ],
      c.deep,
      'opacity="0.3"',
    ),
  );
  return (
    tile + ground(canvas, 0.45) + drapes + rect(0, 0, 1000, h, "url(#r)") + glow("g", x, y, 640, c.glow, 0.65)
  );
}
