import { ENVIRONMENTS } from "../../core/account.ts";
import { type ErrorDetail, Refusal } from "../../core/errors.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { shortName } from "../../core/name.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { dayOf, isoTime, isoTimeOrNull, MINUTE_MS } from "../../core/time.ts";
import {
  consentOf,
  consentsOf,
  endedConsents,
  markRecalled,
  type PlayerConsent,
  putConsent,
  recalledWithImages,
} from "../../store/people/consents.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { type FileDeps, type ForgetDeps, forgetPlayer } from "../images/forget-image.ts";
import { logAction } from "../operations/activity.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";

/** What a player agrees to. */
export interface ConsentTerms {
  /** Whether photos of the player may be used. */
  photo: boolean;
  /** Whether the whole name may stand on a card. */
  fullName: boolean;
  /** Nothing is allowed from this moment on, epoch milliseconds; null: no end. */
  endsAt: number | null;
}

interface OfPlayer {
  accountId: string;
  externalId: string;
}

const consentUnseen = () =>
  new Refusal(
    "INVALID_REQUEST",
    "This player's consent has changed since you opened it. Review it before you change it.",
  );

/** The public view of a consent. */
export function consentView(consent: PlayerConsent, now: number) {
  const { endsAt, withdrawnAt } = consent;
  const hasEnded = endsAt !== null && endsAt <= now;
  return {
    external_id: consent.externalId,
    status: withdrawnAt !== null ? "withdrawn" : hasEnded ? "ended" : "given",
    photo: consent.noPhoto === 0,
    full_name: consent.noFullName === 0,
    until: isoTimeOrNull(endsAt),
    withdrawn_at: isoTimeOrNull(withdrawnAt),
    recalled_at: isoTimeOrNull(consent.recalledAt),
    updated_at: isoTime(consent.updatedAt),
  } as const;
}

/**
 * Records what a player agrees to, in the place of what was recorded before, a withdrawal too. With `seen`,
 * when that was recorded, or null for nothing, only in the place of that: a Refusal says that there is
 * another one.
 */
