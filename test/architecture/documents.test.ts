import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { helpIn } from "../../scripts/help.ts";

// Newcomers rely on what the project says about itself, so it must be true.

const root = join(import.meta.dir, "../..");
const read = (file: string) => Bun.file(join(root, file)).text();
const decisions = readdirSync(join(root, "docs/decisions")).map((name) => `docs/decisions/${name}`);

test("every path that the documents for contributors name is there", async () => {
  const missing: string[] = [];
  let named = 0;
  for (const document of ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", ...decisions]) {
    const text = await read(document);
    for (const [path] of text.matchAll(/(?<![\w/.-])(?:src|test|scripts|db|templates|docs)\/[\w./-]*\w/g)) {
      named += 1;
      if (!existsSync(join(root, path))) missing.push(`${document}: ${path}`);
    }
  }
  expect(missing).toEqual([]);
  expect(named).toBeGreaterThan(60);
});

test("ARCHITECTURE.md has a line for every room, and for no other", async () => {
  const described = [...(await read("ARCHITECTURE.md")).matchAll(/^\| `(src\/[\w/]+)` \|/gm)].map(
    ([, room]) => room,
  );
  const roomsIn = (dir: string) =>
    readdirSync(join(root, dir), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${dir}/${entry.name}`);
  // Two rooms are houses of their own: their files lie in the rooms below.
  const rooms = roomsIn("src").flatMap((room) => {
    if (room === "src/app") return roomsIn(room);
    if (room === "src/render") return [room, ...roomsIn(room)];
    return [room];
  });
  expect(described.toSorted()).toEqual(rooms.toSorted());
});

test("every decision is in the list of decisions", async () => {
  const list = await read("docs/decisions/README.md");
  const records = decisions.filter((path) => !path.endsWith("README.md"));
  expect(records.filter((path) => !list.includes(`(${path.split("/").at(-1)})`))).toEqual([]);
  expect(records.length).toBeGreaterThan(5);
});

test("every script says by --help what it does, in the comment its file begins with", async () => {
  const silent: string[] = [];
  for await (const file of new Bun.Glob("**/*.ts").scan(join(root, "scripts"))) {
    if (file.includes("node_modules/")) continue;
    const source = await read(`scripts/${file}`);
    // What exports something is a part of a script.
    if (!source.includes("offerHelp(import.meta)") && !/^export /m.test(source)) silent.push(file);
    else if (source.includes("offerHelp(import.meta)") && helpIn(source).length < 40) silent.push(file);
  }
  expect(silent).toEqual([]);
  const asked = Bun.spawn([process.execPath, join(root, "scripts/lint-api.ts"), "--help"]);
  expect(await new Response(asked.stdout).text()).toContain("OpenAPI");
  expect(await asked.exited).toBe(0);
});

test("CONTRIBUTING names every command of package.json that people type", async () => {
  const { scripts } = await Bun.file(join(root, "package.json")).json();
  const text = await read("CONTRIBUTING.md");
  const machinery = ["setup", "cardpress", "start"];
  const unnamed = Object.keys(scripts).filter(
    (name) => !machinery.includes(name) && !text.includes(`bun run ${name}`),
  );
  expect(unnamed).toEqual([]);
});

test("the changelog opens with what is not released yet, and dates every release", async () => {
  const headings = [...(await read("CHANGELOG.md")).matchAll(/^## (.*)$/gm)].map(
    ([, heading]) => heading ?? "",
  );
  expect(headings[0]).toBe("Unreleased");
  // What is to be the next release may be written already: scripts/cut-release.ts dates it.
  const released = headings.slice(/^\d+\.\d+\.\d+ - unreleased$/.test(headings[1] ?? "") ? 2 : 1);
  expect(released.filter((heading) => !/^\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/.test(heading))).toEqual([]);
  expect(headings.length).toBeGreaterThan(1);
});

test("each release has its changes as headlines: a few, of one or two lines", async () => {
  const [, ...parts] = (await read("CHANGELOG.md")).split(/^## /m);
  const long = parts.flatMap((part) => {
    const [heading = "", ...lines] = part.split("\n");
    const changes = lines.filter((line) => line.startsWith("- ")).length;
    const rest = lines.filter((line) => line.startsWith("  ")).length;
    // What is not released yet may still be wordy.
    const isWordy = heading !== "Unreleased" && rest > changes;
    return changes > 40 || isWordy ? [`${heading}: ${changes} changes, ${changes + rest} lines`] : [];
  });
  expect(long).toEqual([]);
});
