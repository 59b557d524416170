import { PNG } from "pngjs";

/** Badges of awkward shapes, drawn here because templates' own samples rarely include them. */
const TEST_BADGES = ["tall", "wide", "light", "dark"] as const;
export type TestBadge = (typeof TEST_BADGES)[number];

/** What a sample says to get a drawn badge instead of a file. */
export const testBadgeName = (badge: TestBadge): string => `studio:${badge}`;

const BY_NAME = new Map(TEST_BADGES.map((badge) => [testBadgeName(badge), badge]));

/** The badge that a sample asks for by this name; undefined for the name of a file. */
export const testBadgeOf = (name: string): TestBadge | undefined => BY_NAME.get(name);

const SHAPES: Record<TestBadge, { width: number; height: number; colour: [number, number, number] }> = {
  tall: { width: 120, height: 400, colour: [190, 30, 45] },
  wide: { width: 400, height: 120, colour: [20, 80, 170] },
  light: { width: 300, height: 300, colour: [250, 248, 240] },
  dark: { width: 300, height: 300, colour: [12, 12, 18] },
};

/** An ellipse with a ring in its own colour on a transparent ground, as PNG. */
export function testBadge(name: TestBadge): Uint8Array {
  const { width, height, colour } = SHAPES[name];
  const png = new PNG({ width, height });
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const r = Math.hypot((x + 0.5) / (width / 2) - 1, (y + 0.5) / (height / 2) - 1);
      const isRing = r > 0.74 && r < 0.86;
      const alpha = Math.max(0, Math.min(1, (1 - r) * (Math.min(width, height) / 4)));
      const shade = isRing ? 0.55 : 1;
      png.data.set(
        [colour[0] * shade, colour[1] * shade, colour[2] * shade, alpha * 255].map(Math.round),
        (y * width + x) * 4,
      );
    }
  }
  return PNG.sync.write(png);
}
