import type { Environment } from "../../core/account.ts";
import { type ErrorDetail, Refusal } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { IDEMPOTENCY_RETENTION_MS } from "../../core/limits.ts";
import { pictureGone } from "../../core/partner-refusals.ts";
import { MAX_PREFERRED_WAIT_S } from "../../core/picture-limits.ts";
import {
  MAX_REFUSED_ADDRESSES,
  MAX_RENDER_ATTEMPTS,
  REFUSED_ADDRESS_MS,
  RENDER_MEMORY_MS,
  RENDER_RETRY_MS,
} from "../../core/render-address.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";
import { findRecord, type IdempotencyScope, ON_DEMAND_KEY } from "../../store/images/idempotency.ts";
import { findImageAnswer, type ImageAnswer } from "../../store/images/image-reads.ts";
import type { Account } from "../../store/people/accounts.ts";
import type { AppContext } from "../context.ts";
import type { AcceptImage } from "./accept-image.ts";

export interface OnDemandDeps extends AppContext {
  accept: AcceptImage;
  state: ShortLivedState;
}

export interface OnDemandCommand {
  account: Account;
  environment: Environment;
  keyId: string;
  request: CreateImageRequest;
  /** Called before a card is made; throws where none may be. */
  admit: () => Promise<void>;
}

/**
 * The card that a request describes: made when it is first asked for, and found by its content afterwards,
 * however often and by whichever server it is asked for. Waits until it has ended, within limits.
 */
export type OnDemandCard = (command: OnDemandCommand) => Promise<ImageAnswer>;

/** What a photo's host, or the photo, was refused for. */
interface Refused {
  message: string;
  details: ErrorDetail[];
}

/** Builds the use case behind signed addresses. Throws what a create throws, and PICTURE_GONE. */
export function onDemandCard(deps: OnDemandDeps): OnDemandCard {
  // A caller who asks for a card that is on its way shares its end.
  const inFlight = new Map<string, Promise<ImageAnswer>>();
  const refusals = deps.state.values<Refused>("refused addresses", {
    forMs: REFUSED_ADDRESS_MS,
    maxKeys: MAX_REFUSED_ADDRESSES,
  });
  const findOrMake = async (command: OnDemandCommand, fingerprint: string, place: string) => {
    const found = await findCard(deps, command, fingerprint);
    if ("image" in found)
      return found.image.completedAt === null ? untilEnded(deps, found.image) : found.image;
    const known = await refusals.get(place);
    if (known) throw new Refusal("UNSUPPORTED_IMAGE_SOURCE", known.message, { details: known.details });
    await command.admit();
    const { admit: _, ...order } = command;
    const { answer } = await deps
      .accept({
        ...order,
        idempotencyKey: found.freeKey,
        keptMs: RENDER_MEMORY_MS,
        supersedes: found.supersedes,
      })
      .catch(async (error) => {
        if (error instanceof Refusal && error.code === "UNSUPPORTED_IMAGE_SOURCE")
          await refusals.put(place, { message: error.message, details: error.details ?? [] });
        throw error;
      });
    return untilEnded(deps, { ...scopeOf(command), id: answer.image_id });
  };
  return (command) => {
    const fingerprint = fingerprintOf(command.request);
    const place = JSON.stringify([command.account.id, command.environment, fingerprint]);
    const first = inFlight.get(place);
    if (first) return first;
    const outcome = findOrMake(command, fingerprint, place).finally(() => inFlight.delete(place));
    inFlight.set(place, outcome);
    return outcome;
  };
}

const scopeOf = ({ account, environment }: OnDemandCommand) => ({ accountId: account.id, environment });

/**
 * The record of the card with this content and number of tries. A key of a partner's own has no spaces, so
 * that it is never one of these.
 */
const recordKey = (fingerprint: string, attempt: number) =>
  `${ON_DEMAND_KEY}${fingerprint}${attempt > 0 ? ` ${attempt}` : ""}`;

/** The card of this content, or under which key it may be made, in the place of which. */
async function findCard(
  { store, clock }: OnDemandDeps,
  command: OnDemandCommand,
  fingerprint: string,
): Promise<{ image: ImageAnswer } | { freeKey: string; supersedes?: string }> {
  const now = clock.now();
  for (let attempt = 0; ; attempt += 1) {
    const scope: IdempotencyScope = { ...scopeOf(command), key: recordKey(fingerprint, attempt) };
    const record = await findRecord(store.read, scope);
    const image = record && (await findImageAnswer(store.read, { ...scopeOf(command), id: record.imageId }));
    if (!record) return { freeKey: scope.key };
    // Who was deleted does not come back by an address in an old mail.
    if (!image) throw pictureGone("deleted");
    const isOurFault =
      image.failureReason === "provider" && (image.completedAt ?? now) <= now - RENDER_RETRY_MS;
    if (isOurFault && attempt + 1 < MAX_RENDER_ATTEMPTS) continue;
    const isOver = image.state === "failed" || (image.state === "completed" && (image.expiresAt ?? 0) <= now);
    // Before, a repeated create would have to be answered with it.
    if (!isOver || image.createdAt > now - IDEMPOTENCY_RETENTION_MS) return { image };
    // Its record stays until the new card is taken: without credits, or a photo, it is still known.
    return { freeKey: scope.key, supersedes: image.id };
  }
}

/** The image once it has ended, or as it is after as long as a create may wait. */
async function untilEnded(
  { store, endings }: OnDemandDeps,
  scope: { accountId: string; environment: Environment; id: string },
): Promise<ImageAnswer> {
  const find = () => findImageAnswer(store.read, scope);
  await endings.wait(scope.id, {
    accountId: scope.accountId,
    ms: MAX_PREFERRED_WAIT_S * SECOND_MS,
    // The first caller may leave; the others wait on.
    signal: new AbortController().signal,
    isOver: async () => (await find())?.completedAt !== null,
  });
  const image = await find();
  if (!image) throw pictureGone("deleted");
  return image;
}
