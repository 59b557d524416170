/**
 * Checks the OpenAPI document with every rule that Redocly has but a few of taste, and treats its warnings as
 * failures. Works offline. `bun run lint:api` runs this file.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApiDocument } from "../src/http/openapi/document.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const REDOCLY = join(import.meta.dir, "../node_modules/.bin/redocly");

/** Rules of Redocly that this document does not follow, and why. */
const NOT_FOLLOWED = {
  // Addresses are written like the fields beside them.
  "paths-kebab-case": "off",
  // `current=true` says it in the words of the API, whose parameters are nouns and adjectives.
  "boolean-parameter-prefixes": "off",
  // Tags and methods stand in the order in which a reader needs them.
  "tags-alphabetical": "off",
  "path-http-verbs-order": "off",
  // "v1" is no collection.
  "path-segment-plural": "off",
  // Errors have the one form that the API had from its first day.
  "operation-4xx-problem-details-rfc7807": "off",
  // Photos are uploaded as forms, and pictures and archives are answered.
  "request-mime-type": "off",
  "response-mime-type": "off",
  // Bodies have whole examples, and ids and enumerations need no shortest length.
  "scalar-property-missing-example": "off",
  "required-string-property-missing-min-length": "off",
};

/** What the linter says of a document; `ok` when it has nothing to say. */
export async function lintDocument(document: object): Promise<{ ok: boolean; output: string }> {
  const dir = await mkdtemp(join(tmpdir(), "cardpress-openapi-"));
  try {
    await Bun.write(join(dir, "openapi.json"), JSON.stringify(document, null, 2));
    await Bun.write(join(dir, "redocly.yaml"), JSON.stringify({ extends: ["all"], rules: NOT_FOLLOWED }));
    const { exitCode, output } = await redocly(dir);
    // Redocly exits with 0 on warnings, so they are counted here.
    const totals = /"totals":\s*{\s*"errors":\s*(\d+),\s*"warnings":\s*(\d+)/.exec(output);
    return { ok: exitCode === 0 && totals?.[1] === "0" && totals[2] === "0", output };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function redocly(cwd: string) {
  const child = Bun.spawn([process.execPath, "--bun", REDOCLY, "lint", "--format", "json", "openapi.json"], {
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
  const { ok, output } = await lintDocument(
    openApiDocument({
      baseUrl,
      cdnBaseUrl: `${baseUrl}/cdn`,
      presets: ["club_card", "season_card"],
    }),
  );
  console.log(`${output}\n${ok ? "passed" : "FAILED"}`);
  process.exit(ok ? 0 : 1);
}
