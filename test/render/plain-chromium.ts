import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { TEST_CACHE_DIR } from "../harness.ts";

/**
 * A program in `dir` that is the Chromium of the tests, but for its drawing of elements into a canvas, which
 * other browsers do not have.
 */
export async function plainChromium(dir: string): Promise<string> {
  const { path, env } = await findChromium({ cacheDir: TEST_CACHE_DIR });
  const program = join(dir, "plain-chromium");
  const settings = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
  const script = [
    "#!/bin/sh",
    ...settings,
    'for given; do shift; case "$given" in *CanvasDrawElement*) ;; *) set -- "$@" "$given" ;; esac; done',
    `exec '${path}' "$@"`,
  ];
  writeFileSync(program, `${script.join("\n")}\n`);
  chmodSync(program, 0o755);
  return program;
}
