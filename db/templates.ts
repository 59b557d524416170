import type { Kit } from "./kit.ts";

/** Templates that designers published to this service. Their files lie among the blobs, by digest. */
export function templateTables(kit: Kit) {
  const { table, text, int, primaryKey } = kit;

  /** What is offered under each name now. */
  const templates = table("templates", {
    name: text("name").primaryKey(),
    version: text("version").notNull(),
    digest: text("digest").notNull(),
    /** 1 while partners may ask for it, otherwise 0. */
    isListed: int("is_listed").notNull(),
    updatedAt: int("updated_at").notNull(),
  });

  /** Every version that was ever published: a version means the same files for ever. */
  const templateVersions = table(
    "template_versions",
    {
      name: text("name").notNull(),
      version: text("version").notNull(),
      digest: text("digest").notNull(),
      publishedAt: int("published_at").notNull(),
    },
    (t) => [primaryKey({ columns: [t.name, t.version] })],
  );

  return { templates, templateVersions };
}
