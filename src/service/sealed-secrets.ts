import { unreadableBuckets } from "../app/exports/manage-bucket.ts";
import { unreadableEndpoints } from "../app/webhooks/manage-webhooks.ts";
import { counted } from "../core/counted.ts";
import { OperatorError } from "../core/errors.ts";
import { sealedBy } from "../core/secret-box.ts";
import { sealedBucketSecrets } from "../store/exports/exports.ts";
import { sealedSecrets } from "../store/webhooks/webhooks.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Throws an OperatorError when the database has secrets and none of them was sealed with the key that is
 * there: no webhook could be signed and no account's bucket used, and what is sealed from now on would be
 * lost once the right key is back. Where the key has sealed only some, somebody has gone on with it on
 * purpose.
 */
export async function refuseWrongSecretKey(workspace: Workspace): Promise<void> {
  const { config, folder, secrets, store } = workspace;
  const ofEndpoints = await sealedSecrets(store.read);
  const ofBuckets = await sealedBucketSecrets(store.read);
  const keys = [...ofEndpoints, ...ofBuckets.map(({ secretAccessKey }) => secretAccessKey)].map(sealedBy);
  if (keys.length === 0 || keys.includes(secrets.keyId)) return;
  const file = config.cluster?.secretKeyFile ?? folder.secretKey;
  throw new OperatorError(
    `The key in ${file} (${secrets.keyId}) is not the one that the secrets in the database are sealed with (${[...new Set(keys)].join(", ")}): no webhook could be signed, and no account's own bucket used. Put the key back in its place, from a backup of the data folder or from wherever you keep its copy, and start again. If it is lost for good, so are the secrets of ${counted(ofEndpoints.length, "webhook endpoint")} and ${counted(ofBuckets.length, "bucket")}, and mails not sent yet: give each endpoint a new secret with "cardpress webhook rotate" and tell its owner, write each bucket's secret with "cardpress bucket set", and start again.`,
  );
}

/** Reports endpoints that cannot be signed for and buckets that cannot be used, beside others that can. */
export async function warnUnreadableSecrets(workspace: Workspace): Promise<void> {
  const endpoints = await unreadableEndpoints(workspace);
  const accounts = await unreadableBuckets(workspace);
  const putBack = "Put the secret.key back that belongs to this data folder, or";
  if (endpoints.length > 0)
    workspace.log.error("webhook_secrets_unreadable", {
      endpoints,
      remedy: `${putBack} give each endpoint a new secret with "cardpress webhook rotate".`,
    });
  if (accounts.length > 0)
    workspace.log.error("bucket_secrets_unreadable", {
      accounts,
      remedy: `${putBack} set each account's bucket again with "cardpress bucket set".`,
    });
}
