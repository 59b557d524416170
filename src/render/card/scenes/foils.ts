import type { Tier } from "../colours.ts";
import type { Canvas } from "./scene-canvas.ts";
import { n, path, polygon, times } from "./svg.ts";

// What the tier's print adds to every scene, whatever its theme and the club's colours. Flat shapes only: one
// gradient over the whole card would cost as much as everything else on it.

const FOILS: Record<Tier, (canvas: Canvas) => string> = { bronze, silver, gold, elite };

/** The tier's foil over a scene. */
export function drawFoil(tier: Tier, canvas: Canvas): string {
  return FOILS[tier](canvas);
}

/** Uncoated stock: fine hatching in copper. */
function bronze({ height: h, random }: Canvas): string {
  const step = 25;
  const shift = random(0, step);
  const lines = times(
    Math.ceil((1000 + h) / step),
    (i) => `M${n(shift + i * step)} -5l-${n(h + 10)} ${n(h + 10)}`,
  );
  return `<path d="${lines}" stroke="#e2a070" stroke-width="4" stroke-opacity="0.3" fill="none"/>`;
}

/** Brushed steel: vertical lines, and two broad reflections across them. */
function silver({ height: h, random }: Canvas): string {
  const lines = times(56, () => {
    const [x, wide] = [random(-20, 1000), random(1.5, 5)];
    return `M${n(x)} -5h${n(wide)}v${n(h + 10)}h-${n(wide)}z`;
  });
  const at = random(-250, 350);
  const band = (x: number, wide: number, opacity: number) =>
    polygon(
      [
        [x + h * 0.24, -5],
        [x + h * 0.24 + wide, -5],
        [x + wide, h + 5],
        [x, h + 5],
      ],
      "#ffffff",
      `opacity="${opacity}"`,
    );
  return (
    path(lines, "#eef3f8", 'opacity="0.26"') +
    band(at, 120, 0.2) +
    band(at + 170, 44, 0.26) +
    band(at + 560, 190, 0.16)
  );
}

/** Gold foil: rays from behind the player's head. */
function gold({ x, y, random }: Canvas): string {
  const turn = random(0, Math.PI);
  const rays = (count: number, wide: number) =>
    times(count, (i) => {
      const a = turn + (i / count) * Math.PI * 2 + random(-0.04, 0.04);
      const at = (r: number, angle: number) =>
        `${n(x + Math.cos(angle) * r)} ${n(y + 40 + Math.sin(angle) * r)}`;
      return `M${at(150, a)}L${at(1800, a - wide)}L${at(1800, a + wide)}Z`;
    });
  return (
    path(rays(26, 0.018), "#ffe08a", 'opacity="0.38"') + path(rays(15, 0.05), "#ffd35e", 'opacity="0.2"')
  );
}

/** A hologram: broad splinters of the spectrum with hard edges, and fine lines of light across them. */
function elite({ height: h, random }: Canvas): string {
  const spectrum = ["#ff3cbe", "#3cffe6", "#a05aff", "#ffdc5a", "#5affbe", "#5a8cff"];
  const turn = Math.floor(random(0, spectrum.length));
  const lean = random(0.25, 0.6) * h;
  let x = -lean - 40;
  const bands = times(12, (i) => {
    const [from, wide] = [x, random(70, 210)];
    x += wide + random(10, 60);
    const [top, foot] = [random(-60, 60), random(-60, 60)];
    return polygon(
      [
        [from + lean + top, -5],
        [from + lean + wide + top, -5],
        [from + wide + foot, h + 5],
        [from + foot, h + 5],
      ],
      spectrum[(i + turn) % spectrum.length] as string,
      `opacity="${random(0.2, 0.36).toFixed(2)}"`,
    );
  });
  const step = 36;
  const lines = times(Math.ceil((1000 + h) / step), (i) => `M${i * step - h} -5l${n(h * 1.1)} ${n(h + 10)}`);
  return `${bands}<path d="${lines}" stroke="#ffffff" stroke-width="3" stroke-opacity="0.24" fill="none"/>`;
}
