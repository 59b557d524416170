import { expect, test } from "bun:test";
import { acceptedByTag } from "../../scripts/picture-judging.ts";

test("who gets no card is counted by skin, hair and light, of single players alone", () => {
  const row = (tags: string, refusal: string | null = null, expect = "person") => ({
    expect,
    tags: tags.split(" "),
    refusal,
  });
  const rows = [
    row("portrait skin_dark hair_curly"),
    row("skin_dark headwear light_harsh", "too_dark"),
    row("core skin_light hair_curly"),
    row("skin_dark", "several_people", "company"),
    row("skin_light", "no_player", "refuse"),
  ];
  expect(acceptedByTag(rows)).toEqual([
    { tag: "hair_curly", accepted: 2, refused: 0 },
    { tag: "headwear", accepted: 0, refused: 1 },
    { tag: "light_harsh", accepted: 0, refused: 1 },
    { tag: "skin_dark", accepted: 1, refused: 1 },
    { tag: "skin_light", accepted: 1, refused: 0 },
  ]);
  expect(acceptedByTag([row("portrait")])).toEqual([]);
});
