import { sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Kit } from "./kit.ts";

/** What a club's own staff keep in the console, beside images and batches. */
export function clubTables(kit: Kit, accounts: { id: AnySQLiteColumn }) {
  const { table, text, int, index, uniqueIndex, primaryKey } = kit;

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

  /** What a player, by the partner's id, has agreed to. Without a row nothing is held back. */
  const playerConsents = table(
    "player_consents",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      externalId: text("external_id").notNull(),
      /** 1: no photo of the player may be used. */
      noPhoto: int("no_photo").notNull(),
      /** 1: the whole name may not stand on a card. */
      noFullName: int("no_full_name").notNull(),
      /** From this moment on nothing is allowed any more; null: no end. A withdrawal ends it at once. */
      endsAt: int("ends_at"),
      withdrawnAt: int("withdrawn_at"),
      /** When everything of the player was removed after the end. */
      recalledAt: int("recalled_at"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.accountId, t.externalId] }),
      index("player_consents_list").on(t.accountId, t.updatedAt, t.externalId),
      index("player_consents_due")
        .on(t.endsAt)
        .where(sql`${t.endsAt} is not null and ${t.recalledAt} is null`),
      index("player_consents_recalled").on(t.recalledAt).where(sql`${t.recalledAt} is not null`),
    ],
  );

  return { brandKits, playerConsents };
}
