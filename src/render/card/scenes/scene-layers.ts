import type { Canvas, Painter } from "./scene-canvas.ts";
import { glow } from "./scene-sky.ts";
import { circle, ellipse, linear, n, path, polygon, rect, stroke, times } from "./svg.ts";

// Layers that can cover any scene, for texts that name two: weather, light and things in the air. Their
// gradients have names of their own, because the scene below uses the others.

export const OVERLAYS = {
  snow,
  rain,
  fire,
  storm,
  ice,
  smoke,
  confetti,
  galaxy: stars,
  night,
  aurora,
  neon,
  gold,
  sunset,
} satisfies Record<string, Painter>;

function dust({ height: h, colours: c, random }: Canvas, count: number, low: number, high: number): string {
  return times(count, () =>
    circle(random(0, 1000), random(0, h), random(low, high), c.glow, `opacity="${n(random(0.4, 1))}"`),
  );
}

function snow(canvas: Canvas): string {
  const { height: h, random } = canvas;
  let drift = `M-20 ${n(h + 10)}L-20 ${n(h * 0.84)}`;
  for (let x = -20; x < 1020; x += 130)
    drift += `Q${n(x + 65)} ${n(h * 0.84 - random(-20, 60))} ${n(x + 130)} ${n(h * 0.84 + random(-20, 20))}`;
  return (
    path(`${drift}V${n(h + 10)}Z`, "#ffffff", 'opacity="0.75"') +
    times(170, () =>
      circle(random(0, 1000), random(0, h), random(2, 11), "#ffffff", `opacity="${n(random(0.4, 0.95))}"`),
    )
  );
}

function rain({ height: h, colours: c, random }: Canvas): string {
  return times(190, () => {
    const [x, y, l] = [random(-100, 1100), random(-50, h), random(40, 150)];
    return stroke(
      `M${n(x)} ${n(y)}l${n(-l * 0.28)} ${n(l)}`,
      random(0, 1) > 0.5 ? c.accent : c.glow,
      random(1.4, 3.8),
      `opacity="${n(random(0.3, 0.85))}" stroke-linecap="round"`,
    );
  });
}

function fire({ height: h, random }: Canvas): string {
  const tongues = (base: number, size: number, fill: string, opacity: number) =>
    times(11, (i) => {
      const x = ((i + random(0, 0.8)) / 11) * 1100 - 50;
      const [w, t, lean] = [random(60, 110) * size, random(0.7, 1.5) * 320 * size, random(-80, 80)];
      const y = h * base;
      return path(
        `M${n(x - w)} ${n(h)}C${n(x - w * 1.2)} ${n(y)} ${n(x - lean)} ${n(y - t * 0.4)} ${n(x + lean)} ${n(y - t)}C${n(x + w * 0.3 + lean)} ${n(y - t * 0.5)} ${n(x + w * 1.3)} ${n(y)} ${n(x + w)} ${n(h)}Z`,
        fill,
        `opacity="${opacity}"`,
      );
    });
  const sparks = times(60, () =>
    ellipse(
      random(0, 1000),
      random(0, h),
      random(2, 5),
      random(5, 13),
      random(0, 1) > 0.4 ? "#ffb52b" : "#ffe9a8",
    ),
  );
  return (
    tongues(0.78, 1.3, "#c92a05", 0.75) +
    tongues(0.86, 1, "#ff7a12", 0.8) +
    tongues(0.94, 0.7, "#ffc53a", 0.85) +
    sparks
  );
}

function storm({ height: h, colours: c, random }: Canvas): string {
  return [130, 800, 930].reduce((svg, x) => {
    let [d, at] = [`M${n(x)} -20`, x];
    const end = h * random(0.5, 0.95);
    for (let i = 1; i <= 9; i++) {
      at += random(-70, 70);
      d += `L${n(at)} ${n((end * i) / 9)}`;
    }
    return (
      svg +
      stroke(d, c.accent, 24, 'opacity="0.2" stroke-linejoin="round"') +
      stroke(d, c.accent, 11, 'opacity="0.55" stroke-linejoin="round"') +
      stroke(d, "#ffffff", 5, 'stroke-linejoin="bevel"')
    );
  }, "");
}

function ice({ height: h, random }: Canvas): string {
  return times(26, (i) => {
    const onLeft = i % 2 === 0;
    const y = (i / 26) * h;
    const [long, tall] = [random(110, 330), random(30, 100)];
    const x = onLeft ? -10 : 1010;
    const tip: [number, number] = [x + (onLeft ? long : -long), y + random(-60, 60)];
    return (
      polygon([[x, y - tall], tip, [x, y]], "#ffffff", 'opacity="0.7"') +
      polygon([[x, y], tip, [x, y + tall]], "#8fd8f2", 'opacity="0.55"')
    );
  });
}

