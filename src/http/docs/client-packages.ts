import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import composer from "../../../clients/php/composer.json" with { type: "json" };
import { VERSION } from "../../version.ts";
import { type Asset, fileAsset, textAsset } from "../../web/assets.ts";
import { PACKED_CLIENTS } from "./packed-clients.ts";

// The clients as npm, pip and Composer install them from a running service.

const FOLDER = "/docs/clients/";

/** The packages by their names, which are those that scripts/client.ts writes. */
const CONTENT_TYPES: Record<string, string> = {
  [`cardpress-client-${VERSION}.tgz`]: "application/gzip",
  [`cardpress-card-${VERSION}.tgz`]: "application/gzip",
  [`cardpress_client-${VERSION}-py3-none-any.whl`]: "application/zip",
  [`cardpress-client-php-${VERSION}.zip`]: "application/zip",
};
const PHP_PACKAGE = `cardpress-client-php-${VERSION}.zip`;

/** Finds what is below /docs/clients/: the packages, and the index by which Composer finds its own. */
export function clientPackages(baseUrl: string): (path: string) => Promise<Asset | undefined> {
  let packages: Promise<Map<string, Asset>> | undefined;
  return async (path) => {
    const name = path.startsWith(FOLDER) ? path.slice(FOLDER.length) : "";
    if (name !== "packages.json" && CONTENT_TYPES[name] === undefined) return undefined;
    packages ??= PACKED_CLIENTS === null ? packNow() : Promise.resolve(read(PACKED_CLIENTS));
    const found = await packages.catch((error) => {
      // The next caller may find a disk with room.
      packages = undefined;
      throw error;
    });
    const zip = found.get(PHP_PACKAGE);
    return name === "packages.json" && zip ? composerIndex(baseUrl, zip) : found.get(name);
  };
}

function read(paths: Record<string, string>): Map<string, Asset> {
  return new Map(
    Object.entries(CONTENT_TYPES).flatMap(([name, type]) => {
      const path = paths[name];
      return path === undefined ? [] : [[name, fileAsset(type, path)]];
    }),
  );
}

/** Packs them as `bun run client` does, for a service that runs from its sources. */
async function packNow(): Promise<Map<string, Asset>> {
  const folder = await mkdtemp(join(tmpdir(), "cardpress-clients-"));
  try {
    const script = join(import.meta.dir, "../../../scripts/client.ts");
    const child = Bun.spawn([process.execPath, script, folder], { stdout: "ignore", stderr: "pipe" });
    const problem = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) throw new Error(`The clients could not be packed: ${problem}`);
    const names = await readdir(folder);
    return read(Object.fromEntries(names.map((name) => [name, join(folder, name)])));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** https://getcomposer.org/doc/05-repositories.md#composer */
async function composerIndex(baseUrl: string, { body }: Asset): Promise<Asset> {
  const shasum = new Bun.CryptoHasher("sha1").update(await new Response(body).bytes()).digest("hex");
  const url = `${baseUrl}${FOLDER}${PHP_PACKAGE}`;
  const release = { ...composer, version: VERSION, dist: { type: "zip", url, shasum } };
  return textAsset(
    "application/json; charset=utf-8",
    JSON.stringify({ packages: { [composer.name]: { [VERSION]: release } } }),
  );
}
