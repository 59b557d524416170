import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Framing } from "../../../src/core/card.ts";
import { placeCutout } from "../../../src/render/card/placement/framing.ts";
import { asCutout } from "../../../src/render/card/placement/player-place.ts";
import { cutout } from "./cards.ts";
import { CLUB_CARD_ZONES } from "./club-card-zones.ts";

const card = { width: 1024, height: 1280 };
const wide = { width: 1600, height: 900 };
const none = { top: false, right: false, bottom: false, left: false };

/** Of each of club_card's layouts, from its narrowest to its widest. */
const SHAPES = {
  portrait: [
    [720, 1280],
    [815, 1110],
    [1024, 1280],
  ],
  square: [
    [1024, 1100],
    [1024, 1024],
    [1200, 1024],
  ],
  landscape: [
    [1200, 900],
    [1600, 900],
    [1200, 630],
    [2048, 1024],
    [2048, 512],
  ],
} as const;

/** A person `faces` face-heights tall in a cutout of `width` pixels. */
function person(
  faceHeight: number,
  faces: number,
  cutSides = none,
): { size: { width: number; height: number }; framing: Framing } {
  const width = Math.round(faceHeight * 4);
  const height = Math.round(faceHeight * faces);
  return {
    size: { width, height },
    framing: {
      face: {
        x: width / 2 - faceHeight * 0.4,
        y: faceHeight * 0.45,
        width: faceHeight * 0.8,
        height: faceHeight,
      },
      head: { x: width / 2 - faceHeight * 0.5, y: 0, width: faceHeight, height: faceHeight * 1.5 },
      body: { x: 0, y: 0, width, height },
      cutSides,
    },
  };
}

