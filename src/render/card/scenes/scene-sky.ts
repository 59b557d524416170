import type { Canvas } from "./scene-canvas.ts";
import { circle, ellipse, linear, n, path, radial, rect, times } from "./svg.ts";

export function sky({ height, colours: c }: Canvas, middle = 0.5): string {
  return (
    linear("sky", [
      [0, c.deep],
      [middle, c.mid],
      [1, c.light],
    ]) + rect(0, 0, 1000, height, "url(#sky)")
  );
}

/** A soft round light. */
export function glow(id: string, x: number, y: number, r: number, colour: string, opacity: number): string {
  return (
    radial(id, [
      [0, colour, opacity],
      [0.45, colour, opacity * 0.38],
      [1, colour, 0],
    ]) + circle(x, y, r, `url(#${id})`)
  );
}

export function clouds({ colours: c, random }: Canvas, y: number, count: number, fill: string): string {
  return times(count, () => {
    const [cx, cy, r] = [random(-50, 1050), y + random(-90, 90), random(70, 170)];
    return (
      ellipse(cx, cy, r * 1.7, r * 0.55, fill, `opacity="${n(random(0.3, 0.7))}"`) +
      ellipse(cx - r * 0.4, cy - r * 0.3, r * 0.8, r * 0.5, c.light, 'opacity="0.12"')
    );
  });
}

/** A rolling line of hills or waves as a shape filled down to the bottom. */
export function roll(
  { height: h, random }: Canvas,
  y: number,
  swing: number,
  fill: string,
  more = "",
): string {
  let d = `M-60 ${n(h + 10)}L-60 ${n(y)}`;
  let px = -60;
  while (px < 1060) {
    const w = random(150, 330);
    d += `Q${n(px + w * 0.5)} ${n(y + random(-swing, swing) * 1.6)} ${n(px + w)} ${n(y + random(-swing, swing) * 0.4)}`;
    px += w;
  }
  return path(`${d}L1100 ${n(h + 10)}Z`, fill, more);
}
