import { Command } from "commander";
import { creditsOf } from "../app/credits/credits.ts";
import { budgetState, changeBudget } from "../app/credits/usage-alerts.ts";
import {
  accountNotFound,
  createAccount,
  renameAccount,
  resumeAccount,
  suspendAccount,
} from "../app/people/manage-account.ts";
import { changeRetention } from "../app/people/manage-retention.ts";
import { TIERS } from "../core/account.ts";
import { Refusal } from "../core/errors.ts";
import { MAX_CREDITS, MAX_RETENTION_DAYS, MAX_USAGE_ALERT_PERCENT } from "../core/limits.ts";
import { isoTime, isoTimeOrNull, monthOf } from "../core/time.ts";
import { USUAL_ALERTS } from "../core/usage-budget.ts";
import type { Workspace } from "../service/workspace.ts";
import { type Account, findAccount, listAccounts } from "../store/people/accounts.ts";
import { oneOf, wholeNumber } from "./arguments.ts";
import { calledAs, printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function accountCommands(): Command {
  const account = new Command("account").description(
    "create, list, rename, suspend and resume partner accounts, say how long they keep what is theirs, and at which usage they are alerted",
  );
  account
    .command("create")
    .description("create an account with a tier and a monthly plan")
    .requiredOption("--name <name>", "the partner's name")
    .requiredOption("--tier <tier>", TIERS.join(", "), oneOf(TIERS))
    .requiredOption("--credits <n>", "plan credits a month", wholeNumber(0, MAX_CREDITS))
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const made = await createAccount(workspace, options);
        printResult(options.json, await view(workspace, made), () => {
          const next = `${calledAs()} key create --account ${made.id} --environment live`;
          return `Account ${made.id} (${made.name}, ${made.tier}, ${made.creditLimit} credits a month).\nNext: ${next}`;
        });
      }),
    );
  account
    .command("list")
    .description("list all accounts")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const accounts = await listAccounts(workspace.store.read);
        const rows = await Promise.all(accounts.map((account) => view(workspace, account)));
        printResult(
          options.json,
          rows,
          () => table(rows) || 'No accounts yet. Create one with "cardpress account create --help".',
        );
      }),
    );
  account.addCommand(renameCommand());
  account.addCommand(retentionCommand());
  account.addCommand(alertsCommand());
  account
    .command("suspend")
    .description("refuse the account's requests from the next one on")
    .requiredOption("--account <id>", "the account")
    .option("--reason <text>", "why; the partner reads it too")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const changed = await suspendAccount(workspace, options.account, options.reason ?? null);
        printResult(
          options.json,
          await view(workspace, changed),
          () => `Account ${changed.id} is suspended.`,
        );
      }),
    );
  account.addCommand(resumeCommand());
  return account;
}

function renameCommand(): Command {
  return new Command("rename")
    .description("give an account another name; its keys and credits stay")
    .requiredOption("--account <id>", "the account")
    .requiredOption("--name <name>", "the new name")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const changed = await renameAccount(workspace, options.account, { name: options.name });
        printResult(
          options.json,
          await view(workspace, changed),
          () => `Account ${changed.id} is ${changed.name} now.`,
        );
      }),
    );
}

/**
 * A parser for a number from 1, or for the word that stands for none: it stays as it is, since null would be
 * "" here.
 */
function numberOr(word: string, max: number): (text: string) => number | string {
  return (text) => (text === word ? text : wholeNumber(1, max)(text));
}

/** What an option of numberOr asks for; what is stored, when it was not given. */
function chosen(option: number | string | undefined, stored: number | null): number | null {
  if (option === undefined) return stored;
  return typeof option === "number" ? option : null;
}

