/**
 * Builds and packs the clients in clients/ from this version's OpenAPI document: the one for TypeScript as a
 * package for npm, for Python as a wheel, for PHP as a ZIP for Composer; and the web component, for npm:
 * bun scripts/client.ts [FOLDER FOR THE PACKAGES]
 */

import { copyFile, cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { zipSync } from "fflate";
import packageJson from "../package.json" with { type: "json" };
import { openApiDocument } from "../src/http/openapi/document.ts";
import { VERSION } from "../src/version.ts";
import { phpOperations, phpTypes } from "./clients/php.ts";
import { pythonOperations, pythonTypes } from "./clients/python.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const ROOT = join(import.meta.dir, "..");
const CLIENT = join(ROOT, "clients/typescript");

/** Builds the client into clients/typescript/dist and packs it into `folder`; returns the package's path. */
export async function packClient(folder: string): Promise<string> {
  const dist = join(CLIENT, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await mkdir(folder, { recursive: true });
  const document = join(dist, "openapi.json");
  await Bun.write(document, JSON.stringify(anyService()));
  const types = join(CLIENT, "src/schema.d.ts");
  await run(["bun", join(import.meta.dir, "openapi-types.ts"), `file://${document}`, types]);
  await run(["bun", "--bun", join(ROOT, "node_modules/typescript/bin/tsc"), "-p", CLIENT]);
  await copyFile(types, join(dist, "schema.d.ts"));
  await rm(document);
  return packForNpm(CLIENT, folder);
}

const CARD = join(ROOT, "clients/card");

/** Packs the web component, which is written as it is shipped; returns the package's path. */
export async function packCard(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  return packForNpm(CARD, folder);
}

/**
 * Packs a client with the project's address, which npm compares with where a workflow publishes from and
 * which stands in the project's package.json alone; returns the package's path.
 */
async function packForNpm(client: string, folder: string): Promise<string> {
  const manifest = await Bun.file(join(client, "package.json")).json();
  const { author, repository: url } = packageJson;
  const repository = { type: "git", url: `git+${url}.git`, directory: relative(ROOT, client) };
  const copy = await mkdtemp(join(tmpdir(), "cardpress-client-"));
  try {
    for (const name of ["README.md", "LICENSE", ...manifest.files])
      await cp(join(client, name), join(copy, name), { recursive: true });
    await Bun.write(join(copy, "package.json"), JSON.stringify({ ...manifest, author, repository }, null, 2));
    const packed = await run(["bun", "pm", "pack", "--quiet", "--destination", resolve(folder)], copy);
    return packed.trim().split("\n").at(-1) ?? "";
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const PYTHON = join(ROOT, "clients/python");

/** Generates the Python client's types and operations, and packs a wheel into `folder`; returns its path. */
export async function packPython(folder: string): Promise<string> {
  const document = anyService();
  const source = join(PYTHON, "src/cardpress_client");
  await Bun.write(join(source, "types.py"), pythonTypes(document));
  await Bun.write(join(source, "operations.py"), pythonOperations(document));
  const project = Bun.TOML.parse(await Bun.file(join(PYTHON, "pyproject.toml")).text()) as {
    project: {
      name: string;
      version: string;
      description: string;
      license: string;
      "requires-python": string;
    };
  };
  const { name, version, description, license, "requires-python": python } = project.project;
  const info = `${name.replace("-", "_")}-${version}.dist-info`;
  const files = await contents(source, "cardpress_client", /\.py$|^py\.typed$/);
  const text = (value: string) => new TextEncoder().encode(value);
  files[`${info}/METADATA`] = text(
    `Metadata-Version: 2.4\nName: ${name}\nVersion: ${version}\nSummary: ${description}\nLicense-Expression: ${license}\nLicense-File: LICENSE\nRequires-Python: ${python}\nDescription-Content-Type: text/markdown\n\n${await Bun.file(join(PYTHON, "README.md")).text()}`,
  );
  files[`${info}/WHEEL`] = text(
    "Wheel-Version: 1.0\nGenerator: cardpress\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  );
  files[`${info}/licenses/LICENSE`] = await Bun.file(join(PYTHON, "LICENSE")).bytes();
  // https://packaging.python.org/en/latest/specifications/binary-distribution-format/
  const record = Object.entries(files).map(
    ([path, bytes]) =>
      `${path},sha256=${new Bun.CryptoHasher("sha256").update(bytes).digest("base64url")},${bytes.length}`,
  );
  files[`${info}/RECORD`] = text(`${[...record, `${info}/RECORD,,`].join("\n")}\n`);
  return writeZip(files, join(folder, `${name.replace("-", "_")}-${version}-py3-none-any.whl`));
}

const PHP = join(ROOT, "clients/php");

/** Generates the PHP client's shapes and operations, and packs them for Composer into `folder`. */
export async function packPhp(folder: string): Promise<string> {
  const document = anyService();
  await Bun.write(join(PHP, "src/Types.php"), phpTypes(document));
  await Bun.write(join(PHP, "src/Operations.php"), phpOperations(document));
  const files = {
    ...(await contents(PHP, "", /^(?:composer\.json|autoload\.php|README\.md|LICENSE)$/)),
    ...(await contents(join(PHP, "src"), "src", /\.php$/)),
  };
  return writeZip(files, join(folder, `cardpress-client-php-${VERSION}.zip`));
}

/** The files of a folder whose names match, by their paths in an archive. */
async function contents(folder: string, prefix: string, names: RegExp): Promise<Record<string, Uint8Array>> {
  const found = (await readdir(folder)).filter((name) => names.test(name)).sort();
  const entries = found.map(async (name) => [join(prefix, name), await Bun.file(join(folder, name)).bytes()]);
  return Object.fromEntries(await Promise.all(entries));
}

/** The same bytes from the same files, whenever it is written. */
async function writeZip(files: Record<string, Uint8Array>, path: string): Promise<string> {
  await Bun.write(path, zipSync(files, { mtime: "1980-01-01T00:00:00" }));
  return path;
}

/** A document not specific to any service: each has its own presets. */
function anyService() {
  const document = openApiDocument({
    baseUrl: "https://cards.example.org",
    cdnBaseUrl: "https://cards.example.org/cdn",
    presets: ["any"],
  });
  const { schemas } = document.components;
  const { BatchCard, CreateImageRequest, RemakeImageRequest, RemakeBatchRequest } = schemas;
  const inBatch = RemakeBatchRequest.properties.cards.items;
  for (const { properties } of [BatchCard, CreateImageRequest, RemakeImageRequest, inBatch]) {
    const { style } = properties;
    const { description } = style.properties.preset;
    style.properties.preset = { type: "string", description };
  }
  // What the clients do for their users.
  for (const card of [BatchCard, CreateImageRequest])
    card.required = card.required.filter((field: string) => field !== "type");
  for (const name of ANSWERS_OF_KEYS)
    schemas[name].properties.replayed = {
      type: "boolean",
      description:
        "Added by the client: whether this is the answer to an earlier create with the same idempotency key.",
    };
  return document;
}

/** The answers to what is sent with an idempotency key. */
const ANSWERS_OF_KEYS = [
  "AcceptedImage",
  "ProcessingImage",
  "CompletedImage",
  "FailedImage",
  "AcceptedBatch",
  "CardSet",
];

async function run(command: string[], cwd = ROOT): Promise<string> {
  const [program = "", ...rest] = command;
  const child = Bun.spawn([program === "bun" ? process.execPath : program, ...rest], {
    cwd,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}\n${out}${err}`);
  return out;
}

if (import.meta.main) {
  const folder = process.argv[2];
  console.log(await packClient(folder ?? join(CLIENT, "dist")));
  console.log(await packCard(folder ?? join(CARD, "dist")));
  console.log(await packPython(folder ?? join(PYTHON, "dist")));
  console.log(await packPhp(folder ?? join(PHP, "dist")));
}
