import { Refusal } from "../../core/errors.ts";
import { formatSigningSecret, SIGNING_SECRET_BYTES } from "../../core/render-address.ts";
import { type ApiKey, setSigningSecret } from "../../store/people/keys.ts";
import type { AppContext } from "../context.ts";
import { type Actor, logAction } from "../operations/activity.ts";
import { keyLabel } from "./manage-account.ts";

type Context = Pick<AppContext, "store" | "clock" | "random" | "secrets">;

/**
 * Gives a key a signing secret in the place of the one it has: addresses signed with that one are refused
 * from now on. The result is the only place the secret ever appears. Throws KEY_NOT_FOUND.
 */
export async function makeSigningSecret(
  context: Context,
  input: { id: string; by?: Actor },
): Promise<{ secret: string; record: ApiKey }> {
  const secret = formatSigningSecret(context.random.bytes(SIGNING_SECRET_BYTES));
  const sealed = context.secrets.seal(secret, input.id);
  return { secret, record: await change(context, input, sealed, "made") };
}

/** Takes a key's signing secret away: addresses signed with it are refused from now on. */
export function removeSigningSecret(context: Context, input: { id: string; by?: Actor }): Promise<ApiKey> {
  return change(context, input, null, "removed");
}

function change(
  { store, clock, random }: Context,
  { id, by = null }: { id: string; by?: Actor },
  sealed: string | null,
  what: string,
): Promise<ApiKey> {
  return store.write("change signing secret", async (tx) => {
    const key = await setSigningSecret(tx, id, sealed);
    if (!key) throw new Refusal("KEY_NOT_FOUND", `There is no key ${id} in force.`);
    const subject = `${keyLabel(key)}: ${what}`;
    const action = "key.signing_secret" as const;
    await logAction(tx, { by, accountId: key.accountId, action, subject }, { now: clock.now(), random });
    return key;
  });
}
