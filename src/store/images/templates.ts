import { and, eq } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

/** What is offered under a name that a designer published. */
export type PublishedRow = Tables["templates"]["$inferSelect"];
/** One version of it: its digest never changes. */
export type TemplateVersion = Tables["templateVersions"]["$inferSelect"];

/** Those of all names. Asked for at every create. */
const published = prepared("published templates", ({ db, t }) =>
  db.select().from(t.templates).orderBy(t.templates.name),
);

export function publishedTemplates(tx: Tx): Promise<PublishedRow[]> {
  return published(tx, {});
}

export async function findTemplateVersion(
  { db, t }: Tx,
  name: string,
  version: string,
): Promise<TemplateVersion | undefined> {
  const v = t.templateVersions;
  const [row] = await db
    .select()
    .from(v)
    .where(and(eq(v.name, name), eq(v.version, version)))
    .limit(1);
  return row;
}

export async function insertTemplateVersion({ db, t }: Tx, version: TemplateVersion): Promise<void> {
  await db.insert(t.templateVersions).values(version);
}

/** Offers a version under its name, in place of the one before. */
export async function offerTemplate({ db, t }: Tx, row: PublishedRow): Promise<void> {
  const { name, ...rest } = row;
  await db.insert(t.templates).values(row).onConflictDoUpdate({ target: t.templates.name, set: rest });
}

/** Takes a name off the list. False where it was not on it. */
export async function unlistTemplate({ db, t }: Tx, name: string, now: number): Promise<boolean> {
  const changed = await db
    .update(t.templates)
    .set({ isListed: 0, updatedAt: now })
    .where(and(eq(t.templates.name, name), eq(t.templates.isListed, 1)))
    .returning({ name: t.templates.name });
  return changed.length > 0;
}

/** Whether the files of a digest are what a name offers now. */
export async function isPublished({ db, t }: Tx, digest: string): Promise<boolean> {
  const rows = await db
    .select({ name: t.templates.name })
    .from(t.templates)
    .where(eq(t.templates.digest, digest))
    .limit(1);
  return rows.length > 0;
}
