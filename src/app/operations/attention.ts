import { ENDPOINT_FAILING_MAIL_MS } from "../../core/limits.ts";
import { credits } from "../../core/mail.ts";
import { DAY_MS, monthOf } from "../../core/time.ts";
import {
  accountsOverBudget,
  accountsRunningLow,
  endpointsInTrouble,
} from "../../store/overviews/attention.ts";
import type { Account } from "../../store/people/accounts.ts";
import { accountNames } from "../../store/people/accounts.ts";
import { countMails } from "../../store/people/mails.ts";
import type { WebhookEndpoint } from "../../store/webhooks/webhooks.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { freeBytes, inUnits } from "../../system/disk-space.ts";
import type { AppContext } from "../context.ts";
import { LOW_PART } from "../credits/credit-warning.ts";
import { creditsAvailable } from "../credits/credits.ts";
import { checkBackups } from "./backup/check-backups.ts";

/** These lists are for people: more entries than this are one big problem. */
const MAX_TROUBLES = 50;
/** At this multiple of the minimum free space there is still time to act. */
const EARLY = 8;

export interface Troubles {
  /** Accounts whose credits are low or used up. */
  low: { account: Account; left: number }[];
  /** Accounts that have used up their month's budget, and the credits they used. */
  over: { account: Account; used: number }[];
  endpoints: { endpoint: WebhookEndpoint; accountName: string }[];
  /** In words, about the disk, backups and mails. */
  machine: string[];
}

export interface AttentionDeps extends AppContext {
  folder: DataFolder;
}

/** What needs an operator now: shown on the overview, and mailed in the daily digest. */
export async function troubles(deps: AttentionDeps): Promise<Troubles> {
  const { store, clock } = deps;
  const now = clock.now();
  const [low, over, endpoints, machine] = await Promise.all([
    accountsRunningLow(store.read, LOW_PART, MAX_TROUBLES),
    accountsOverBudget(store.read, monthOf(now), MAX_TROUBLES),
    endpointsInTrouble(store.read, {
      failingSince: now - ENDPOINT_FAILING_MAIL_MS,
      disabledSince: now - 7 * DAY_MS,
      limit: MAX_TROUBLES,
    }),
    machineTroubles(deps, now),
  ]);
  const names = await accountNames(
    store.read,
    endpoints.map(({ accountId }) => accountId),
  );
  return {
    low: low.map((account) => ({ account, left: creditsAvailable(account, now) })),
    over,
    endpoints: endpoints.map((endpoint) => ({
      endpoint,
      accountName: names.get(endpoint.accountId) ?? endpoint.accountId,
    })),
    machine,
  };
}

async function machineTroubles({ config, folder, store }: AttentionDeps, now: number): Promise<string[]> {
  const [free, backups, mails] = await Promise.all([
    freeBytes(folder.root).catch(() => undefined),
    checkBackups(config, folder, now),
    countMails(store.read),
  ]);
  return [
    ...(free !== undefined && free < EARLY * config.minFreeDiskBytes
      ? [
          `Only ${inUnits(free)} of disk are free: creates are refused below ${inUnits(config.minFreeDiskBytes)}.`,
        ]
      : []),
    ...(backups.status === "warning" ? [`Backups: ${backups.message}`] : []),
    ...(mails.failed > 0 ? [`${mails.failed} mails could not be sent: the log's mail_failed says why.`] : []),
  ];
}

/** One line per problem, for a mail. */
export function inWords({ low, over, endpoints, machine }: Troubles): string[] {
  return [
    ...machine,
    ...low.map(({ account, left }) =>
      left === 0 ? `${account.name} has no credits left.` : `${account.name} has ${credits(left)} left.`,
    ),
    ...over.map(
      ({ account, used }) =>
        `${account.name} has used ${credits(used)} of a budget of ${account.usageBudget}.`,
    ),
    ...endpoints.map(({ endpoint, accountName }) =>
      endpoint.state === "disabled"
        ? `A webhook endpoint of ${accountName} was disabled.`
        : `A webhook endpoint of ${accountName} fails.`,
    ),
  ];
}
