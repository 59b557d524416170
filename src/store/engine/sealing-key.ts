import { OperatorError } from "../../core/errors.ts";
import type { RawQuery } from "../../core/ports.ts";

/**
 * Throws an OperatorError where the secrets in this database are sealed with another key than this machine's:
 * it could read none of them, and what it seals no other machine could. The key of the secrets that are there
 * is the database's, where there are none the first that comes. `file` is for the text.
 */
export async function refuseOtherSealingKey(
  rawQuery: RawQuery,
  { keyId, file }: { keyId: string; file: string },
): Promise<void> {
  await rawQuery(
    `INSERT INTO sealing_key (key_id) SELECT coalesce(
       (SELECT split_part(secret, '.', 2) FROM webhook_endpoints ORDER BY updated_at DESC, id LIMIT 1), $1)
     ON CONFLICT DO NOTHING`,
    [keyId],
  );
  const [row] = await rawQuery("SELECT key_id FROM sealing_key", []);
  if (row?.key_id === keyId) return;
  throw new OperatorError(
    `The secrets in the database at CARDPRESS_DATABASE_URL are sealed with another key (${row?.key_id}) than the one at CARDPRESS_SECRET_KEY_FILE (${file}: ${keyId}). Give this machine the same key as the others, or restore it. If it is lost for good, so is what was sealed with it: run UPDATE sealing_key SET key_id = '${keyId}' in the database, give each webhook endpoint a new secret with "cardpress webhook rotate", tell its owner, and then start.`,
  );
}
