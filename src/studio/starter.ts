import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { writeWhole } from "../system/write-whole.ts";
import { TEMPLATE_NAME } from "../templates/manifest.ts";
import { STARTER_FILES, STARTER_PHOTO } from "./starter-files.ts";

/** The placeholder for the new template's name in the starter's files. */
const NAME = "starter";

/**
 * Copies the starter as a template called `name` into `root`, completely or not at all. Returns its folder.
 * Throws an OperatorError for a name that is invalid or taken.
 */
export async function copyStarter(root: string, name: string): Promise<string> {
  if (!TEMPLATE_NAME.test(name))
    throw new OperatorError(
      `"${name}" is not a valid template name. Use a lower-case letter, then letters, digits and underscores, as in season_card.`,
      2,
    );
  const dir = join(root, name);
  if (await stat(dir).catch(() => null))
    throw new OperatorError(`${dir} is there already. Choose another name, or remove it.`);
  const staging = join(root, `.${name}.new`);
  await rm(staging, { recursive: true, force: true });
  const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
  const files: [string, Uint8Array | string][] = Object.entries(STARTER_FILES);
  files.push(["samples/portrait.webp", await readFile(STARTER_PHOTO)]);
  for (const [file, content] of files) {
    const path = join(staging, file);
    await mkdir(dirname(path), { recursive: true });
    const own =
      file === "template.json" && typeof content === "string"
        ? content
            .replace(`"name": "${NAME}"`, `"name": "${name}"`)
            .replace('"title": "Starter"', `"title": "${title}"`)
        : content;
    await writeWhole(path, own);
  }
  await rename(staging, dir);
  return dir;
}
