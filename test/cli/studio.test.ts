import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommandWith } from "./run.ts";

test("a port that is taken is reported with the option that names another, and the command ends", async () => {
  const root = mkdtempSync(join(tmpdir(), "cardpress-studio-port-"));
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  try {
    const port = String(other.port);
    const { out, err, code } = await runCommandWith({}, root, "studio", "--no-open", "--port", port, root);
    expect({ out, err, code }).toEqual({
      out: "",
      err: `cardpress: Port ${port} of 127.0.0.1 is taken by another program. Name another with --port; without it a free one is taken.\n`,
      code: 1,
    });
  } finally {
    await other.stop(true);
    await rm(root, { recursive: true, force: true });
  }
});
