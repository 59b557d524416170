import { expect, test } from "bun:test";
import { shortName } from "../../src/core/name.ts";

test.each([
  ["Maya Okafor", "Maya O."],
  ["  María  José Núñez ", "María N."],
  ["Ronaldinho", "Ronaldinho"],
  ["Łukasz Ćwik", "Łukasz Ć."],
  ["王小明", "王."],
  ["김 민수", "김. 민."],
  ["Ada e\u0301toile", "Ada e\u0301."],
  ["", ""],
])("%s is shown as %s", (name, short) => expect(shortName(name)).toBe(short));
