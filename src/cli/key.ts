import { Command } from "commander";
import { createKey, requireAccount, revokeApiKey } from "../app/people/manage-account.ts";
import { ENVIRONMENTS } from "../core/account.ts";
import { isoTime } from "../core/time.ts";
import { type ApiKey, listKeys } from "../store/people/keys.ts";
import { oneOf } from "./arguments.ts";
import { printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function keyCommands(): Command {
  const key = new Command("key").description("create, list and revoke API keys");
  key
    .command("create")
    .description("make a key; it is shown once, now")
    .requiredOption("--account <id>", "the account")
    .requiredOption("--environment <environment>", ENVIRONMENTS.join(" or "), oneOf(ENVIRONMENTS))
    .option("--name <name>", "what the key is for", "default")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const { key: text, record } = await createKey(workspace, { ...options, accountId: options.account });
        const value = { key_id: record.id, key: text, prefix: record.prefix, last4: record.last4 };
        printResult(
          options.json,
          value,
          () => `${text}\nKeep it now: it cannot be shown again. Its id is ${record.id}.`,
        );
      }),
    );
  key
    .command("list")
    .description("list an account's keys")
    .requiredOption("--account <id>", "the account")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        await requireAccount(workspace, options.account);
        const rows = (await listKeys(workspace.store.read, options.account)).map(view);
        printResult(
          options.json,
          rows,
          () => table(rows) || 'No keys. Make one with "cardpress key create --help".',
        );
      }),
    );
  key
    .command("revoke")
    .description("refuse a key from its next request on")
    .requiredOption("--key <id>", "the key's id, key_...")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const revoked = await revokeApiKey(workspace, options.key);
        printResult(options.json, view(revoked), () => `Key ${revoked.id} (...${revoked.last4}) is revoked.`);
      }),
    );
  return key;
}

function view(key: ApiKey) {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms));
  return {
    key_id: key.id,
    environment: key.environment,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    created_at: isoTime(key.createdAt),
    last_used_at: time(key.lastUsedAt),
    revoked_at: time(key.revokedAt),
  };
}
