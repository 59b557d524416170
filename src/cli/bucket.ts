import { Command } from "commander";
import {
  type BucketStatus,
  bucketStatus,
  MAX_COUNTED_EXPORTS,
  removeBucket,
  sendAgain,
  setBucket,
  testBucket,
} from "../app/exports/manage-bucket.ts";
import { requireAccount } from "../app/people/manage-account.ts";
import { OperatorError } from "../core/errors.ts";
import { DEFAULT_KEY_PATTERN, KEY_PLACEHOLDERS } from "../core/export-key.ts";
import { isoTime, isoTimeOrNull } from "../core/time.ts";
import type { Workspace } from "../service/workspace.ts";
import { printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

/** An account's own bucket, into which its live cards are put too. */
export function bucketCommands(): Command {
  const bucket = new Command("bucket").description("put an account's finished cards into its own bucket too");
  const command = (name: string, description: string) =>
    bucket
      .command(name)
      .description(description)
      .requiredOption("--account <id>", "the account")
      .option("--json", "print JSON");
  command("set", "name the bucket, and try it")
    .requiredOption(
      "--endpoint <url>",
      "the storage's address, such as https://s3.eu-central-1.amazonaws.com",
    )
    .requiredOption("--bucket <name>", "the bucket's name")
    .requiredOption("--access-key-id <id>", "the key's public half")
    .requiredOption(
      "--secret-file <path>",
      "a file with the key's secret as its only line; - reads it from stdin",
    )
    .option("--region <region>", "the bucket's region", "us-east-1")
    .option(
      "--key-pattern <pattern>",
      `each file's name without its ending, of ${KEY_PLACEHOLDERS.map((name) => `{${name}}`).join(", ")}`,
      DEFAULT_KEY_PATTERN,
    )
    .action((options) =>
      withWorkspace(async (workspace) => {
        const { account: accountId, secretFile, json, ...input } = options;
        const own = await setBucket(
          workspace,
          { accountId },
          { ...input, secretAccessKey: await secret(secretFile) },
        );
        printTrial(json, await testBucket(workspace, accountId), `${own.bucket} is saved`);
      }),
    );
  addCareCommands(command);
  return bucket;
}

/** What is done with a bucket that is named. */
function addCareCommands(command: (name: string, description: string) => Command): void {
  command("show", "say how it fares, and which cards were given up").action((options) =>
    withWorkspace(async (workspace) => {
      const status = await bucketStatus(workspace, await known(workspace, options.account));
      const { bucket: own, waiting, failed } = status;
      printResult(options.json, shown(status), () => {
        if (!own) return 'No bucket is named. "cardpress bucket set --help" says how.';
        const more = waiting === MAX_COUNTED_EXPORTS ? " or more" : "";
        return [
          `${own.bucket} at ${own.endpoint}, as ${own.keyPattern}: ${own.lastError ?? "works"}`,
          `${waiting}${more} cards wait.`,
          ...(failed.length > 0
            ? [table(failed.map(({ imageId, error }) => ({ image_id: imageId, error })))]
            : []),
        ].join("\n");
      });
    }),
  );
  command("test", "write, read and delete a small file there").action((options) =>
    withWorkspace(async (workspace) =>
      printTrial(
        options.json,
        await testBucket(workspace, await known(workspace, options.account)),
        "A small file was written, read and deleted",
      ),
    ),
  );
  command("retry", "send again what was given up").action((options) =>
    withWorkspace(async (workspace) => {
      const cards = await sendAgain(workspace, { accountId: await known(workspace, options.account) });
      printResult(options.json, { cards }, () => `${cards} cards are sent again.`);
    }),
  );
  command("remove", "put nothing more there; what is there stays").action((options) =>
    withWorkspace(async (workspace) => {
      await removeBucket(workspace, { accountId: await known(workspace, options.account) });
      printResult(options.json, { removed: true }, () => "It is removed. What is in it stays there.");
    }),
  );
}

/** The id of an account that there is. Throws an error that says so otherwise. */
async function known(workspace: Workspace, accountId: string): Promise<string> {
  await requireAccount(workspace, accountId);
  return accountId;
}

function shown({ bucket, waiting, failed }: BucketStatus) {
  return {
    bucket: bucket
      ? {
          endpoint: bucket.endpoint,
          region: bucket.region,
          bucket: bucket.bucket,
          key_pattern: bucket.keyPattern,
          access_key_id: bucket.accessKeyId,
          failing_since: isoTimeOrNull(bucket.failingSince),
          error: bucket.lastError,
          created_at: isoTime(bucket.createdAt),
          updated_at: isoTime(bucket.updatedAt),
        }
      : null,
    waiting,
    failed: failed.map(({ imageId, keys, error, updatedAt }) => ({
      image_id: imageId,
      keys,
      error,
      failed_at: isoTime(updatedAt),
    })),
  };
}

function printTrial(json: boolean | undefined, fault: string | undefined, done: string): void {
  if (fault !== undefined) process.exitCode = 1;
  printResult(json, { works: fault === undefined, fault: fault ?? null }, () =>
    fault === undefined ? `${done}: it works.` : `It does not work: ${fault}`,
  );
}

/** Not an argument, which everybody on the machine could read. */
async function secret(path: string): Promise<string> {
  try {
    return (await (path === "-" ? Bun.stdin : Bun.file(path)).text()).trim();
  } catch (cause) {
    throw new OperatorError(`--secret-file ${path} cannot be read: ${(cause as Error).message}.`, 2, {
      cause,
    });
  }
}
