import { describe, expect, test } from "bun:test";
import type { Subject } from "../../../src/render/photo/page/examine.ts";
import { isPlayer } from "../../../src/render/photo/page/is-player.ts";

const picture = { width: 683, height: 1024 } as OffscreenCanvas;
/**
 * Somebody in the air, arched back and with an arm thrown up, whom the person detector hardly takes for one.
 */
const leaping = {
  detector: 0.32,
  pose: { presence: 0.99995 },
  maskAgreement: 0.97,
  body: { x: 100, y: 100, width: 120, height: 240 },
  face: { x: 150, y: 120, width: 30, height: 40, score: 0.76, points: [] },
} as unknown as Subject;

test("a leaping player whom pose, mask and face show beyond doubt is one, however doubtful the detector", async () => {
  expect(await isPlayer(picture, leaping)).toBe(true);
});

test("doubts of pose, mask or face as well are too many", async () => {
  const doubtful: Subject[] = [
    { ...leaping, pose: { ...leaping.pose, presence: 0.99 } as Subject["pose"] },
    { ...leaping, maskAgreement: 0.9 },
    { ...leaping, face: { ...leaping.face, score: 0.6 } as Subject["face"] },
    { ...leaping, face: null },
  ];
  for (const finding of doubtful) expect(await isPlayer(picture, finding)).toBe(false);
});

test("somebody on whom pose and person mask do not agree is none, however sure face and detector", async () => {
  const halved: Subject = { ...leaping, detector: 0.9, maskAgreement: 0.65 };
  expect(await isPlayer(picture, halved)).toBe(false);
  expect(await isPlayer(picture, { ...halved, maskAgreement: 0.8 })).toBe(true);
});

describe("somebody by the body alone", () => {
  const turnedAway: Subject = {
    ...leaping,
    detector: 0.7,
    maskAgreement: 0.9,
    pose: { presence: 0.96 } as Subject["pose"],
    face: null,
  };

  test("is a player if a close-up of the body is sure", async () => {
    expect(await isPlayer(picture, turnedAway, async () => 0.9)).toBe(true);
    expect(await isPlayer(picture, turnedAway, async () => 0.8)).toBe(false);
  });

  test("is looked at again once, though face and body are doubted both", async () => {
    let times = 0;
    const face = { ...leaping.face, score: 0.62 } as Subject["face"];
    const doubtful = await isPlayer(picture, { ...turnedAway, face }, async () => {
      times++;
      return 0.3;
    });
    expect([doubtful, times]).toEqual([false, 1]);
  });
});
