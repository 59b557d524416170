import { sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { ENVIRONMENTS } from "../src/core/account.ts";
import { type Parallel, SET_CARD_STATES } from "../src/core/card-set.ts";
import type { Kit } from "./kit.ts";

/** A table that another table's rows belong to. */
type Owner = { id: AnySQLiteColumn };

/** Sets of cards as clubs sell them: who is in one, and which numbers its cards have. */
export function setTables(kit: Kit, accounts: Owner, images: Owner) {
  const { table, text, oneOf, int, json, index, uniqueIndex, primaryKey, check } = kit;

  /** What a set is, which never changes but for its gallery: cards that were sold refer to it. */
  const cardSets = table(
    "card_sets",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      name: text("name").notNull(),
      /** Such as 2026/27; empty without one. */
      season: text("season").notNull(),
      parallels: json<Parallel[]>("parallels").notNull(),
      /** The partner's Idempotency-Key, if one was sent, and the SHA-256 of the canonical payload. */
      idempotencyKey: text("idempotency_key"),
      fingerprint: text("fingerprint"),
      /** What the address of its public gallery names it by; null while there is none. */
      galleryName: text("gallery_name"),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      index("card_sets_list").on(t.accountId, t.environment, t.createdAt, t.id),
      uniqueIndex("card_sets_key")
        .on(t.accountId, t.environment, t.idempotencyKey)
        .where(sql`${t.idempotencyKey} is not null`),
      uniqueIndex("card_sets_gallery").on(t.galleryName).where(sql`${t.galleryName} is not null`),
    ],
  );

  /** A set's checklist. A player who is deleted leaves the row, without anything personal, to the cards. */
  const setPlayers = table(
    "set_players",
    {
      setId: text("set_id")
        .notNull()
        .references(() => cardSets.id),
      /** Place in the checklist, from 0: what cards refer to. */
      position: int("position").notNull(),
      /** Empty once the player is deleted, like the name. */
      externalId: text("external_id").notNull(),
      name: text("name").notNull(),
      number: int("number"),
    },
    (t) => [
      primaryKey({ columns: [t.setId, t.position] }),
      uniqueIndex("set_players_external").on(t.externalId, t.setId).where(sql`${t.externalId} <> ''`),
    ],
  );

  /**
   * The place of an image in its set. Without a word about the player, so that a number that was given stays
   * given when the player is deleted.
   */
  const setCards = table(
    "set_cards",
    {
      imageId: text("image_id")
        .primaryKey()
        .references(() => images.id),
      setId: text("set_id")
        .notNull()
        .references(() => cardSets.id),
      /** The player's position in the checklist. */
      player: int("player").notNull(),
      parallel: text("parallel").notNull(),
      /** From 1, to the size if any; null in a parallel without numbers, and once it was given back. */
      serial: int("serial"),
      size: int("size"),
      state: oneOf("state", SET_CARD_STATES).notNull(),
      /** The image whose number it took over, which has it again should this one fail. */
      replacesImageId: text("replaces_image_id"),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      // No number twice, no matter who asks for it and where.
      uniqueIndex("set_cards_serial")
        .on(t.setId, t.player, t.parallel, t.serial)
        .where(sql`${t.serial} is not null and ${t.state} in ('held', 'final')`),
      index("set_cards_list").on(t.setId, t.player, t.parallel, t.state),
      check("set_cards_range", sql`${t.serial} is null or (${t.serial} >= 1 and ${t.serial} <= ${t.size})`),
    ],
  );

  return { cardSets, setPlayers, setCards };
}
