import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { packCard } from "../../scripts/client.ts";
import { breakingChanges } from "../../scripts/openapi-changes.ts";
import { datedChangelog, notesOf, sectionsOf } from "../../scripts/release/changelog.ts";
import { checkCheckout } from "../../scripts/release/check.ts";
import { manualText, packaged } from "../../scripts/release/debian.ts";
import { fixtureOf, releasedDocument, withoutWords } from "../../scripts/release/openapi.ts";
import { type Plan, planOf } from "../../scripts/release/plan.ts";
import { shardOf, type Unit } from "../../scripts/suites/units.ts";
import { VERSION } from "../../src/version.ts";

const ROOT = join(import.meta.dir, "../..");
const text = (path: string) => Bun.file(join(ROOT, path)).text();

const CHANGELOG = `# Changelog

## Unreleased

- New.

## 0.1.0 - 2026-11-21

- First.
`;

test("cutting a version dates what was unreleased, and the notes of a release are its own part of the changelog", () => {
  const cut = datedChangelog(CHANGELOG, "1.0.0", "2026-12-01");
  expect(sectionsOf(cut)).toEqual([
    { name: "Unreleased", date: undefined, text: "" },
    { name: "1.0.0", date: "2026-12-01", text: "- New." },
    { name: "0.1.0", date: "2026-11-21", text: "- First." },
  ]);
  expect(notesOf(cut, "1.0.0").text).toBe("- New.");
  expect(() => notesOf(CHANGELOG, "1.0.0")).toThrow("nothing under");
  expect(() => datedChangelog(cut, "1.1.0", "2026-12-02")).toThrow("nothing to release");
  expect(() => datedChangelog(cut, "1.0.0", "2026-12-02")).toThrow("was released on 2026-12-01");
});

test("a version whose part is written already is dated once nothing stands beside it", () => {
  const written = CHANGELOG.replace("- New.", "").replace(
    "## 0.1.0",
    "## 1.0.0 - unreleased\n\n- Big.\n\n## 0.1.0",
  );
  const own = sectionsOf(datedChangelog(written, "1.0.0", "2026-12-01"))[1];
  expect(own).toEqual({ name: "1.0.0", date: "2026-12-01", text: "- Big." });
  const both = written.replace("## Unreleased", "## Unreleased\n\n- Late.");
  expect(() => datedChangelog(both, "1.0.0", "2026-12-01")).toThrow("Move what stands");
});

test("the kept document of a release is what programs rely on: fields named like words stay", async () => {
  const words = { description: "d", properties: { title: { type: "string", title: "t", example: "e" } } };
  expect(withoutWords(words)).toEqual({ properties: { title: { type: "string" } } });
  const released = releasedDocument();
  expect(breakingChanges(await Bun.file(fixtureOf("0.1.0")).json(), released)).toEqual([]);
});

