/**
 * Checks the OpenAPI document with the recommended rules of two linters, none switched off, and treats their warnings
 * as failures. Works offline. `bun run lint:api` runs this file.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApiDocument } from "../src/http/openapi/document.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const BIN = join(import.meta.dir, "../node_modules/.bin");

export interface LintResult {
  linter: string;
  ok: boolean;
  output: string;
}

/** Runs both linters on a document. */
export async function lintDocument(document: object): Promise<LintResult[]> {
  const dir = await mkdtemp(join(tmpdir(), "cardpress-openapi-"));
  try {
    const file = join(dir, "openapi.json");
    await Bun.write(file, JSON.stringify(document, null, 2));
    await Bun.write(join(dir, "spectral.yaml"), 'extends: [["spectral:oas", "recommended"]]\n');
    return await Promise.all([redocly(dir, file), spectral(dir, file)]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function redocly(dir: string, file: string): Promise<LintResult> {
  const run = await tool(dir, ["redocly", "lint", "--extends", "recommended", "--format", "json", file]);
  // Redocly exits with 0 on warnings, so they are counted here.
  const totals = /"totals":\s*{\s*"errors":\s*(\d+),\s*"warnings":\s*(\d+)/.exec(run.output);
  return { linter: "redocly", ok: run.exitCode === 0 && totals?.[1] === "0" && totals[2] === "0", ...run };
}

async function spectral(dir: string, file: string): Promise<LintResult> {
  const ruleset = join(dir, "spectral.yaml");
  const run = await tool(dir, ["spectral", "lint", "--fail-severity", "hint", "--ruleset", ruleset, file]);
  return { linter: "spectral", ok: run.exitCode === 0, ...run };
}

async function tool(cwd: string, [name = "", ...args]: string[]) {
  const child = Bun.spawn([process.execPath, "--bun", join(BIN, name), ...args], {
    cwd,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, output: `${out}${err}`.trim() };
}

if (import.meta.main) {
  const baseUrl = "http://127.0.0.1:3000";
  const results = await lintDocument(
    openApiDocument({
      baseUrl,
      cdnBaseUrl: `${baseUrl}/cdn`,
      presets: ["club_card", "season_card"],
    }),
  );
  for (const { linter, ok, output } of results)
    console.log(`${linter}: ${ok ? "passed" : "FAILED"}\n${output}\n`);
  process.exit(results.every(({ ok }) => ok) ? 0 : 1);
}
