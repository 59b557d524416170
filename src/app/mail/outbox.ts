import { MAIL_LEASE_MS, MAIL_RETRY_MS } from "../../core/limits.ts";
import type { MailKind, MailText } from "../../core/mail.ts";
import { claimMail, endAttempt, hasDueMail, insertMail, type Mail } from "../../store/people/mails.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";

/** Recipient and occasion. Each person gets one mail per occasion, however often it is written. */
export interface NewMail {
  kind: MailKind;
  occasion: string;
  recipient: string;
  text: MailText;
}

type Context = Pick<AppContext, "store" | "clock" | "random" | "config" | "secrets" | "log">;

/**
 * Adds a mail to the outbox, in the transaction that makes it true. Does nothing when mail is not configured.
 */
export async function writeMail(
  tx: Tx,
  { config, clock, random, secrets }: Pick<Context, "config" | "clock" | "random" | "secrets">,
  { kind, occasion, recipient, text }: NewMail,
): Promise<boolean> {
  if (!config.mail) return false;
  const id = random.id("mail");
  const now = clock.now();
  return insertMail(tx, {
    id,
    occasion,
    kind,
    recipient,
    subject: text.subject,
    body: secrets.seal(text.body, id),
    state: "pending",
    attempts: 0,
    nextAttemptAt: now,
    lastError: null,
    createdAt: now,
    endedAt: null,
  });
}

/**
 * The outgoing transport. `refused`: the server will never accept this mail; anything thrown may be
 * temporary.
 */
export interface MailTransport {
  send(mail: { id: string; to: string; text: MailText }): Promise<"sent" | { refused: string }>;
  close(): void;
}

/** Mails per run; the rest follow in the next. */
const BATCH = 20;

/**
 * Sends due mails one by one. A mail is sent again when the process dies between the server's acceptance and
 * our record of it, MAIL_LEASE_MS later; it then has the same Message-ID, by which mailboxes show it once.
 * Returns how many were attempted.
 */
export async function sendDueMails(context: Context, transport: MailTransport): Promise<number> {
  const { store, clock } = context;
  const began = clock.now();
  let attempted = 0;
  while (attempted < BATCH && (await hasDueMail(store.read, began))) {
    const mail = await store.write(
      "claim mail",
      (tx) => claimMail(tx, { now: began, leaseExpiresAt: clock.now() + MAIL_LEASE_MS }),
      { concurrent: true },
    );
    // Another machine was faster.
    if (!mail) break;
    await sendOne(context, transport, mail);
    attempted += 1;
  }
  return attempted;
}

async function sendOne(context: Context, transport: MailTransport, mail: Mail): Promise<void> {
  const { store, clock, log, secrets } = context;
  const fields = { mailId: mail.id, kind: mail.kind };
  let end: Parameters<typeof endAttempt>[2];
  try {
    const text = { subject: mail.subject, body: secrets.open(mail.body, mail.id) };
    const answer = await transport.send({ id: mail.id, to: mail.recipient, text });
    if (answer === "sent") end = { state: "sent", error: null, now: clock.now() };
    else end = { state: "failed", error: answer.refused, now: clock.now() };
  } catch (error) {
    const pauseMs = MAIL_RETRY_MS[mail.attempts];
    const reason = (error as Error).message;
    end =
      pauseMs === undefined
        ? { state: "failed", error: reason, now: clock.now() }
        : { retryAt: clock.now() + pauseMs, error: reason };
  }
  await store.write("end mail attempt", (tx) => endAttempt(tx, mail, end), { concurrent: true });
  if ("retryAt" in end)
    log.warn("mail_delayed", { ...fields, attempts: mail.attempts + 1, error: end.error });
  else if (end.state === "failed") log.error("mail_failed", { ...fields, error: end.error });
  else log.info("mail_sent", fields);
}
