import { expect, test } from "bun:test";
import { join } from "node:path";
import { notesSince } from "../../src/core/release-notes.ts";

const CHANGELOG = `# Changelog

Words before.

## Unreleased

### Partners

- Not yet.

## [1.1.0] - 2027-01-02

### Before you upgrade

- Stop all servers, **then** start the new one.
  It takes a minute.
  - A detail of it.

### For partners

- **Cards as MP4**: \`style.format\` takes \`mp4\`.
- Lists take 1.5 million rows. And more of them.

### Operators

- The page \`/status\`: what is going on

#### Fixed

* ${"long words about `a setting` ".repeat(12)}

## 1.0.0 - 2026-11-30

- One thing: without parts.

## 0.9.0

### Fixed
- An old thing.
`;

const versions = (version: string, seen: string | null) =>
  notesSince(CHANGELOG, version, seen).map((release) => release.version);

test("the releases after the one seen are new, never one that is not installed; without one, the last alone", () => {
  expect(versions("1.1.0", "0.9.0")).toEqual(["1.1.0", "1.0.0"]);
  expect(versions("1.0.0", "0.9.0")).toEqual(["1.0.0"]);
  expect(versions("1.1.0", null)).toEqual(["1.1.0"]);
  expect(versions("1.1.0", "1.1.0")).toEqual([]);
  // After going back.
  expect(versions("1.0.0", "1.1.0")).toEqual([]);
  expect(versions("1.2.0", null)).toEqual([]);
  expect(notesSince("", "1.0.0", null)).toEqual([]);
});

test("each part has its readers; what is to be done is said whole, the rest by its first words", () => {
  const [notes] = notesSince(CHANGELOG, "1.1.0", null);
  const [upgrade, partners, operators, ...rest] = notes?.parts ?? [];
  expect(rest).toEqual([]);
  expect(upgrade).toEqual({
    readers: "upgrade",
    title: "Before you upgrade",
    headlines: ["Stop all servers, **then** start the new one. It takes a minute."],
  });
  expect(partners).toEqual({
    readers: "partners",
    title: "For partners",
    headlines: ["Cards as MP4", "Lists take 1.5 million rows"],
  });
  const [status, long = ""] = operators?.headlines ?? [];
  expect([operators?.readers, status]).toEqual(["operators", "The page `/status`"]);
  expect(long).toMatch(/^long words .+ …$/);
  expect([long.length <= 170, long.split("`").length % 2]).toEqual([true, 1]);
});

test("without parts, or in others, changes are for everybody", () => {
  expect(notesSince(CHANGELOG, "1.0.0", "0.1.0").map(({ parts }) => parts)).toEqual([
    [{ readers: "everybody", title: "Changes", headlines: ["One thing"] }],
    [{ readers: "everybody", title: "Fixed", headlines: ["An old thing"] }],
  ]);
});

test("the changelog of this program has notes of a release that are read", async () => {
  const changelog = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
  const newest = /^## (\d+\.\d+\.\d+)/m.exec(changelog)?.[1] ?? "";
  const [notes] = notesSince(changelog, newest, null);
  expect(notes?.parts.flatMap(({ headlines }) => headlines).length).toBeGreaterThan(5);
});
