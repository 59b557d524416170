import { OperatorError } from "../core/errors.ts";
import type { Ask } from "../core/ports.ts";

/**
 * Throws an OperatorError where the secrets in this database are sealed with another key than this machine's: it could read
 * none of them, and what it seals no other machine could. The first key that comes is the database's. `file` is for the text.
 */
export async function refuseOtherSealingKey(
  ask: Ask,
  { keyId, file }: { keyId: string; file: string },
): Promise<void> {
  await ask("INSERT INTO sealing_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING", [keyId]);
  const [row] = await ask("SELECT key_id FROM sealing_key", []);
  if (row?.key_id === keyId) return;
  throw new OperatorError(
    `The secrets in the database at CARDPRESS_DATABASE_URL are sealed with another key (${row?.key_id}) than the one at CARDPRESS_SECRET_KEY_FILE (${file}: ${keyId}). Give this machine the same key as the others, or restore it. If it is lost for good, empty the table sealing_key, start with the new key, and give each webhook endpoint a new secret with "cardpress webhook rotate".`,
  );
}
