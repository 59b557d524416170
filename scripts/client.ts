/**
 * Builds and packs the TypeScript client of clients/typescript: the types from this version's OpenAPI
 * document, the JavaScript by the compiler, the package for npm: bun scripts/client.ts [FOLDER FOR THE
 * PACKAGE]
 */

import { copyFile, mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openApiDocument } from "../src/http/openapi/document.ts";
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
  const packed = await run(["bun", "pm", "pack", "--quiet", "--destination", resolve(folder)], CLIENT);
  return packed.trim().split("\n").at(-1) ?? "";
}

/** A document not specific to any service: each has its own presets. */
function anyService() {
  const document = openApiDocument({
    baseUrl: "https://cards.example.org",
    cdnBaseUrl: "https://cards.example.org/cdn",
    presets: ["any"],
  });
  const { CreateImageRequest, RemakeImageRequest, RemakeBatchRequest } = document.components.schemas;
  const inBatch = RemakeBatchRequest.properties.cards.items;
  for (const { properties } of [CreateImageRequest, RemakeImageRequest, inBatch]) {
    const { style } = properties;
    const { description } = style.properties.preset;
    style.properties.preset = { type: "string", description };
  }
  return document;
}

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

if (import.meta.main) console.log(await packClient(process.argv[2] ?? join(CLIENT, "dist")));
