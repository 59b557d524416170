import { sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { MEMBER_ROLES } from "../src/core/account.ts";
import { MAIL_KINDS, MAIL_STATES } from "../src/core/mail.ts";
import type { Kit } from "./kit.ts";

/** Who uses the console, how they sign in, and what they did; part of the tables of schema.ts. */
export function peopleTables(kit: Kit, accounts: { id: AnySQLiteColumn }) {
  const { table, text, oneOf, int, index, uniqueIndex, primaryKey, check } = kit;

  /** A person who signs in to the console. Operators run the service; members work for accounts. */
  const users = table(
    "users",
    {
      id: text("id").primaryKey(),
      /** Lower-case. */
      email: text("email").notNull(),
      /** Argon2id in PHC format; null until the person has used a setup link. */
      passwordHash: text("password_hash"),
      /** 1 or 0. */
      isOperator: int("is_operator").notNull(),
      /** 1: an operator only as long as the provider's groups say so. */
      operatorByGroups: int("operator_by_groups").notNull().default(0),
      /**
       * 1: the password was set through a link issued by an operator or the command line. 0: through one
       * issued by an account's owner, who may have kept it, so the person who signs in is not necessarily
       * the owner of this email address.
       */
      isVouched: int("is_vouched").notNull().default(0),
      createdAt: int("created_at").notNull(),
      lastSignInAt: int("last_sign_in_at"),
      /** The release whose changes this person has seen; null for those who came before that was kept. */
      seenVersion: text("seen_version"),
    },
    (t) => [
      uniqueIndex("users_email").on(t.email),
      index("users_operators").on(t.createdAt).where(sql`${t.isOperator} = 1`),
    ],
  );

  const memberships = table(
    "memberships",
    {
      userId: text("user_id")
        .notNull()
        .references(() => users.id),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      /** What counts: the higher one of both below. */
      role: oneOf("role", MEMBER_ROLES).notNull(),
      /** What the provider's groups gave at the last sign-in; null: the role was given by hand. */
      groupRole: oneOf("group_role", MEMBER_ROLES),
      /** Beside `groupRole`: the role given by hand, which stays when the groups are gone; null: none. */
      handRole: oneOf("hand_role", MEMBER_ROLES),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.userId, t.accountId] }),
      index("memberships_account").on(t.accountId, t.createdAt),
    ],
  );

  /** One-time links to set a password. `userId` is null for the link that creates the first operator. */
  const setupLinks = table(
    "setup_links",
    {
      /** SHA-256 of the token in the link, as lower-case hex. */
      tokenHash: text("token_hash").primaryKey(),
      userId: text("user_id").references(() => users.id),
      /** 1 when issued by an operator or the command line; becomes the user's `isVouched` when used. */
      isVouched: int("is_vouched").notNull().default(0),
      createdAt: int("created_at").notNull(),
      expiresAt: int("expires_at").notNull(),
      usedAt: int("used_at"),
    },
    (t) => [index("setup_links_user").on(t.userId), index("setup_links_expiry").on(t.expiresAt)],
  );

  /** Ways to sign in without a password (WebAuthn credentials). */
  const passkeys = table(
    "passkeys",
    {
      id: text("id").primaryKey(),
      userId: text("user_id")
        .notNull()
        .references(() => users.id),
      /** As the authenticator names it, in base64url; the public key is base64url too. */
      credentialId: text("credential_id").notNull(),
      publicKey: text("public_key").notNull(),
      /** Signatures made so far, if the authenticator counts them. */
      counter: int("counter").notNull(),
      name: text("name").notNull(),
      createdAt: int("created_at").notNull(),
      lastUsedAt: int("last_used_at"),
    },
    (t) => [uniqueIndex("passkeys_credential").on(t.credentialId), index("passkeys_user").on(t.userId)],
  );

  /** Who somebody is at an OpenID provider. The subject identifies them; the email is for people to read. */
  const identities = table(
    "identities",
    {
      id: text("id").primaryKey(),
      userId: text("user_id")
        .notNull()
        .references(() => users.id),
      issuer: text("issuer").notNull(),
      subject: text("subject").notNull(),
      /** As the provider said at the last sign-in. */
      email: text("email"),
      createdAt: int("created_at").notNull(),
      lastUsedAt: int("last_used_at").notNull(),
    },
    (t) => [uniqueIndex("identities_subject").on(t.issuer, t.subject), index("identities_user").on(t.userId)],
  );

  const sessions = table(
    "sessions",
    {
      id: text("id").primaryKey(),
      /** SHA-256 of the cookie's token, as lower-case hex. */
      tokenHash: text("token_hash").notNull(),
      userId: text("user_id")
        .notNull()
        .references(() => users.id),
      csrfToken: text("csrf_token").notNull(),
      /** The account whose console is open; for an operator who is not a member, a read-only visit. */
      accountId: text("account_id").references(() => accounts.id),
      /** The identity by which it began; null: with a password or a passkey. */
      identityId: text("identity_id"),
      createdAt: int("created_at").notNull(),
      lastSeenAt: int("last_seen_at").notNull(),
      /** The absolute end of the session, even if it is in use. */
      expiresAt: int("expires_at").notNull(),
    },
    (t) => [
      uniqueIndex("sessions_token").on(t.tokenHash),
      index("sessions_user").on(t.userId),
      index("sessions_expiry").on(t.expiresAt),
    ],
  );

  /** Who did what. Written in the transaction that does it; never changed. */
  const auditEntries = table(
    "audit_entries",
    {
      id: text("id").primaryKey(),
      /** Null for the command line. */
      userId: text("user_id").references(() => users.id),
      accountId: text("account_id").references(() => accounts.id),
      /** Such as "key.created". */
      action: text("action").notNull(),
      /** What was acted on: an id, an email, an amount, in words an operator understands. */
      subject: text("subject").notNull(),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      index("audit_time").on(t.createdAt, t.id),
      index("audit_account").on(t.accountId, t.createdAt, t.id),
    ],
  );

  /** Mails to people; this table is the queue. Written in the transaction that gives rise to the mail. */
  const mails = table(
    "mails",
    {
      id: text("id").primaryKey(),
      /** The reason for the mail, unique per person: a second insert leaves one mail. */
      occasion: text("occasion").notNull(),
      kind: oneOf("kind", MAIL_KINDS).notNull(),
      recipient: text("recipient").notNull(),
      subject: text("subject").notNull(),
      /** Sealed, since it may contain a link that sets a password; empty once sent or given up. */
      body: text("body").notNull(),
      state: oneOf("state", MAIL_STATES).notNull(),
      attempts: int("attempts").notNull(),
      nextAttemptAt: int("next_attempt_at"),
      lastError: text("last_error"),
      createdAt: int("created_at").notNull(),
      endedAt: int("ended_at"),
    },
    (t) => [
      uniqueIndex("mails_once").on(t.occasion, t.recipient),
      index("mails_queue").on(t.nextAttemptAt).where(sql`${t.state} = 'pending'`),
      index("mails_age").on(t.createdAt, t.id),
      check("mails_next", sql`(${t.state} = 'pending') = (${t.nextAttemptAt} is not null)`),
    ],
  );

  return { users, memberships, setupLinks, passkeys, identities, sessions, auditEntries, mails };
}
