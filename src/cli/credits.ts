import { Command } from "commander";
import { creditsAvailable } from "../app/credits/credits.ts";
import { statementPage } from "../app/credits/statement.ts";
import { grantCredits, requireAccount } from "../app/people/manage-account.ts";
import { MAX_CREDITS } from "../core/limits.ts";
import { isoTime } from "../core/time.ts";
import { wholeNumber } from "./arguments.ts";
import { printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function creditsCommands(): Command {
  const credits = new Command("credits").description("top up an account, and read its ledger");
  credits
    .command("grant")
    .description("add credits that stay until they are used")
    .requiredOption("--account <id>", "the account")
    .requiredOption("--amount <n>", "how many", wholeNumber(1, MAX_CREDITS))
    .option("--reason <text>", "why; kept in the ledger")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const input = { accountId: options.account, amount: options.amount, reason: options.reason ?? null };
        const account = await grantCredits(workspace, input);
        const left = creditsAvailable(account, Date.now());
        printResult(
          options.json,
          { account_id: account.id, granted: options.amount, credits_remaining: left },
          () => `Granted ${options.amount} credits; ${left} are available now.`,
        );
      }),
    );
  credits
    .command("ledger")
    .description("list an account's newest ledger entries, with what could be spent after each")
    .requiredOption("--account <id>", "the account")
    .option("--limit <n>", "how many entries", wholeNumber(1, 10_000), 100)
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        await requireAccount(workspace, options.account);
        const { lines } = await statementPage(workspace.store.read, {
          accountId: options.account,
          limit: options.limit,
        });
        const rows = lines.map(({ entry, amount, available, held }) => ({
          entry_id: entry.id,
          created_at: isoTime(entry.createdAt),
          kind: entry.kind,
          bucket: entry.bucket,
          amount,
          balance: available,
          reserved: held,
          period: entry.period,
          image_id: entry.imageId,
          reason: entry.reason,
        }));
        printResult(options.json, rows, () => table(rows) || "No entries.");
      }),
    );
  return credits;
}
