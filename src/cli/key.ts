import { Command, InvalidArgumentError } from "commander";
import { createKey, requireAccount, revokeKey } from "../app/people/manage-account.ts";
import { makeSigningSecret, removeSigningSecret } from "../app/people/manage-signing.ts";
import { ENVIRONMENTS } from "../core/account.ts";
import { KEY_SCOPES, type KeyScope } from "../core/key-rules.ts";
import { isoTime, isoTimeOrNull, parseTime } from "../core/time.ts";
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
    .option(
      "--scope <scopes>",
      `what it may do: a comma list of ${KEY_SCOPES.join(", ")}; everything without`,
      scopes,
    )
    .option("--expires <time>", "when it ends, such as 2027-06-30T00:00:00Z; never without", moment)
    .option("--address <addresses>", "a comma list of addresses and networks it may be used from", commaList)
    .option("--json", "print JSON")
    .action(({ account: accountId, scope, expires, address, ...options }) =>
      withWorkspace(async (workspace) => {
        const rules = { scopes: scope ?? null, expiresAt: expires ?? null, addresses: address ?? null };
        const { key: text, record } = await createKey(workspace, {
          ...options,
          ...rules,
          accountId,
          by: null,
        });
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
        const revoked = await revokeKey(workspace, options.key);
        printResult(options.json, view(revoked), () => `Key ${revoked.id} (...${revoked.last4}) is revoked.`);
      }),
    );
  key.addCommand(signingSecretCommand());
  return key;
}

function signingSecretCommand(): Command {
  return new Command("signing-secret")
    .description(
      "make the secret that signs addresses of on-demand pictures, in the place of the one there is",
    )
    .requiredOption("--key <id>", "the key's id, key_...")
    .option("--remove", "take it away instead: addresses signed with it are refused")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        if (options.remove) {
          const record = await removeSigningSecret(workspace, { id: options.key });
          printResult(options.json, view(record), () => `Key ${record.id} signs no addresses any more.`);
          return;
        }
        const { secret, record } = await makeSigningSecret(workspace, { id: options.key });
        printResult(
          options.json,
          { key_id: record.id, signing_secret: secret },
          () => `${secret}\nKeep it now: it cannot be shown again. Addresses name its key as ${record.id}.`,
        );
      }),
    );
}

const commaList = (text: string) => text.split(",").map((one) => one.trim());

function scopes(text: string): KeyScope[] {
  return commaList(text).map(oneOf(KEY_SCOPES));
}

function moment(text: string): number {
  const time = parseTime(text);
  if (time === null) throw new InvalidArgumentError("It must be a time such as 2027-06-30T00:00:00Z.");
  return time;
}

function view(key: ApiKey) {
  return {
    key_id: key.id,
    environment: key.environment,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    scopes: key.scopes,
    expires_at: isoTimeOrNull(key.expiresAt),
    addresses: key.addresses,
    signs_addresses: key.signingSecret !== null,
  };
}
