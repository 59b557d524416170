import type { Blobs } from "../../blobs/blobs.ts";
import { OperatorError } from "../../core/errors.ts";
import {
  findTemplateVersion,
  insertTemplateVersion,
  offerTemplate,
  publishedTemplates,
  unlistTemplate as unlistRow,
} from "../../store/images/templates.ts";
import { BUILT_IN } from "../../templates/built-in.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import { keepTemplate } from "../images/keep-template.ts";
import { logAction } from "./activity.ts";

export interface PublishDeps extends AppContext {
  blobs: Pick<Blobs, "put" | "refresh">;
  templates: TemplateRegistry;
}

export interface PublishOutcome {
  /**
   * `published`: a version that was not there before; `again`: one that was, offered in place of another or
   * listed anew; `unchanged`: it is offered already.
   */
  end: "published" | "again" | "unchanged";
  /** The version offered until now; null for a new name. */
  before: string | null;
  isListed: boolean;
}

/**
 * Offers a checked template under its name from the next request on. Waiting images keep the files they were
 * accepted with. Publishing an older version again reverts to it. Throws an OperatorError when the name is
 * taken, or its version stands for other files.
 */
export async function publishTemplate(
  deps: PublishDeps,
  template: LoadedTemplate,
  { isListed }: { isListed: boolean },
): Promise<PublishOutcome> {
  const { store, clock, random, blobs } = deps;
  const { manifest, digest } = template;
  const { name, version } = manifest;
  await refuseUnpublishable(deps, template);
  // Files first: a row must never refer to files that do not exist. Without a row the sweep after next
  // removes them.
  await keepTemplate({ blobs, clock }, template);
  return store.write("publish template", async (tx) => {
    const now = clock.now();
    const known = await findTemplateVersion(tx, name, version);
    if (known && known.digest !== digest) throw otherFiles(name, version);
    const before = (await publishedTemplates(tx)).find((row) => row.name === name);
    if (before?.digest === digest && before.isListed === Number(isListed))
      return { end: "unchanged", before: version, isListed };
    if (!known) await insertTemplateVersion(tx, { name, version, digest, publishedAt: now });
    await offerTemplate(tx, { name, version, digest, isListed: Number(isListed), updatedAt: now });
    const subject = `${name} ${version}`;
    await logAction(
      tx,
      { by: null, accountId: null, action: "template.published", subject },
      { now, random },
    );
    return { end: known ? "again" : "published", before: before?.version ?? null, isListed };
  });
}

/**
 * Takes a published template off the list: partners can no longer request it, waiting images are still
 * made.
 */
export async function unlistTemplate(deps: PublishDeps, name: string): Promise<void> {
  const { store, clock, random, templates } = deps;
  const done = await store.write("unlist template", async (tx) => {
    const now = clock.now();
    if (!(await unlistRow(tx, name, now))) return false;
    await logAction(
      tx,
      { by: null, accountId: null, action: "template.unlisted", subject: name },
      { now, random },
    );
    return true;
  });
  if (done) return;
  const found = (await templates.all()).find((each) => each.name === name);
  if (!found) throw new OperatorError(`There is no template "${name}". "cardpress template list" shows all.`);
  if (!found.isListed) throw new OperatorError(`"${name}" is not listed.`);
  throw new OperatorError(
    `"${name}" is listed by CARDPRESS_PRESETS, which the operator sets. Take it out there, and start the service again.`,
  );
}

/** Makes the quick checks before the long one: a taken name, a version that stands for other files. */
export async function refuseUnpublishable(
  { store, templates }: Pick<PublishDeps, "store" | "templates">,
  { manifest: { name, version }, digest }: LoadedTemplate,
): Promise<void> {
  await refuseTaken(templates, name);
  const known = await findTemplateVersion(store.read, name, version);
  if (known && known.digest !== digest) throw otherFiles(name, version);
}

async function refuseTaken(templates: TemplateRegistry, name: string): Promise<void> {
  if (BUILT_IN.has(name))
    throw new OperatorError(
      `"${name}" is the name of a template that comes with cardpress. Give yours another in template.json, and its folder too.`,
    );
  const found = (await templates.all()).find((each) => each.name === name);
  if (found?.folder)
    throw new OperatorError(
      `CARDPRESS_TEMPLATES_DIR holds ${found.folder}, which takes precedence over what is published as "${name}". Move it out of there, or edit it in place.`,
    );
}

function otherFiles(name: string, version: string): OperatorError {
  return new OperatorError(
    `${name} ${version} was published before, with other files, and a version means the same files for ever. Raise "version" in template.json.`,
  );
}
