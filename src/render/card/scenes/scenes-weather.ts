import type { Canvas, Painter } from "./scene-canvas.ts";
import { clouds, glow, roll, sky } from "./scene-sky.ts";
import { circle, ellipse, linear, n, path, polygon, rect, stroke, times } from "./svg.ts";

/** Themes of weather and the elements. */
export const WEATHER = { fire, ice, rain, storm, smoke, aurora, snow } satisfies Record<string, Painter>;

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
      // Each side of a flame: out at the foot, in at the waist, out again and over to the tip, as two
      // opposite bends.
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
  return (
    sky(canvas, 0.7) +
    clouds(canvas, h * 0.06, 14, c.deep) +
    glow("g", canvas.x, canvas.y, 560, c.light, 0.6) +
    drops
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

function smoke(canvas: Canvas): string {
  const { height: h, x, y, colours: c, random } = canvas;
  // Each billow is lit from above and dark below; most are at the sides, away from the player.
  const puffs = times(42, (i) => {
    const px = i % 3 === 0 ? random(0, 1000) : i % 3 === 1 ? random(-40, 300) : random(700, 1040);
    const py = h * (0.08 + (i / 42) * 0.92);
    const r = random(90, 210);
    return (
      glow(`d${i}`, px, py + r * 0.4, r * 1.15, c.deep, 0.8) +
      glow(`s${i}`, px, py, r, i % 4 ? "#eef0f5" : c.glow, random(0.6, 0.95))
    );
  });
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