export async function recordConsent(
  { store, clock, random }: AppContext,
  { accountId, externalId }: OfPlayer,
  { photo, fullName, endsAt }: ConsentTerms,
  by: string | null,
  seen?: number | null,
): Promise<PlayerConsent> {
  return store.write("record consent", async (tx) => {
    const now = clock.now();
    if (endsAt !== null && endsAt <= now)
      throw invalidRequest([
        { field: "until", message: "must be in the future. To end a consent now, withdraw it." },
      ]);
    const before = await consentOf(tx, { accountId, externalId });
    if (seen !== undefined && (before?.updatedAt ?? null) !== seen) throw consentUnseen();
    const consent: PlayerConsent = {
      accountId,
      externalId,
      noPhoto: photo ? 0 : 1,
      noFullName: fullName ? 0 : 1,
      endsAt,
      withdrawnAt: null,
      recalledAt: null,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    await putConsent(tx, consent);
    // Without the player's id: the log is never changed.
    const subject = `${photo ? "photo" : "no photo"}, ${fullName ? "full name" : "no full name"}${endsAt === null ? "" : `, until ${dayOf(endsAt)}`}`;
    await logAction(tx, { by, accountId, action: "player.consent", subject }, { now, random });
    return consent;
  });
}

/**
 * Ends a player's consent at once: nothing can be made of them any more, everything that was is deleted in
 * both environments, and `player.recalled` tells so. Idempotent. Returns how many images there were.
 */
export async function withdrawConsent(
  deps: ForgetDeps,
  { accountId, externalId }: OfPlayer,
  by: string | null,
): Promise<{ consent: PlayerConsent; images: number }> {
  const { store, clock, random } = deps;
  const consent = await store.write("withdraw consent", async (tx) => {
    const now = clock.now();
    const before = await consentOf(tx, { accountId, externalId });
    if (before?.withdrawnAt) return before;
    const terms = before ?? { accountId, externalId, noPhoto: 0, noFullName: 0, createdAt: now };
    const withdrawn = { ...terms, endsAt: now, withdrawnAt: now, recalledAt: null, updatedAt: now };
    await putConsent(tx, withdrawn);
    await logAction(tx, { by, accountId, action: "player.recalled", subject: "one player" }, { now, random });
    return withdrawn;
  });
  const images = await recall(deps, consent);
  const after = await consentOf(store.read, { accountId, externalId });
  return { consent: after ?? consent, images };
}

type RecallDeps = FileDeps & Partial<Pick<ForgetDeps, "requests">>;

/**
 * Deletes everything of a player that was created until the consent had ended, and tells so once. What is
 * created after a new consent, given meanwhile, stays.
 */
async function recall(deps: RecallDeps, player: OfPlayer): Promise<number> {
  const { store, clock, random } = deps;
  const { accountId, externalId } = player;
  const until = clock.now();
  // It may have been given anew since it was found.
  const ended = await consentOf(store.read, player);
  if (!ended || (ended.endsAt ?? until + 1) > until) return 0;
  const deleted = { live: 0, test: 0 };
  for (const environment of ENVIRONMENTS)
    deleted[environment] = await forgetPlayer(deps, { accountId, environment, externalId, until });
  await store.write("tell recall", async (tx) => {
    const now = clock.now();
    const isMarked = await markRecalled(tx, { accountId, externalId }, now);
    const isNews = isMarked || (ended.recalledAt === null && deleted.live + deleted.test > 0);
    if (!isNews) return;
    for (const environment of ENVIRONMENTS) {
      const data = {
        external_id: externalId,
        reason: ended.withdrawnAt === null ? "ended" : "withdrawn",
        images_deleted: deleted[environment],
        recalled_at: isoTime(now),
      };
      const subject = random.id("rcl");
      await recordEvent(
        tx,
        { accountId, environment, type: "player.recalled", subject, data },
        { now, random },
      );
    }
  });
  return deleted.live + deleted.test;
}

/** Players that are read at a time while a sweep recalls. */
const RECALLS_AT_ONCE = 100;
/** As long as a create may take from its look at the consent to its commit, many times over. */
const RECALL_AGAIN_MS = 10 * MINUTE_MS;

/**
 * Recalls players whose consent has ended since; those recalled lately once more, for creates that were on
 * their way. One that cannot be recalled is logged and tried again at the next sweep.
 */
export async function recallEnded(deps: RecallDeps): Promise<void> {
  const { store, clock } = deps;
  const until = clock.now();
  await forEach(
    deps,
    (page) => recalledWithImages(store.read, { since: until - RECALL_AGAIN_MS, until }, page),
    (player) => forgetPlayer(deps, { ...player, until }),
  );
  await forEach(
    deps,
    (page) => endedConsents(store.read, until, page),
    (player) => recall(deps, player),
  );
}

/** Does the work for each player that is due; what fails is logged, and skipped from then on. */
async function forEach<Player extends OfPlayer>(
  { log }: RecallDeps,
  due: (page: { skip: number; limit: number }) => Promise<Player[]>,
  work: (player: Player) => Promise<unknown>,
): Promise<void> {
  for (let skip = 0; ; ) {
    const players = await due({ skip, limit: RECALLS_AT_ONCE });
    for (const player of players)
      await work(player).catch((error) => {
        skip += 1;
        log.error("recall_failed", { accountId: player.accountId, error: String(error) });
      });
    if (players.length < RECALLS_AT_ONCE) return;
  }
}

/**
 * The requests as their players' consents allow them: with short names where the whole one may not be shown.
 * `faults` name what may not be made at all, by the request's index.
 */
export async function obeyConsents(
  tx: Tx,
  accountId: string,
  requests: readonly CreateImageRequest[],
  now: number,
): Promise<{ requests: CreateImageRequest[]; faults: { at: number; detail: ErrorDetail }[] }> {
  const ids = requests.map(({ player }) => player.external_id);
  const consents = await consentsOf(tx, accountId, ids);
  if (consents.size === 0) return { requests: [...requests], faults: [] };
  const faults: { at: number; detail: ErrorDetail }[] = [];
  const obeying = requests.map((request, at) => {
    const consent = consents.get(request.player.external_id);
    if (!consent) return request;
    const detail = faultOf(consent, now);
    if (detail) faults.push({ at, detail });
    if (consent.noFullName === 0) return request;
    return { ...request, player: { ...request.player, name: shortName(request.player.name) } };
  });
  return { requests: obeying, faults };
}

/** What a finished card shows that its player does not allow any more. */
export type OutlivedConsent = "withdrawn" | "ended" | "photo" | "full_name";

/** Of these cards those that could not be made as they are any more, by their images' ids, and why. */
export async function outlivedConsents(
  tx: Tx,
  accountId: string,
  cards: readonly { id: string; request: unknown }[],
  now: number,
): Promise<Map<string, OutlivedConsent>> {
  const requests = cards.map(({ request }) => request as CreateImageRequest);
  const consents = await consentsOf(
    tx,
    accountId,
    requests.map(({ player }) => player.external_id),
  );
  const found = new Map<string, OutlivedConsent>();
  for (const [at, { player }] of requests.entries()) {
    const consent = consents.get(player.external_id);
    const id = cards[at]?.id ?? "";
    if (!consent) continue;
    const { status, photo, full_name } = consentView(consent, now);
    if (status !== "given") found.set(id, status);
    else if (!photo) found.set(id, "photo");
    else if (!full_name && shortName(player.name) !== player.name) found.set(id, "full_name");
  }
  return found;
}

/**
 * What consents forbid of players by their ids, each with where it stands in the body: for requests that are
 * refused for other faults, so that all are reported at once.
 */
export async function consentFaults(
  tx: Tx,
  accountId: string,
  places: ReadonlyMap<string, string>,
  now: number,
): Promise<ErrorDetail[]> {
  const consents = await consentsOf(tx, accountId, [...places.keys()]);
  return [...places].flatMap(([externalId, place]) => {
    const consent = consents.get(externalId);
    const detail = consent && faultOf(consent, now);
    return detail ? [{ ...detail, field: place + detail.field }] : [];
  });
}

/** Why no card of a player may be made; undefined where one may. */
function faultOf({ endsAt, withdrawnAt, noPhoto }: PlayerConsent, now: number): ErrorDetail | undefined {
  if (withdrawnAt !== null)
    return {
      field: "player.external_id",
      code: "consent_withdrawn",
      message:
        "belongs to a player who has withdrawn consent. Record a new consent first, if the player gives one.",
    };
  if (endsAt !== null && endsAt <= now)
    return {
      field: "player.external_id",
      code: "consent_ended",
      message: `is of a player whose consent ended on ${dayOf(endsAt)}. Record a new one first.`,
    };
  if (noPhoto === 1)
    return {
      field: "player.source_image_url",
      code: "no_photo_consent",
      message: "may not be used: no photo of this player may be shown. Leave the player out.",
    };
  return undefined;
}

/**
 * The requests as consents allow them. Throws INVALID_REQUEST; `place` is where a request stands in the body.
 */
export async function requireConsent(
  tx: Tx,
  accountId: string,
  requests: readonly CreateImageRequest[],
  { now, place }: { now: number; place: (at: number) => string },
): Promise<CreateImageRequest[]> {
  const { requests: obeying, faults } = await obeyConsents(tx, accountId, requests, now);
  if (faults.length === 0) return obeying;
  throw invalidRequest(faults.map(({ at, detail }) => ({ ...detail, field: place(at) + detail.field })));
}
