import { expect, test } from "bun:test";
import { join } from "node:path";
import { checkMeaning } from "../src/app/images/check-card.ts";
import { readConfig } from "../src/config.ts";
import { createImageValidator } from "../src/core/image-request.ts";
import { SAMPLE_PHOTO_PATH } from "../src/core/sample-photo.ts";

const ROOT = join(import.meta.dir, "..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

test("every command of the README runs on a machine that has only npx, by a script there is", async () => {
  const { scripts } = await Bun.file(join(ROOT, "package.json")).json();
  const commands = [...readme.matchAll(/(?:^ {4}|`)((?:npx|bun) [^`\n]*)/gm)].map(
    ([, command]) => command ?? "",
  );
  expect(commands.length).toBeGreaterThan(6);
  const run = /^npx -y bun@1\.4\.5 run (\w+)/;
  const inWords = new Set(["npx -y bun@1.4.5"]);
  const wrong = commands.filter(
    (command) => !inWords.has(command) && !((run.exec(command)?.[1] ?? "-") in scripts),
  );
  expect(wrong).toEqual([]);
});

test("the README's request is valid word for word at the default address, with a photo that is there", () => {
  const [, body = "{}"] = /-d '(\{.*?\n {2}\})'/s.exec(readme) ?? [];
  const checked = createImageValidator(readConfig({}).presets).check(JSON.parse(body));
  if (!checked.ok) throw new Error(JSON.stringify(checked.details));
  expect(checkMeaning(checked.value, readConfig({}))).toEqual([]);
  expect(checked.value.player.source_image_url).toBe(readConfig({}).baseUrl + SAMPLE_PHOTO_PATH);
});
