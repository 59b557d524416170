import { expect, test } from "bun:test";
import { setAttachment } from "../../src/core/card-set.ts";

test("a set's files are named by set and season, in plain letters too, and never by a path", () => {
  const named = (name: string, season: string) =>
    setAttachment({ id: "set_1", name, season }, "album", "pdf").split("; ").slice(1);
  expect(named("Müller's Elf", "2026/27")).toEqual([
    'filename="Mullers Elf 2026-27 album.pdf"',
    "filename*=UTF-8''M%C3%BCller%27s%20Elf%202026-27%20album.pdf",
  ]);
  // The name has the season already.
  expect(named("Rovers 2026/27", "2026/27")[0]).toBe('filename="Rovers 2026-27 album.pdf"');
  expect(named('../"a"\\b', "")[0]).toBe('filename="-a-b album.pdf"');
});
