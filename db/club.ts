import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Kit } from "./kit.ts";

/** What a club's own staff keep in the console, beside images and batches. */
export function clubTables(kit: Kit, accounts: { id: AnySQLiteColumn }) {
  const { table, text, int, uniqueIndex } = kit;

  /** How an account's cards look, saved to be chosen by name. What is empty is left to the card. */
  const brandKits = table(
    "brand_kits",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      name: text("name").notNull(),
      preset: text("preset").notNull(),
      composition: text("composition").notNull(),
      backgroundTheme: text("background_theme").notNull(),
      primaryColor: text("primary_color").notNull(),
      secondaryColor: text("secondary_color").notNull(),
      badgeUrl: text("badge_url").notNull(),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [uniqueIndex("brand_kits_name").on(t.accountId, t.name)],
  );

  return { brandKits };
}