function retentionCommand(): Command {
  return new Command("retention")
    .description("set how long an account's pictures are served, and when everything personal goes by itself")
    .requiredOption("--account <id>", "the account")
    .option(
      "--pictures <days>",
      '"default" is what the service is set to',
      numberOr("default", MAX_RETENTION_DAYS),
    )
    .option(
      "--forget-after <days>",
      'days after a card\'s end; "never" is until asked',
      numberOr("never", MAX_RETENTION_DAYS),
    )
    .option("--json", "print JSON")
    .action(({ account: id, pictures, forgetAfter, json }) =>
      withWorkspace(async (workspace) => {
        const account = await findAccount(workspace.store.read, id);
        if (!account) throw accountNotFound(id);
        const retention = {
          retentionDays: chosen(pictures, account.retentionDays),
          forgetAfterDays: chosen(forgetAfter, account.forgetAfterDays),
        };
        if (pictures !== undefined || forgetAfter !== undefined)
          await changeRetention(workspace, account.id, retention, null);
        const shown = {
          account_id: account.id,
          retention_days: retention.retentionDays ?? workspace.config.retentionDays,
          forget_after_days: retention.forgetAfterDays,
        };
        printResult(
          json,
          shown,
          () =>
            `Account ${account.id}: pictures are served for ${shown.retention_days} days; everything personal goes ${
              shown.forget_after_days === null
                ? "when it is asked for"
                : `after ${shown.forget_after_days} days`
            }.`,
        );
      }),
    );
}

function alertsCommand(): Command {
  return new Command("alerts")
    .description("alert an account's owners as they use up a monthly budget of credits; it stops nothing")
    .requiredOption("--account <id>", "the account")
    .option("--budget <credits>", 'credits a month; "none" for no budget', numberOr("none", MAX_CREDITS))
    .option(
      "--at <percents>",
      `percent of it at which they are alerted; ${USUAL_ALERTS} when not given`,
      percents,
    )
    .option("--json", "print JSON")
    .action(({ account: id, budget, at, json }) =>
      withWorkspace(async (workspace) => {
        const { store, clock } = workspace;
        let account = await findAccount(store.read, id);
        if (!account) throw accountNotFound(id);
        if (budget !== undefined || at !== undefined) {
          const credits = chosen(budget, account.usageBudget);
          if (at !== undefined && credits === null)
            throw new Refusal("INVALID_REQUEST", "Give --budget too: --at is in percent of it.");
          const alerts = at ?? account.usageAlerts ?? USUAL_ALERTS;
          account = await changeBudget(
            workspace,
            id,
            credits === null ? undefined : { credits, alerts },
            null,
          );
        }
        const state = await budgetState(store.read, account, clock.now());
        const shown = {
          account_id: id,
          period: monthOf(clock.now()),
          budget: state?.credits ?? null,
          credits_used: state?.used ?? null,
          alerts: (state?.marks ?? []).map(({ percent, due, raisedAt }) => ({
            percent,
            credits: due,
            told_at: isoTimeOrNull(raisedAt),
          })),
        };
        printResult(json, shown, () =>
          state
            ? `Account ${id}: ${state.used} of ${state.credits} credits used in ${state.period}.\n${table(shown.alerts)}`
            : `Account ${id} has no budget: its owners get no usage alerts.`,
        );
      }),
    );
}

function percents(text: string): number[] {
  return text.split(",").map((percent) => wholeNumber(1, MAX_USAGE_ALERT_PERCENT)(percent.trim()));
}

function resumeCommand(): Command {
  return new Command("resume")
    .description("let a suspended account work again")
    .requiredOption("--account <id>", "the account")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const changed = await resumeAccount(workspace, options.account);
        printResult(
          options.json,
          await view(workspace, changed),
          () => `Account ${changed.id} is active again.`,
        );
      }),
    );
}

async function view({ store, clock }: Workspace, account: Account) {
  const { limit, left, held } = await creditsOf(store.read, account, clock.now());
  return {
    account_id: account.id,
    name: account.name,
    tier: account.tier,
    status: account.status,
    credit_limit: limit,
    credits_remaining: left,
    credits_held: held,
    created_at: isoTime(account.createdAt),
  };
}
