import type { Kit } from "./kit.ts";

/** Templates that designers have published to this service. Their files are among the blobs, by digest. */
export function templateTables(kit: Kit) {
  const { table, text, int, primaryKey } = kit;

  /** The version currently offered under each name. */
  const templates = table("templates", {
    name: text("name").primaryKey(),
    version: text("version").notNull(),
    digest: text("digest").notNull(),
    /** 1 while partners may request it, otherwise 0. */
    isListed: int("is_listed").notNull(),
    updatedAt: int("updated_at").notNull(),
  });

  /** Every version ever published: a version always means the same files. */
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