test("the Debian package's unit and command run the program where the package puts it, without steps for people", async () => {
  for (const file of ["cardpress.service", "cardpressctl"]) {
    const inPackage = packaged(await text(`deploy/${file}`));
    expect(inPackage).not.toContain("/usr/local");
    expect(inPackage).not.toMatch(/^# {3}/m);
    expect(inPackage).toMatch(/^(?:# cardpress as a service|#!\/bin\/sh\n)/);
  }
  expect(packaged(await text("deploy/cardpress.service"))).toContain("ExecStart=/usr/bin/cardpress serve\n");
});

test("a page of the manual shows every sign of the text as it is", () => {
  expect(manualText(".a --b\n'c \\d")).toBe("\\&.a \\-\\-b\n\\&'c \\ed");
});

test.each(["postinst", "prerm", "postrm"])("the package's %s is shell that a shell can read", (name) => {
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-n", join(ROOT, "deploy/debian", name)]);
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
});

test("the shards of the tests have every unit once, each about as much work", () => {
  const units = Array.from({ length: 41 }, (_, at) => ({ seconds: at % 7, files: [`${at}`] }) as Unit);
  const shards = [1, 2, 3, 4].map((part) => shardOf(units, `${part}/4`));
  expect(new Set(shards.flat())).toEqual(new Set(units));
  expect(shards.flat()).toHaveLength(units.length);
  const seconds = shards.map((shard) => shard.reduce((sum, unit) => sum + unit.seconds, 0));
  expect(Math.max(...seconds) - Math.min(...seconds)).toBeLessThanOrEqual(7);
  expect(() => shardOf(units, "5/4")).toThrow("--shard takes a part");
});

test("a package for npm has the project's address and author, and the folder it is made of", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-packed-"));
  try {
    const files = await new Bun.Archive(await Bun.file(await packCard(folder)).bytes()).files();
    expect([...files.keys()].sort()).toEqual([
      "package/LICENSE",
      "package/README.md",
      "package/cardpress-card.d.ts",
      "package/cardpress-card.js",
      "package/package.json",
    ]);
    const { version, author, repository } = await (files.get("package/package.json") as File).json();
    expect({ version, author, repository }).toEqual({
      version: packageJson.version,
      author: packageJson.author,
      repository: { type: "git", url: `git+${packageJson.repository}.git`, directory: "clients/card" },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the packages for npm have the project's version, and leave its address to the project", async () => {
  for (const client of ["typescript", "card"]) {
    const { repository, version } = JSON.parse(await text(`clients/${client}/package.json`));
    expect({ repository, version }).toEqual({ repository: undefined, version: packageJson.version });
  }
});

test("a version that was never cut is no release, and it is said how to cut it", async () => {
  const plan = { ...(await planOf(tmpdir(), false)), version: "0.0.1" };
  const faults = (await checkCheckout(plan, () => {})).filter(({ result }) => result === "fault");
  const said = faults
    .map(({ message = "" }) => message)
    .filter((message) => message.includes("cut-release.ts 0.0.1"));
  expect(said.length).toBe(2);
});

/** What is said of the checkout when a tag is released, by what was looked at. */
async function saidOfTag(tag: string, plan: Plan) {
  const { GITHUB_REF_TYPE = "", GITHUB_REF_NAME = "" } = process.env;
  Object.assign(process.env, { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: tag });
  try {
    const found = await checkCheckout(plan, () => {});
    return (look: string) => found.find(({ what }) => what.startsWith(look));
  } finally {
    Object.assign(process.env, { GITHUB_REF_TYPE, GITHUB_REF_NAME });
  }
}

test("a tag of another name than the version's releases nothing", async () => {
  const plan = await planOf(tmpdir(), false);
  expect((await saidOfTag("v9.9.9", plan))("the tag")?.message).toContain("The tag is v9.9.9");
  expect((await saidOfTag(`v${VERSION}`, plan))("the tag")?.message ?? "").not.toContain("The tag is");
});

test("nothing is published that names placeholders, and a maintainer's own address is", async () => {
  const unset = {
    ...(await planOf(tmpdir(), false)),
    repository: "https://git.example.com/a/b",
    author: "A <a@example.com>",
  };
  const set = { ...unset, repository: "https://github.com/a/b", author: "A <a@club.test>" };
  const resultOf = async (plan: Plan) => (await saidOfTag("v1.0.0", plan))("package.json")?.result;
  expect([await resultOf(unset), await resultOf(set)]).toEqual(["fault", "ok"]);
  expect(await resultOf({ ...set, author: unset.author })).toBe("fault");
  const here = await checkCheckout(unset, () => {});
  expect(here.find(({ what }) => what.startsWith("package.json"))?.result).toBe("note");
});

/** What a workflow runs, with the file it is in. */
async function steps(): Promise<{ file: string; run?: string; uses?: string }[]> {
  const files = [...new Bun.Glob(".github/workflows/*.yml").scanSync({ cwd: ROOT, dot: true })];
  const found = files.map(async (file) => {
    // biome-ignore lint/suspicious/noExplicitAny: a document of others.
    const { jobs } = Bun.YAML.parse(await text(file)) as any;
    return Object.values<{ steps: { run?: string; uses?: string }[] }>(jobs).flatMap((job) =>
      job.steps.map((step) => ({ file, ...step })),
    );
  });
  return (await Promise.all(found)).flat();
}

test("the workflows call commands that there are, with Bun of the version that people are told of", async () => {
  const all = await steps();
  const called = all.flatMap(({ run = "" }) =>
    [...run.matchAll(/bun run ([\w:]+)/g)].map(([, name]) => name ?? ""),
  );
  const matrix = ["test:postgres", "test:s3"];
  expect(called.filter((name) => !(name in packageJson.scripts) && name !== "test:")).toEqual([]);
  expect(matrix.filter((name) => !(name in packageJson.scripts))).toEqual([]);
  expect(called.length).toBeGreaterThan(7);
  const scripts = all.flatMap(({ run = "" }) =>
    [...run.matchAll(/bun (scripts\/\S+)/g)].map(([, path]) => path ?? ""),
  );
  for (const path of scripts) expect([path, await Bun.file(join(ROOT, path)).exists()]).toEqual([path, true]);
  const [, version] = /bun@([\d.]+)/.exec(await text("CONTRIBUTING.md")) ?? [];
  for (const file of new Set(all.map(({ file }) => file)))
    expect([file, new Set((await text(file)).match(/bun-version: .*/g))]).toEqual([
      file,
      new Set([`bun-version: ${version}`]),
    ]);
});

test("every action of the workflows is pinned to a whole version", async () => {
  const used = (await steps()).flatMap(({ uses }) => uses ?? []);
  expect(used.filter((action) => !/^[\w-]+\/[\w-]+@v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  expect(used.length).toBeGreaterThan(10);
});

test("every issue form asks by fields that GitHub knows, each with an id of its own and a label", async () => {
  const forms = [...new Bun.Glob(".github/ISSUE_TEMPLATE/*.yml").scanSync({ cwd: ROOT, dot: true })];
  const asked = forms.filter((file) => !file.endsWith("config.yml"));
  expect(asked.length).toBe(3);
  for (const file of asked) {
    // biome-ignore lint/suspicious/noExplicitAny: a document of others.
    const form = Bun.YAML.parse(await text(file)) as any;
    expect([file, typeof form.name, typeof form.description]).toEqual([file, "string", "string"]);
    const fields = form.body.filter(({ type }: { type: string }) => type !== "markdown");
    for (const { type, id, attributes } of fields) {
      expect(["input", "textarea", "dropdown", "checkboxes"]).toContain(type);
      expect([id, typeof attributes.label]).toEqual([expect.stringMatching(/^[\w-]+$/), "string"]);
    }
    const ids = fields.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});
