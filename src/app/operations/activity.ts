import { type ActivityEntry, insertActivity } from "../../store/people/activity.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";

/** Every action the audit log distinguishes. */
export type AuditAction =
  | "account.alerts_changed"
  | "account.created"
  | "account.deletion_changed"
  | "account.plan_changed"
  | "account.renamed"
  | "account.retention_changed"
  | "bucket.set"
  | "bucket.removed"
  | "bucket.sent_again"
  | "batch.created"
  | "batch.canceled"
  | "kit.saved"
  | "kit.deleted"
  | "set.created"
  | "set.deleted"
  | "set.gallery_opened"
  | "set.gallery_withdrawn"
  | "image.deleted"
  | "image.publication_changed"
  | "player.consent"
  | "player.recalled"
  | "player.deleted"
  | "account.suspended"
  | "account.resumed"
  | "account.viewed"
  | "credits.granted"
  | "key.created"
  | "key.regenerated"
  | "key.revoked"
  | "key.signing_secret"
  | "member.added"
  | "member.role_changed"
  | "member.removed"
  | "operator.added"
  | "operator.removed"
  | "user.setup_link"
  | "user.password_set"
  | "user.sign_in_ended"
  | "user.signed_in"
  | "user.sign_in_refused"
  | "user.provider_connected"
  | "user.provider_disconnected"
  | "user.signed_out_elsewhere"
  | "webhook.created"
  | "webhook.changed"
  | "webhook.enabled"
  | "webhook.recovered"
  | "webhook.removed"
  | "webhook.secret_rotated"
  | "webhook.old_secret_revoked"
  | "passkey.added"
  | "passkey.removed"
  | "status.posted"
  | "status.resolved"
  | "template.published"
  | "template.unlisted";

/** The actor: a user's id, or null for the command line. */
export type Actor = string | null;

/** Writes one line of the audit log, in the same transaction as the action itself. */
export function logAction(
  tx: Tx,
  what: { by: Actor; accountId: string | null; action: AuditAction; subject: string },
  { now, random }: Moment,
): Promise<void> {
  const { by, accountId, action, subject } = what;
  const entry: ActivityEntry = {
    id: random.id("aud"),
    userId: by,
    accountId,
    action,
    subject,
    createdAt: now,
  };
  return insertActivity(tx, entry);
}
