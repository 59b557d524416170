/**
 * Writes the program's bill of materials as CycloneDX 1.6 in JSON: every npm package in it, with version,
 * licence and hash, and the networks and the browser that come with it.
 *
 *     bun run sbom [--out dist/cardpress.cdx.json]
 *
 * Equal sources give an identical file.
 */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { sha256 } from "../src/core/sha256.ts";
import { offerHelp } from "./help.ts";

export interface Component {
  type: "library" | "application" | "machine-learning-model";
  name: string;
  version?: string;
  purl?: string;
  licenses?: { license: { id: string } | { name: string } }[];
  hashes?: { alg: "SHA-512" | "SHA-256"; content: string }[];
}

export interface Sbom {
  bomFormat: "CycloneDX";
  specVersion: "1.6";
  version: 1;
  serialNumber: string;
  metadata: { component: Component };
  components: Component[];
}

const root = join(import.meta.dir, "..");

/** The packages whose code or files are in the program, as found by the bundler. */
export async function carriedPackages(): Promise<string[]> {
  const built = await Bun.build({ entrypoints: [join(root, "src/main.ts")], target: "bun", metafile: true });
  const names = Object.keys(built.metafile?.inputs ?? {}).map(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** SHA-512 of each package's archive, by "name@version", from the lockfile. */
async function integrities(): Promise<Map<string, string>> {
  const lock = await Bun.file(join(root, "bun.lock")).text();
  const entries = lock.matchAll(/\["((?:@[^/"]+\/)?[^@"]+@[^"]+)",.*"sha512-([^"]+)"\]/g);
  return new Map([...entries].map(([, name = "", hash = ""]) => [name, hash]));
}

async function packageComponent(name: string, hashes: Map<string, string>): Promise<Component> {
  const { version, license } = await Bun.file(join(root, "node_modules", name, "package.json")).json();
  const sha512 = hashes.get(`${name}@${version}`);
  return {
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    // A single SPDX identifier, or an expression of several.
    licenses: [
      { license: /^[\w.-]+$/.test(license ?? "") ? { id: license } : { name: license ?? "unknown" } },
    ],
    ...(sha512 && { hashes: [{ alg: "SHA-512", content: Buffer.from(sha512, "base64").toString("hex") }] }),
  };
}

/** The networks the program carries as files. */
async function modelComponents(): Promise<Component[]> {
  const found: Component[] = [];
  for await (const path of new Bun.Glob("src/**/*.{onnx,ort,tflite}").scan(root)) {
    const content = new Bun.CryptoHasher("sha256")
      .update(await Bun.file(join(root, path)).bytes())
      .digest("hex");
    found.push({ type: "machine-learning-model", name: path, hashes: [{ alg: "SHA-256", content }] });
  }
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

export async function makeSbom(): Promise<Sbom> {
  const [names, hashes, models] = await Promise.all([carriedPackages(), integrities(), modelComponents()]);
  const packages = await Promise.all(names.map((name) => packageComponent(name, hashes)));
  const { name, version, license } = await Bun.file(join(root, "package.json")).json();
  const components = [...packages, ...models];
  const digest = sha256(JSON.stringify([version, components]));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    serialNumber: `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`,
    metadata: { component: { type: "application", name, version, licenses: [{ license: { id: license } }] } },
    components,
  };
}

if (import.meta.main) {
  offerHelp(import.meta);
  const { values } = parseArgs({ options: { out: { type: "string", default: "dist/cardpress.cdx.json" } } });
  mkdirSync(dirname(values.out), { recursive: true });
  const sbom = await makeSbom();
  await Bun.write(values.out, `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${values.out}: ${sbom.components.length} components`);
}
