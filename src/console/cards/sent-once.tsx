/** @jsxImportSource preact */
import type { CreateCommand } from "../../app/images/accept-image.ts";
import type { Environment } from "../../core/account.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import { sha256 } from "../../core/sha256.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { findRecord } from "../../store/images/idempotency.ts";
import { field, type MemberVisit } from "../visit.ts";

// A form that makes a card makes one, however often it is sent: by a double click, or by a browser that sends
// it anew. The form as it is drawn next, or with something else in it, makes another.

const NONCE = "nonce";

/** Identifies one drawing of a form. `renews`: for a page that shows the form already. */
export function Nonce({ visit, renews = false }: { visit: MemberVisit; renews?: boolean }) {
  const swap = renews ? { "hx-swap-oob": "true" } : {};
  return <input type="hidden" id={NONCE} name={NONCE} value={visit.deps.random.id("form")} {...swap} />;
}

/** Each `part` of a form that makes several cards has a key of its own. */
function keyOf(visit: MemberVisit, part = ""): string {
  const { deps, form, file } = visit;
  if (field(visit, NONCE) === "") return `console-${deps.random.id("idem")}`;
  const photo = file && sha256(file.bytes);
  return `console-${fingerprintOf({ form: [...form], photo: photo ?? "" })}${part}`;
}

/** The id of the card that this form made when it was sent before. */
export async function madeBefore(
  visit: MemberVisit,
  environment: Environment,
  part: string,
): Promise<string | undefined> {
  const scope = { accountId: visit.account.id, environment, key: keyOf(visit, part) };
  return (await findRecord(visit.deps.store.read, scope))?.imageId;
}

/**
 * Makes the card of a form and returns its id; that of the first time where the form was sent before. Throws
 * what POST /v1/images refuses.
 */
export async function acceptOnce(
  visit: MemberVisit,
  card: Pick<CreateCommand, "environment" | "request" | "replaces" | "shows">,
  part?: string,
): Promise<string> {
  const { deps, account } = visit;
  const idempotencyKey = keyOf(visit, part);
  try {
    const { answer } = await deps.accept({ account, idempotencyKey, ...card });
    return answer.image_id;
  } catch (error) {
    if (!isPartnerRefusal(error) || error.code !== "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD")
      throw error;
    // The same form and the same photo, which was kept once more, at another address.
    const scope = { accountId: account.id, environment: card.environment, key: idempotencyKey };
    const before = await findRecord(deps.store.read, scope);
    if (!before) throw error;
    return before.imageId;
  }
}
