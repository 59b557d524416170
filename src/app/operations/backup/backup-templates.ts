import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../../core/errors.ts";
import { isTemplatePart, TEMPLATES } from "./backup-manifest.ts";

export interface TemplateFile {
  /** Path within the archive. */
  name: string;
  path: string;
}

/**
 * Every file of the templates folder except hidden ones. Links to files are followed, because mounted
 * configurations consist of them; links to folders are not. Throws an OperatorError that names the variable
 * or the file.
 */
export async function templateFiles(folder: string, place = TEMPLATES): Promise<TemplateFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw new OperatorError(
      `CARDPRESS_TEMPLATES_DIR cannot be read: ${error.message}. Correct it, or unset it.`,
    );
  });
  const files: TemplateFile[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (!isTemplatePart(entry.name))
      throw new OperatorError(`${JSON.stringify(path)} cannot be backed up under this name. Rename it.`);
    const name = `${place}/${entry.name}`;
    if (entry.isDirectory()) files.push(...(await templateFiles(path, name)));
    else if ((await stat(path).catch(() => undefined))?.isFile()) files.push({ name, path });
  }
  return files;
}
