import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { testFolder } from "../harness.ts";

const ROOT = join(import.meta.dir, "../..");
const PHOTO = join(ROOT, "test/photos/astronaut.png");

/** Runs a command to its end and returns what it printed. */
async function run(command: string[], env: Record<string, string>, cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stderr: "pipe" });
  const [out, problem] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${problem}`);
  return out;
}

test("the program in one file makes the same card as its sources, byte for byte, without them", async () => {
  const folder = testFolder();
  const cwd = join(folder.dir, "elsewhere");
  mkdirSync(cwd);
  await run([process.execPath, "scripts/build.ts", "--out", folder.dir], {}, ROOT);
  const player = { name: "Ana", position: "GK", number: 1, skill_level: 70 };
  const input = join(folder.dir, "card.json");
  await Bun.write(input, JSON.stringify({ player, style: { width: 512, height: 512 } }));
  const card = async (program: string[], name: string, from: string) => {
    const out = join(folder.dir, `${name}.png`);
    const data = join(folder.dir, name);
    mkdirSync(data);
    const command = [...program, "render", "--input", input, "--photo", PHOTO, "--out", out];
    await run(command, { CARDPRESS_DATA_DIR: data }, from);
    return Bun.file(out).bytes();
  };
  const fromSources = await card([process.execPath, join(ROOT, "src/main.ts")], "sources", ROOT);
  const fromFile = await card([join(folder.dir, "cardpress")], "file", cwd);
  expect(fromFile.length).toBeGreaterThan(10_000);
  expect(Buffer.compare(fromFile, fromSources)).toBe(0);
  await folder.remove();
});
