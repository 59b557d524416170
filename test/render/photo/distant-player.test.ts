import { expect, test } from "bun:test";
import { isNear } from "../../../src/render/photo/page/distant.ts";
import type { Subject } from "../../../src/render/photo/page/examine.ts";

const picture = { width: 1024, height: 764 } as OffscreenCanvas;
const player = (height: number, score: number) =>
  ({
    body: { x: 90, y: 764 - height, width: 300, height },
    face: { x: 480, y: 380, width: 70, height: 90, score, points: [] },
  }) as unknown as Subject;

test("somebody who fills most of the photo and shows a face is no distant player", () => {
  expect(isNear(player(563, 0.76), picture)).toBe(true);
});

test("somebody small, or without a clear face, is", () => {
  expect(isNear(player(300, 0.9), picture)).toBe(false);
  expect(isNear(player(563, 0.5), picture)).toBe(false);
  expect(isNear({ ...player(563, 0), face: null }, picture)).toBe(false);
});
