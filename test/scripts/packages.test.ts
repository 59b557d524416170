import { expect, test } from "bun:test";
import { judge } from "../../scripts/audit-packages.ts";
import { carriedPackages, makeSbom } from "../../scripts/sbom.ts";

test("the bill of materials names everything the program carries, with version, licence and hash, the same each time", async () => {
  const [sbom, again, carried] = await Promise.all([makeSbom(), makeSbom(), carriedPackages()]);
  expect(again).toEqual(sbom);
  const libraries = sbom.components.filter(({ type }) => type === "library");
  expect(libraries.map(({ name }) => name)).toEqual(carried);
  for (const { name, version, purl, licenses, hashes } of libraries) {
    expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    expect([name, JSON.stringify(licenses)]).not.toEqual([name, expect.stringContaining("unknown")]);
    expect([name, hashes?.[0]?.content ?? ""]).toEqual([name, expect.stringMatching(/^[0-9a-f]{128}$/)]);
  }
  const models = sbom.components.filter(({ type }) => type === "machine-learning-model");
  expect(models.length).toBeGreaterThan(0);
  expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

const advisory = (severity: string) => ({
  title: "T",
  severity,
  url: "https://x.example",
  vulnerable_versions: "<2",
});

test("a serious fault of a package in the program fails the check; others are listed, and silence is no fault", () => {
  const ask = (found: object) => judge(JSON.stringify(found), ["carried"]);
  expect(ask({})).toEqual({ lines: [], isSerious: false });
  expect(ask({ carried: [advisory("critical")] })?.isSerious).toBeTrue();
  expect(ask({ carried: [advisory("moderate")] })?.isSerious).toBeFalse();
  expect(ask({ tool: [advisory("critical")] })).toMatchObject({
    isSerious: false,
    lines: [expect.stringContaining("tool (not in the program)")],
  });
  for (const refusal of ["", "error: 405", '{"error":"Method Not Allowed"}'])
    expect(judge(refusal, ["carried"])).toBeNull();
});
