import { Command } from "commander";
import { creditsOf } from "../app/credits/credits.ts";
import { createAccount, renameAccount, resumeAccount, suspendAccount } from "../app/people/manage-account.ts";
import { TIERS } from "../core/account.ts";
import { MAX_CREDITS } from "../core/limits.ts";
import { isoTime } from "../core/time.ts";
import type { Workspace } from "../service/workspace.ts";
import { type Account, listAccounts } from "../store/accounts.ts";
import { oneOf, wholeNumber } from "./arguments.ts";
import { printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function accountCommands(): Command {
  const account = new Command("account").description(
    "create, list, rename, suspend and resume partner accounts",
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
          const next = `cardpress key create --account ${made.id} --environment live`;
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
