import { describe, expect, test } from "bun:test";
import { matchPhotos, type NamedPhoto } from "../../../src/app/batches/match-photos.ts";

const SQUAD = [
  { externalId: "player-1", name: "Eileen Collins", number: "9" },
  { externalId: "player-10", name: "María Núñez", number: "10" },
  { externalId: "4711", name: "Kim Andersson", number: "7" },
  { externalId: "x", name: "Jon Andersson", number: "8" },
  { externalId: "u23-5", name: "Łukasz O'Brien-Groß", number: "5.0" },
];
const match = (...paths: (string | NamedPhoto)[]) => {
  const photos = paths.map((path) => (typeof path === "string" ? { path } : path));
  const { matched, unsure } = matchPhotos(SQUAD, photos);
  const rows = Object.fromEntries(
    [...matched].map(([row, { photo, by }]) => [photos[photo]?.path, `${row} ${by}`]),
  );
  return { rows, unsure: unsure.map(({ photo, rows: of }) => [photos[photo]?.path, of]) };
};

describe("a file's name says whose photo it is", () => {
  test.each([
    ["player-1.jpg", "0 id"],
    ["player_10.JPG", "1 id"],
    ["2026/PLAYER-10_final.jpeg", "1 id"],
    ["4711.png", "2 id"],
    ["Collins_Eileen.jpg", "0 name"],
    ["eileen-collins-portrait.webp", "0 name"],
    ["EileenCollins.jpg", "0 name"],
    ["collinseileen.jpg", "0 name"],
    ["Nunez, Maria.jpg", "1 name"],
    ["Mari\u0301a Nu\u0301n\u0303ez (2).jpg", "1 name"],
    ["lukasz_obrien_gross.jpg", "4 name"],
    ["squad\\Kim Andersson\\IMG_0042.jpg", "2 name"],
    ["collins.jpg", "0 part"],
    ["7_andersson.jpg", "2 part"],
    ["9.jpg", "0 number"],
    ["09.jpg", "0 number"],
    ["#10.jpg", "1 number"],
    ["No. 8.jpg", "3 number"],
  ])("%s: %s", (path, found) => expect(match(path)).toEqual({ rows: { [path]: found }, unsure: [] }));
});

describe("a file that may be several players', or nobody's, is not guessed", () => {
  test.each([
    ["andersson.jpg", [2, 3]],
    ["IMG_0009.jpg", []],
    ["DSC 9.jpg", [0]],
    ["10_collins.jpg", [0, 1]],
    ["eilen_colins.jpg", [0]],
    ["team photo.jpg", []],
    // Two players in one name.
    ["Eileen Collins and Kim Andersson.jpg", [0, 2]],
    ["Eileen Collins and Kim.jpg", [0, 2]],
    ["player-1 player-10.jpg", [0, 1]],
    ["player-1 Kim Andersson.jpg", [0, 2]],
    // A camera's counter.
    ["IMG_4711.jpg", [2]],
    ["DSC04711.jpg", []],
    [".jpg", []],
  ])("%s: %j", (path, rows) => expect(match(path)).toEqual({ rows: {}, unsure: [[path, rows]] }));
});

describe("letters that keyboards lack are found spelt out, too", () => {
  const squad = [
    { externalId: "p-1", name: "Jürgen Müller", number: "9" },
    { externalId: "p-2", name: "Søren Ångström", number: "8" },
    { externalId: "p-3", name: "Jan Möller", number: "4" },
    { externalId: "p-4", name: "Jan Moller", number: "5" },
    { externalId: "p-5", name: "Ruediger Goetz", number: "6" },
  ];
  test.each([
    ["mueller_juergen.jpg", { 0: "name" }, undefined],
    ["muller_jurgen.jpg", { 0: "name" }, undefined],
    ["mueller_9.jpg", { 0: "part" }, undefined],
    ["soeren_aangstroem.jpg", { 1: "name" }, undefined],
    ["Soren Angstrom.jpg", { 1: "name" }, undefined],
    ["Götz Rüdiger.jpg", { 4: "name" }, undefined],
    ["jan_moeller.jpg", { 2: "name" }, undefined],
    // One of two who are found apart by the mark alone, and another one's shirt.
    ["jan_moller.jpg", {}, [2, 3]],
    ["mueller_juergen_8.jpg", {}, [0, 1]],
  ])("%s: %j %j", (path, sure, rows) => {
    const { matched, unsure } = matchPhotos(squad, [{ path }]);
    const found: Record<string, string> = Object.fromEntries([...matched].map(([row, { by }]) => [row, by]));
    expect(found).toEqual(sure);
    expect(unsure[0]?.rows.toSorted()).toEqual(rows);
  });
});

describe("where ids are numbers, as shirts have, a number alone is sure only if both say the same player", () => {
  const squad = [
    { externalId: "9", name: "Eileen Collins", number: "4" },
    { externalId: "4", name: "Kim Andersson", number: "9" },
    { externalId: "7", name: "Jon Andersson", number: "7" },
    { externalId: "12", name: "Maya Okafor", number: "30" },
  ];
  test.each([
    ["9.jpg", {}, [0, 1]],
    ["09.jpg", {}, [0, 1]],
    ["No 4.jpg", {}, [1, 0]],
    ["7.jpg", { 2: "id" }, undefined],
    ["12.jpg", { 3: "id" }, undefined],
    ["30.jpg", { 3: "number" }, undefined],
  ])("%s: %j %j", (path, sure, rows) => {
    const { matched, unsure } = matchPhotos(squad, [{ path }]);
    const found: Record<string, string> = Object.fromEntries([...matched].map(([row, { by }]) => [row, by]));
    expect(found).toEqual(sure);
    expect(unsure[0]?.rows).toEqual(rows as number[]);
  });
});

test("the surer sign wins a row, and of two equal ones neither", () => {
  expect(match("9.jpg", "Eileen Collins.jpg", "player-1.jpg")).toEqual({
    rows: { "player-1.jpg": "0 id" },
    unsure: [
      ["9.jpg", [0]],
      ["Eileen Collins.jpg", [0]],
    ],
  });
  expect(match("Eileen Collins.jpg", "collins_eileen.png")).toEqual({
    rows: {},
    unsure: [
      ["Eileen Collins.jpg", [0]],
      ["collins_eileen.png", [0]],
    ],
  });
});

test("who chose by hand is right: whatever the file is called, the last choice counts, and no one is asked about what is nobody's", () => {
  const chosen = [
    { path: "player-1.jpg", row: 3 },
    { path: "a.jpg", row: 0 },
    { path: "b.jpg", row: 0 },
    { path: "logo.png", row: null },
  ];
  expect(match(...chosen, "Eileen Collins.jpg")).toEqual({
    rows: { "player-1.jpg": "3 hand", "b.jpg": "0 hand" },
    unsure: [
      ["a.jpg", [0]],
      ["Eileen Collins.jpg", [0]],
    ],
  });
});