function smoke({ height: h, colours: c, random }: Canvas): string {
  return times(18, (i) =>
    glow(
      `over${i}`,
      i % 2 ? random(-60, 330) : random(670, 1060),
      h * random(0.15, 1.05),
      random(170, 380),
      i % 3 ? "#e6e8ee" : c.deep,
      random(0.5, 0.8),
    ),
  );
}

function confetti({ height: h, colours: c, tones, random }: Canvas): string {
  const papers = tones.length > 0 ? tones : [c.accent, c.glow, c.light, "#ffd23f"];
  return times(150, (i) => {
    const [x, y] = [random(0, 1000), random(0, h)];
    return rect(
      x,
      y,
      random(10, 28),
      random(6, 14),
      papers[i % papers.length] as string,
      `transform="rotate(${n(random(0, 180))} ${n(x)} ${n(y)})"`,
    );
  });
}

function stars(canvas: Canvas): string {
  const { height: h, colours: c, random } = canvas;
  return (
    dust(canvas, 190, 1, 3.4) +
    times(9, () => {
      const [x, y, s] = [random(0, 1000), random(0, h), random(14, 36)];
      return path(
        `M${n(x - s)} ${n(y)}Q${n(x)} ${n(y)} ${n(x)} ${n(y - s)}Q${n(x)} ${n(y)} ${n(x + s)} ${n(y)}Q${n(x)} ${n(y)} ${n(x)} ${n(y + s)}Q${n(x)} ${n(y)} ${n(x - s)} ${n(y)}Z`,
        c.glow,
      );
    })
  );
}

function night(canvas: Canvas): string {
  const { height: h } = canvas;
  return (
    linear("dusk", [
      [0, "#02040f", 0.8],
      [0.6, "#02040f", 0.25],
      [1, "#02040f", 0.1],
    ]) +
    rect(0, 0, 1000, h, "url(#dusk)") +
    times(90, () =>
      circle(
        canvas.random(0, 1000),
        canvas.random(0, h * 0.5),
        canvas.random(1, 3),
        "#ffffff",
        `opacity="${n(canvas.random(0.4, 1))}"`,
      ),
    )
  );
}

function aurora({ height: h, random }: Canvas): string {
  const curtain = (id: string, at: number, colour: string) => {
    const phase = random(0, 6);
    return (
      linear(id, [
        [0, colour, 0],
        [0.75, colour, 0.6],
        [1, "#ffffff", 0],
      ]) +
      times(50, (i) => {
        const bottom = h * at + Math.sin(i * 0.17 + phase) * h * 0.08;
        return rect(i * 20.5 - 10, bottom - h * random(0.2, 0.34), 21, h * 0.34, `url(#${id})`);
      })
    );
  };
  return curtain("over-a", 0.34, "#3dffb0") + curtain("over-b", 0.5, "#7a6bff");
}

function neon({ height: h, random }: Canvas): string {
  return times(7, (i) => {
    const x = [40, 105, 165, 850, 905, 960, 230][i] as number;
    const y = random(h * 0.08, h * 0.5);
    const d = `M${x} ${n(y)}v${n(random(h * 0.12, h * 0.34))}`;
    const colour = i % 2 ? "#ff4fd8" : "#22f3ff";
    return (
      stroke(d, colour, 34, 'opacity="0.2" stroke-linecap="round"') +
      stroke(d, colour, 15, 'opacity="0.5" stroke-linecap="round"') +
      stroke(d, "#ffffff", 5, 'stroke-linecap="round"')
    );
  });
}

function gold(canvas: Canvas): string {
  const { height: h, random } = canvas;
  return times(120, () =>
    polygon(
      (([x, y, s]) =>
        [
          [x - s, y],
          [x, y - s],
          [x + s, y],
          [x, y + s],
        ] as [number, number][])([random(0, 1000), random(0, h), random(3, 15)] as [number, number, number]),
      random(0, 1) > 0.4 ? "#ffd866" : "#fff3c0",
      `opacity="${n(random(0.5, 1))}"`,
    ),
  );
}

function sunset({ height: h, x }: Canvas): string {
  return (
    linear("evening", [
      [0, "#5b1046", 0.4],
      [0.55, "#f3823c", 0.5],
      [1, "#2a0a2e", 0.2],
    ]) +
    rect(0, 0, 1000, h, "url(#evening)") +
    glow("over-sun", x < 500 ? 840 : 160, h * 0.46, 420, "#ffd166", 0.95)
  );
}
