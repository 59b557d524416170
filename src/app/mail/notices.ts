import { counted } from "../../core/counted.ts";
import { DIGEST_HOUR } from "../../core/limits.ts";
import { creditsLow, digest, endpointTrouble, type MailKind, type MailText } from "../../core/mail.ts";
import { DAY_MS, HOUR_MS, isoTime } from "../../core/time.ts";
import { latestGrant } from "../../store/credits/ledger.ts";
import { dayOf, wasWritten } from "../../store/overviews/attention.ts";
import { membersOf, operatorsWhoSignIn, ownersOf } from "../../store/people/users.ts";
import type { WebhookEndpoint } from "../../store/webhooks/webhooks.ts";
import { type AttentionDeps, inWords, type Troubles, troubles } from "../operations/attention.ts";
import { writeMail } from "./outbox.ts";

interface Notice {
  kind: MailKind;
  occasion: string;
  recipients: string[];
  text: MailText;
}

/**
 * Writes a mail for every problem not yet reported, and the digest once a day. Idempotent, and safe to run at
 * any time.
 */
export async function writeNotices(deps: AttentionDeps): Promise<void> {
  if (!deps.config.mail) return;
  const found = await troubles(deps);
  for (const { account, left } of found.low) await writeOnce(deps, () => ofCredits(deps, { account, left }));
  for (const trouble of found.endpoints) await writeOnce(deps, () => ofEndpoint(deps, trouble));
  await writeDigest(deps, found);
}

async function writeOnce(deps: AttentionDeps, make: () => Promise<Notice>): Promise<void> {
  const { kind, occasion, recipients, text } = await make();
  // An idle service takes no write lock.
  if (recipients.length === 0 || (await wasWritten(deps.store.read, occasion))) return;
  await deps.store.write(
    "write notices",
    async (tx) => {
      for (const recipient of recipients) await writeMail(tx, deps, { kind, occasion, recipient, text });
    },
    { concurrent: true },
  );
}

async function ofCredits(deps: AttentionDeps, { account, left }: Troubles["low"][number]): Promise<Notice> {
  const { read } = deps.store;
  const kind = left === 0 ? "credits_out" : "credits_low";
  // Once per grant: next month's plan and every top-up may run low again.
  const grant = (await latestGrant(read, account.id))?.id ?? account.planPeriod;
  const url = `${deps.config.baseUrl}/console/credits`;
  return {
    kind,
    occasion: `${kind}.${account.id}.${grant}`,
    recipients: await ownersOf(read, account.id),
    text: creditsLow({ account: account.name, left, limit: account.creditLimit, url }),
  };
}

async function ofEndpoint(
  deps: AttentionDeps,
  { endpoint, accountName }: Troubles["endpoints"][number],
): Promise<Notice> {
  const isDisabled = endpoint.state === "disabled";
  const since = (isDisabled ? endpoint.disabledAt : endpoint.failingSince) ?? 0;
  const kind = isDisabled ? "endpoint_disabled" : "endpoint_failing";
  const members = await membersOf(deps.store.read, endpoint.accountId);
  return {
    kind,
    occasion: `${kind}.${endpoint.id}.${since}`,
    recipients: members.map(({ user }) => user.email),
    text: endpointTrouble({
      account: accountName,
      receiver: receiverOf(endpoint),
      since: isoTime(endpoint.failingSince ?? since),
      reason: endpoint.disabledReason,
      url: `${deps.config.baseUrl}/console/webhooks/${endpoint.id}`,
    }),
  };
}

/** Only the host: receivers' URLs often contain a secret. */
function receiverOf({ url }: WebhookEndpoint): string {
  return URL.parse(url)?.host ?? "The receiver";
}

/** Yesterday in a few lines, for every operator. */
async function writeDigest(deps: AttentionDeps, found: Troubles): Promise<void> {
  const { store, clock, config } = deps;
  const now = clock.now();
  if (now % DAY_MS < DIGEST_HOUR * HOUR_MS) return;
  const day = isoTime(now - DAY_MS).slice(0, 10);
  await writeOnce(deps, async () => {
    const { completed, failed, accounts } = await dayOf(store.read, day);
    const lines = [
      `Cards made: ${completed}, for ${counted(accounts, "account")}. Images that failed, and cost nothing: ${failed}.`,
    ];
    const operators = await operatorsWhoSignIn(store.read);
    return {
      kind: "digest",
      occasion: `digest.${day}`,
      recipients: operators.map(({ email }) => email),
      text: digest({ day, lines, attention: inWords(found), url: `${config.baseUrl}/console/operator` }),
    };
  });
}
