import { and, desc, eq, sql } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { ListPosition } from "../core/list-position.ts";
import type { Tx } from "./store.ts";

export type AuditEntry = Tables["auditEntries"]["$inferSelect"];

export async function insertAudit({ db, t }: Tx, entry: AuditEntry): Promise<void> {
  await db.insert(t.auditEntries).values(entry);
}

export interface AuditRow {
  entry: AuditEntry;
  /** Who did it; null: the command line. */
  email: string | null;
  /** 1 when whoever did it is an operator now. */
  isOperator: number | null;
  accountName: string | null;
}

/** Newest first. */
export async function listAudit(
  { db, t }: Tx,
  query: { accountId?: string | undefined; after?: ListPosition | undefined; limit: number },
): Promise<AuditRow[]> {
  const a = t.auditEntries;
  const { accountId, after, limit } = query;
  return db
    .select({ entry: a, email: t.users.email, isOperator: t.users.isOperator, accountName: t.accounts.name })
    .from(a)
    .leftJoin(t.users, eq(t.users.id, a.userId))
    .leftJoin(t.accounts, eq(t.accounts.id, a.accountId))
    .where(
      and(
        accountId === undefined ? undefined : eq(a.accountId, accountId),
        after ? sql`(${a.createdAt}, ${a.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(a.createdAt), desc(a.id))
    .limit(limit);
}