describe("framing", () => {
  test("a half-length photo puts the face in the target and the body behind the plate", () => {
    const { size, framing } = person(300, 4.2, { ...none, bottom: true });
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    const scale = place.width / size.width;
    const face = place.y + (framing.face?.y ?? 0) * scale;
    expect(Math.abs(face - CLUB_CARD_ZONES.portrait.face.y * card.height)).toBeLessThan(70);
    expect(place.y + place.height).toBeGreaterThanOrEqual(
      (CLUB_CARD_ZONES.portrait.body.y + CLUB_CARD_ZONES.portrait.body.height) * card.height - 1,
    );
  });

  test("the head is never cut off by the picture's upper edge, whatever the photo", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 30, max: 900 }),
        fc.double({ min: 2, max: 11, noNaN: true }),
        fc.constantFrom(CLUB_CARD_ZONES.portrait, CLUB_CARD_ZONES.square, CLUB_CARD_ZONES.landscape),
        fc.boolean(),
        (faceHeight, faces, layout, bottom) => {
          const { size, framing } = person(faceHeight, faces, { ...none, bottom });
          expect(placeCutout(size, framing, layout, card).y).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test("nor is it where the player is as large as the photo would be, between the sides that it cuts", async () => {
    const man = await cutout("man");
    let filled = 0;
    for (const [layout, shapes] of Object.entries(SHAPES))
      for (const [width, height] of shapes) {
        const zones = CLUB_CARD_ZONES[layout as keyof typeof SHAPES];
        const picture = { x: 0, y: 0, width, height };
        const { place } = asCutout(man, man, zones, picture);
        expect([width, height, Math.min(0, place.y)]).toEqual([width, height, 0]);
        if (place.width > placeCutout(man, man.framing, zones, picture).width) filled++;
      }
    expect(filled).toBeGreaterThan(0);
  });

  test("hair, caps and hands above the head are never cut off either", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 600 }),
        fc.double({ min: 2.5, max: 11, noNaN: true }),
        fc.double({ min: 0, max: 1.5, noNaN: true }),
        fc.constantFrom(CLUB_CARD_ZONES.portrait, CLUB_CARD_ZONES.square, CLUB_CARD_ZONES.landscape),
        fc.boolean(),
        (faceHeight, faces, above, layout, bottom) => {
          const { size, framing } = person(faceHeight, faces, { ...none, bottom });
          const extra = Math.round(faceHeight * above);
          size.height += extra;
          framing.body.height += extra;
          for (const box of [framing.face, framing.head]) if (box) box.y += extra;
          expect(placeCutout(size, framing, layout, card).y).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test("a whole figure with spread limbs stands on a wide card, with both hands and both feet", async () => {
    const yoga = await cutout("yoga");
    for (const [width, height] of SHAPES.landscape.slice(1)) {
      const { stage } = CLUB_CARD_ZONES.landscape;
      const place = placeCutout(yoga, yoga.framing, CLUB_CARD_ZONES.landscape, { width, height });
      const { body } = yoga.framing;
      const [left, right] = [body.x, body.x + body.width].map(
        (x) => place.x + (x * place.width) / yoga.width,
      );
      expect([width, height, place.stands]).toEqual([width, height, true]);
      expect(left).toBeGreaterThanOrEqual((stage?.x ?? 0) * width);
      expect(right).toBeLessThanOrEqual(width);
    }
  });

  test("a full-length photo shows more body than a portrait does", () => {
    const half = person(200, 4);
    const full = person(200, 9.5);
    const scale = (p: typeof half) =>
      placeCutout(p.size, p.framing, CLUB_CARD_ZONES.portrait, card).width / p.size.width;
    expect(scale(full)).toBeLessThan(0.975 * scale(half));
  });

  test("who was photographed from afar is shown to the waist, unless in a wide pose", () => {
    const zones = CLUB_CARD_ZONES.portrait;
    /** How much is seen before the plate, in face heights. */
    const seen = ({ size, framing }: ReturnType<typeof person>) => {
      const place = placeCutout(size, framing, zones, card);
      const line = (zones.body.y + zones.body.height) * card.height;
      return (line - place.y) / ((200 * place.width) / size.width);
    };
    const afar = person(200, 9.5, { ...none, bottom: true });
    expect(seen(afar)).toBeLessThan(5);
    const posed = { ...afar, framing: { ...afar.framing, body: { ...afar.framing.body, width: 1200 } } };
    expect(seen(posed)).toBeGreaterThan(6);
    // A nearer photo is shown as far as it goes.
    expect(seen(person(200, 6, { ...none, bottom: true }))).toBeGreaterThan(5.5);
  });

  test("a small full-length photo is not blown up", () => {
    const { size, framing } = person(42, 9.5);
    expect(placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card).width / size.width).toBeLessThan(2.6);
  });

  test("a photo that ends above the feet always reaches behind the plate, and its chin stays before it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 60, max: 900 }),
        fc.double({ min: 1.7, max: 11, noNaN: true }),
        fc.record({ top: fc.boolean(), left: fc.boolean(), right: fc.boolean() }),
        fc.constantFrom(
          [CLUB_CARD_ZONES.portrait, card] as const,
          [CLUB_CARD_ZONES.landscape, wide] as const,
        ),
        (faceHeight, faces, cut, [layout, picture]) => {
          const { size, framing } = person(faceHeight, faces, { ...cut, bottom: true });
          const place = placeCutout(size, framing, layout, picture);
          const line = (layout.body.y + layout.body.height) * picture.height;
          expect(place.y + place.height).toBeGreaterThanOrEqual(line - 1);
          const chin = place.y + (place.height / size.height) * faceHeight * 1.45;
          expect(chin).toBeLessThanOrEqual(line);
        },
      ),
    );
  });

  test("straight edges end behind the frame or at a wall, those of a whole player need none", () => {
    const narrow = person(300, 4.2, { top: false, right: true, bottom: true, left: true });
    narrow.size.width = 500;
    const inside = placeCutout(narrow.size, narrow.framing, CLUB_CARD_ZONES.portrait, card);
    const { frame } = CLUB_CARD_ZONES.portrait;
    expect(frame.x * card.width + inside.walls.left).toBeCloseTo(inside.x, 3);
    expect((frame.x + frame.width) * card.width - inside.walls.right).toBeCloseTo(inside.x + inside.width, 3);
    expect(inside.walls.left).toBeGreaterThan(0);
    const whole = placeCutout(
      person(300, 4.2).size,
      person(300, 4.2).framing,
      CLUB_CARD_ZONES.portrait,
      card,
    );
    expect(whole.walls).toEqual({ top: 0, right: 0, left: 0 });
    expect(whole.cut).toEqual({ top: false, right: false, left: false });
  });

  test("a photo that is nearly as wide as the frame fills it: a player two fifths larger needs no walls", () => {
    const { size, framing } = person(300, 4.2, { top: false, right: true, bottom: true, left: true });
    const wanted = placeCutout(
      size,
      { ...framing, cutSides: { ...none, bottom: true } },
      CLUB_CARD_ZONES.portrait,
      card,
    );
    const scale = wanted.width / size.width;
    size.width = (CLUB_CARD_ZONES.portrait.frame.width * card.width) / (1.38 * scale);
    for (const box of [framing.face, framing.head]) if (box) box.x = (size.width - box.width) / 2;
    framing.body.width = size.width;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.walls).toEqual({ top: 0, right: 0, left: 0 });
    expect(place.width / size.width).toBeGreaterThan(1.35 * scale);
  });

  test("a face alone fills the card: it does not hang low for want of a body", () => {
    const { size, framing } = person(500, 1.65, { ...none, bottom: true });
    size.width = framing.body.width = 700;
    for (const box of [framing.face, framing.head]) if (box) box.x = (size.width - box.width) / 2;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.y).toBeLessThan(0.1 * card.height);
  });

  test("a head that the photo cuts is cut by the frame too: the edge lies at the frame's or behind a wall", () => {
    const { size, framing } = person(300, 4.2, { ...none, top: true });
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.cut.top).toBe(true);
    expect(CLUB_CARD_ZONES.portrait.frame.y * card.height + place.walls.top).toBeCloseTo(place.y, 3);
  });

  test("outstretched arms that the photo shows stay on the card", () => {
    const { size, framing } = person(150, 5, { ...none, bottom: true });
    size.width = 900;
    framing.body.width = 900;
    if (framing.face) framing.face.x = 390;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.x).toBeGreaterThanOrEqual(0);
    expect(place.x + place.width).toBeLessThanOrEqual(card.width);
    expect(place.cut).toEqual({ top: false, right: false, left: false });
  });

  test.each(["left", "right"] as const)(
    "a player whom the photo cuts at the %s is moved there as far as a raised hand on the other side needs to stay on the card",
    (side) => {
      const { size, framing } = person(300, 3.4, { ...none, [side]: true, bottom: true });
      const shift = side === "left" ? -270 : 340;
      for (const box of [framing.face, framing.head]) if (box) box.x += shift;
      const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
      const [left, right] = [place.x, place.x + place.width];
      expect(side === "left" ? right : -left).toBeLessThanOrEqual(side === "left" ? card.width : 0);
      expect(place.cut).toMatchObject({ left: side === "left", right: side === "right" });
    },
  );

  test("arms half as wide again as the body is high are kept whole, on a smaller player; wider ones are cut, on a large one", () => {
    const placed = (width: number) => {
      const { size, framing } = person(100, 4, { ...none, bottom: true });
      size.width = framing.body.width = width;
      for (const box of [framing.face, framing.head]) if (box) box.x = (width - box.width) / 2;
      return placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    };
    const whole = placed(550);
    expect(whole.x).toBeGreaterThanOrEqual(0);
    expect(whole.x + whole.width).toBeLessThanOrEqual(card.width);
    const cut = placed(900);
    expect(cut.cut).toMatchObject({ left: true, right: true });
    expect(cut.height).toBeGreaterThan(1.15 * whole.height);
  });

  test("a player seen to the feet keeps arms of any breadth whole, as long as the figure still fills the card", () => {
    const { size, framing } = person(60, 16, { ...none, bottom: true });
    size.width = framing.body.width = 840;
    for (const box of [framing.face, framing.head]) if (box) box.x = (size.width - box.width) / 2;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.x).toBeGreaterThanOrEqual(0);
    expect(place.x + place.width).toBeLessThanOrEqual(card.width);
    expect(place.height).toBeGreaterThan(0.85 * card.height);
  });

  test("a body that ends early is shown down to its end, and what goes on below is behind the plate", () => {
    const { size, framing } = person(100, 8, { ...none, bottom: true });
    framing.body.height = 380;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    const line = (CLUB_CARD_ZONES.portrait.body.y + CLUB_CARD_ZONES.portrait.body.height) * card.height;
    expect(place.y + (380 * place.width) / size.width).toBeGreaterThanOrEqual(line - 1);
    const whole = person(100, 8, { ...none, bottom: true });
    expect(place.width).toBeGreaterThan(
      1.025 * placeCutout(whole.size, whole.framing, CLUB_CARD_ZONES.portrait, card).width,
    );
  });

  test("a player on all fours is shown from hands to feet, also where the photo's edge touches a foot", () => {
    const { size, framing } = person(70, 4.9, { ...none, left: true });
    size.width = 440;
    framing.body.width = 440;
    for (const box of [framing.face, framing.head]) if (box) box.x += 120;
    const place = placeCutout(size, framing, CLUB_CARD_ZONES.portrait, card);
    expect(place.width).toBeLessThanOrEqual(card.width);
    expect(place.x).toBeGreaterThanOrEqual(-0.1 * card.width);
  });
});
