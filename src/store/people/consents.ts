import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lte, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import type { ConsentPosition } from "../../core/consent-position.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

/** What a player has agreed to. */
export type PlayerConsent = Tables["playerConsents"]["$inferSelect"];

type Player = Pick<PlayerConsent, "accountId" | "externalId">;

/** Players asked about at a time: SQLite accepts 32,766 bound values in all. */
const PLAYERS_AT_ONCE = 500;

/** What is recorded of these players, by external id. */
export async function consentsOf(
  tx: Tx,
  accountId: string,
  externalIds: readonly string[],
): Promise<Map<string, PlayerConsent>> {
  const [externalId] = externalIds;
  const found = new Map<string, PlayerConsent>();
  if (externalIds.length === 1 && externalId !== undefined) {
    const consent = await consentOf(tx, { accountId, externalId });
    return consent ? found.set(externalId, consent) : found;
  }
  const { db, t } = tx;
  const c = t.playerConsents;
  for (let at = 0; at < externalIds.length; at += PLAYERS_AT_ONCE) {
    const some = externalIds.slice(at, at + PLAYERS_AT_ONCE);
    const rows = await db
      .select()
      .from(c)
      .where(and(eq(c.accountId, accountId), inArray(c.externalId, some)));
    for (const row of rows) found.set(row.externalId, row);
  }
  return found;
}

// Prepared, since every create asks it twice.
const consentOfPlayer = prepared(
  "consent of a player",
  ({ db, t: { playerConsents: c } }, { accountId, externalId }: Parameters<Player>) =>
    db
      .select()
      .from(c)
      .where(and(eq(c.accountId, accountId), eq(c.externalId, externalId))),
);

/** What is recorded of one player; undefined if nothing is. */
export async function consentOf(
  tx: Tx,
  { accountId, externalId }: Player,
): Promise<PlayerConsent | undefined> {
  const [consent] = await consentOfPlayer(tx, { accountId, externalId });
  return consent;
}

/** Writes what a player agrees to over what was recorded before. */
export async function putConsent({ db, t }: Tx, consent: PlayerConsent): Promise<void> {
  const { accountId, externalId, createdAt, ...rest } = consent;
  const c = t.playerConsents;
  await db
    .insert(c)
    .values(consent)
    .onConflictDoUpdate({ target: [c.accountId, c.externalId], set: rest });
}

/** Up to `limit` records of an account, the last changed first, after the one with `after`. */
export async function listConsents(
  { db, t }: Tx,
  query: {
    accountId: string;
    after?: ConsentPosition | undefined;
    limit: number;
  },
): Promise<PlayerConsent[]> {
  const c = t.playerConsents;
  const { accountId, after, limit } = query;
  return db
    .select()
    .from(c)
    .where(
      and(
        eq(c.accountId, accountId),
        after
          ? sql`(${c.updatedAt}, ${c.externalId}) < (${after.updatedAt}, ${after.externalId})`
          : undefined,
      ),
    )
    .orderBy(desc(c.updatedAt), desc(c.externalId))
    .limit(limit);
}

/**
 * Up to `limit` consents that have ended and whose players have not been recalled; all but the first `skip`.
 */
export async function endedConsents(
  { db, t }: Tx,
  now: number,
  { skip, limit }: { skip: number; limit: number },
): Promise<PlayerConsent[]> {
  const c = t.playerConsents;
  return db
    .select()
    .from(c)
    .where(and(isNotNull(c.endsAt), lte(c.endsAt, now), isNull(c.recalledAt)))
    .orderBy(asc(c.endsAt), asc(c.accountId), asc(c.externalId))
    .limit(limit)
    .offset(skip);
}

/**
 * Up to `limit` players recalled after `since` of whom there are images again, created up to `until`; all but
 * the first `skip`. A create that began before the recall may have ended after it.
 */
export async function recalledWithImages(
  { db, t }: Tx,
  { since, until }: { since: number; until: number },
  { skip, limit }: { skip: number; limit: number },
): Promise<(Player & { environment: Environment })[]> {
  const { playerConsents: c, images: i } = t;
  const { accountId, externalId, recalledAt } = c;
  const isOf = and(
    eq(i.accountId, accountId),
    eq(i.externalId, externalId),
    inArray(i.environment, [...ENVIRONMENTS]),
    lte(i.createdAt, until),
    isNull(i.forgottenAt),
  );
  return db
    .selectDistinct({ accountId, externalId, environment: i.environment })
    .from(c)
    .innerJoin(i, isOf)
    .where(and(isNotNull(recalledAt), gt(recalledAt, since)))
    .orderBy(asc(accountId), asc(externalId), asc(i.environment))
    .limit(limit)
    .offset(skip);
}

/** Notes that everything of a player was removed; false when that was noted before, or it was agreed anew. */
export async function markRecalled(
  { db, t }: Tx,
  { accountId, externalId }: Player,
  now: number,
): Promise<boolean> {
  const c = t.playerConsents;
  const marked = await db
    .update(c)
    .set({ recalledAt: now })
    .where(
      and(eq(c.accountId, accountId), eq(c.externalId, externalId), lte(c.endsAt, now), isNull(c.recalledAt)),
    )
    .returning({ externalId: c.externalId });
  return marked.length > 0;
}
