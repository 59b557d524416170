import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const folder = await mkdtemp(join(tmpdir(), "cardpress-single-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the program compiled into one file makes a card, with nothing of ours beside it", async () => {
  const program = join(folder, "cardpress");
  await Bun.$`${process.execPath} build --compile src/main.ts --outfile ${program}`.cwd(ROOT).quiet();
  const input = join(folder, "input.json");
  const card = {
    player: { name: "Ana", position: "GK", number: 1, skill_level: 70 },
    style: { width: 512, height: 640, format: "png" },
  };
  await writeFile(input, JSON.stringify(card));
  const out = join(folder, "card.png");
  const photo = join(ROOT, "test/photos/astronaut.png");
  await Bun.$`${program} render --input ${input} --photo ${photo} --out ${out}`
    .cwd(folder)
    // An empty folder and no PATH: its browser, fonts and networks have to be inside.
    .env({ CARDPRESS_DATA_DIR: join(folder, "data"), CARDPRESS_ALLOW_ROOT: "1", PATH: "", HOME: folder })
    .quiet();
  expect(await new Bun.Image(await Bun.file(out).bytes()).metadata()).toMatchObject({
    format: "png",
    width: 512,
    height: 640,
  });
});
