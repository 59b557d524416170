import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import { API_PATHS, fillPath } from "../../core/api-paths.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import {
  IDEMPOTENCY_RETENTION_MS,
  PLACEHOLDER_BYTES_PER_DAY,
  SOURCE_BYTES_PER_DAY,
} from "../../core/limits.ts";
import { turnsOf } from "../../core/moving-pictures.ts";
import { idempotencyKeyReused, insufficientCredits, partnerSuspended } from "../../core/partner-refusals.ts";
import { requirePublicationTimes } from "../../core/publication.ts";
import { isProven } from "../../core/steady-clock.ts";
import { isoTime } from "../../core/time.ts";
import type { SourceFetcher } from "../../sources/fetch-source.ts";
import { countUsage } from "../../store/credits/usage.ts";
import {
  deleteRecord,
  findRecord,
  freeExpiredKey,
  type IdempotencyRecord,
  type IdempotencyScope,
  insertRecord,
} from "../../store/images/idempotency.ts";
import { insertPictures } from "../../store/images/image-pictures.ts";
import { type Image, insertImage } from "../../store/images/images.ts";
import { nextPlace, type QueuePlace } from "../../store/images/queue-place.ts";
import { type Account, findAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import type { AppContext } from "../context.ts";
import { creditsAvailable, reserveCredit } from "../credits/credits.ts";
import { requireConsent } from "../people/consent.ts";
import { findFreePlaces, holdPlaces, type Wish } from "../sets/set-places.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { FetchGate } from "./fetch-gate.ts";
import { type FetchedSources, fetchSources, refuseWhenSpent } from "./fetch-sources.ts";
import { freshImage } from "./fresh-image.ts";
import { type SetPlaceView, setOf } from "./image-view.ts";
import { keepTemplate } from "./keep-template.ts";
import type { QueueEstimate } from "./queue-estimate.ts";
import { refuseOnRequest, testEtaSeconds } from "./requested-ending.ts";
import type { SourceHold, SourceKeeper } from "./source-keeper.ts";

export interface AcceptImageDeps extends AppContext {
  sources: SourceFetcher;
  queue: QueueEstimate;
  gate: FetchGate;
  keeper: SourceKeeper;
  /** Keeps the template files that images were accepted with. */
  blobs: Pick<Blobs, "put" | "refresh">;
  room: DiskRoom;
  templates: TemplateRegistry;
  /** Daily budget for fetched photos and badges. */
  sourceBytes: DailyBytes;
  /** Daily budget for pictures drawn for test images. */
  placeholderBytes: DailyBytes;
  /** Called after the commit. Only a hint: polling finds the work as well. */
  wake: (environment: Environment) => void;
}

export interface CreateCommand {
  account: Account;
  environment: Environment;
  /** Absent when the console asks. */
  keyId?: string;
  idempotencyKey: string;
  request: CreateImageRequest;
  /** The image that this one is to replace; in a set it takes over its number. */
  replaces?: string;
  /** The image that this one is one more picture of; in a set it shows its number. */
  shows?: string;
  /** How long the key is known; as long as partners are promised unless said otherwise. */
  keptMs?: number;
  /** The image with which the key answers so far, and which makes way for the new one. */
  supersedes?: string | undefined;
}

/**
 * The response to a create, repeated unchanged at every replay: names and their order must stay as they are.
 */
export interface AcceptedAnswer {
  image_id: string;
  status: "processing";
  poll_url: string;
  eta_seconds: number;
  /** ISO 8601. */
  created_at: string;
  /** Absent for an image outside of sets. */
  set?: SetPlaceView;
}

export interface Accepted {
  answer: AcceptedAnswer;
  replayed: boolean;
}

export type AcceptImage = (command: CreateCommand) => Promise<Accepted>;

/**
 * Builds the use case behind POST /v1/images: replays or refuses by idempotency key, checks credits, fetches
 * the photo, then writes record, image, reservation and ledger entry in one transaction. Throws a Refusal,
 * and then leaves nothing behind.
 */
export function acceptImage(deps: AcceptImageDeps): AcceptImage {
  // Concurrent calls with the same key share the first one's outcome instead of all fetching the photo.
  const inFlight = new Map<string, { fingerprint: string; outcome: Promise<Accepted> }>();

  return async function accept(command) {
    const scope = scopeOf(command);
    const fingerprint = fingerprintOf(command.request);
    const flight = JSON.stringify([scope.accountId, scope.environment, scope.key]);
    for (let first = inFlight.get(flight); first; first = inFlight.get(flight)) {
      if (first.fingerprint === fingerprint) return { ...(await first.outcome), replayed: true };
      // A different payload under the same key: a conflict if the first call is accepted, free to go if it is
      // refused.
      await first.outcome.catch(() => {});
    }
    const outcome = acceptOnce(deps, command, scope, fingerprint);
    inFlight.set(flight, { fingerprint, outcome });
    try {
      return await outcome;
    } finally {
      inFlight.delete(flight);
    }
  };
}

async function acceptOnce(
  deps: AcceptImageDeps,
  asked: CreateCommand,
  scope: IdempotencyScope,
  fingerprint: string,
): Promise<Accepted> {
  const { store, clock } = deps;
  const replay = replayOf(await findRecord(store.read, scope), asked, fingerprint, clock.now());
  if (replay) return replay;
  // Known by what was sent, whatever the player allows of it at the moment.
  const command = { ...asked, request: await allowedRequest(store.read, asked, clock.now()) };
  await deps.room.refuseWhenLow();

  const hold = deps.keeper.hold();
  let used = false;
  try {
    const loaded = await deps.templates.current(command.request.style.preset);
    const sources = await sourcesFor(deps, command, loaded, hold);
    await keepTemplate(deps, loaded);
    const { manifest, digest } = loaded;
    const template = {
      templateName: manifest.name,
      templateVersion: manifest.version,
      templateDigest: digest,
    };
    const accept = async (tx: Tx) => {
      const now = clock.now();
      // Another process, or a faster call, may have written the record during the fetch.
      const record = await findRecord(tx, scope);
      const overtaken = replayOf(record, command, fingerprint, now);
      if (overtaken) return overtaken;
      if (record) await freeExpiredKey(tx, scope, now);
      if (command.supersedes) await deleteRecord(tx, { ...scope, imageId: command.supersedes });
      return writeAccepted(tx, deps, { command, scope, fingerprint, sources, template, now });
    };
    // When two calls write the same record at once, its unique key refuses the second, which finds the record
    // on its next run.
    const accepted = await store.write("accept", accept, { concurrent: true });
    used = !accepted.replayed;
    if (used) deps.wake(command.environment);
    return accepted;
  } finally {
    await hold.close(used);
  }
}

/** The request as the player's consent and the calendar allow it. Throws INVALID_REQUEST. */
async function allowedRequest(
  tx: Tx,
  { account, request }: CreateCommand,
  now: number,
): Promise<CreateImageRequest> {
  requirePublicationTimes([request], { account, now, place: () => "" });
  const [allowed = request] = await requireConsent(tx, account.id, [request], { now, place: () => "" });
  return allowed;
}

/** Makes every check that needs no photo, then fetches. Test images fetch nothing. */
async function sourcesFor(
  deps: AcceptImageDeps,
  command: CreateCommand,
  { manifest }: LoadedTemplate,
  hold: SourceHold,
): Promise<FetchedSources> {
  const { account, environment, request } = command;
  await findFreePlaces(deps.store.read, { accountId: account.id, environment }, [wishOf(command)], {
    now: deps.clock.now(),
    lock: false,
  });
  if (environment === "test") {
    refuseOnRequest(request.player.external_id, account, deps.clock.now());
    await refuseWhenSpent(
      deps.placeholderBytes,
      account,
      PLACEHOLDER_BYTES_PER_DAY,
      "test pictures of new sizes",
    );
    return { photo: null, badge: null, pictures: {} };
  }
  const now = deps.clock.now();
  if (creditsAvailable(account, now) < 1) throw insufficientCredits(account.creditLimit, now);
  await placeUnlessFull(deps.store.read, deps, { accountId: account.id, environment });
  const limit = SOURCE_BYTES_PER_DAY[account.tier];
  await refuseWhenSpent(deps.sourceBytes, account, limit, "photos and badges fetched");
  return fetchSources(deps, { accountId: account.id, environment, request, template: manifest }, hold);
}

function wishOf({ request, replaces, shows }: CreateCommand): Wish {
  return { request, field: "", replaces, shows };
}

/** The place of the owner's next image. Throws SERVICE_OVERLOADED when it would wait too long there. */
async function placeUnlessFull(
  tx: Tx,
  { queue }: Pick<AcceptImageDeps, "queue">,
  owner: Pick<Image, "accountId" | "environment">,
): Promise<QueuePlace> {
  const place = await nextPlace(tx, owner, { most: queue.mostCounted(owner.environment) });
  queue.refuseWhenFull(owner.environment, place);
  return place;
}

interface NewImage {
  command: CreateCommand;
  scope: IdempotencyScope;
  fingerprint: string;
  sources: FetchedSources;
  /** Pins the image to the template as it is now. */
  template: Pick<Image, "templateName" | "templateVersion" | "templateDigest">;
  now: number;
}

async function writeAccepted(tx: Tx, deps: AcceptImageDeps, fresh: NewImage): Promise<Accepted> {
  const { command, scope, now } = fresh;
  const owner = { accountId: command.account.id, environment: command.environment };
  const [free = null] = await findFreePlaces(tx, owner, [wishOf(command)], { now });
  // What was checked before the fetch may have changed since, so the decision is made here.
  const account = await findAccount(tx, owner.accountId);
  if (account?.status !== "active") throw partnerSuspended();
  const request = await allowedRequest(tx, command, now);
  const place = await placeUnlessFull(tx, deps, owner);
  const image = freshImage(deps.random, {
    scope: owner,
    keyId: command.keyId ?? null,
    request,
    template: fresh.template,
    sources: {
      sourceSha256: fresh.sources.photo?.sha256 ?? null,
      badgeSha256: fresh.sources.badge?.sha256 ?? null,
    },
    place: free?.place,
    lane: "single",
    turn: place.turn + turnsOf(request.style.format) - 1,
    now,
  });
  await insertImage(tx, image);
  await insertPictures(tx, image.id, fresh.sources.pictures);
  await holdPlaces(tx, [{ imageId: image.id, free }], now);
  await deps.jobs.enqueue(tx, [image]);
  if (command.environment === "live")
    await reserveCredit(tx, account, image.id, {
      now,
      random: deps.random,
      isDoubtful: !isProven(deps.clock),
    });
  await countUsage(tx, image, now, { requested: 1 });
  const eta = owner.environment === "test" ? testEtaSeconds(image.externalId) : deps.queue.etaSeconds(place);
  const answer = acceptedAnswer(image, eta);
  await insertRecord(tx, {
    ...scope,
    fingerprint: fresh.fingerprint,
    imageId: image.id,
    responseBody: JSON.stringify(answer),
    createdAt: now,
    expiresAt: now + (command.keptMs ?? IDEMPOTENCY_RETENTION_MS),
  });
  return { answer, replayed: false };
}

function acceptedAnswer(image: Image, etaSeconds: number): AcceptedAnswer {
  return {
    image_id: image.id,
    status: "processing",
    poll_url: fillPath(API_PATHS.image, { image_id: image.id }),
    eta_seconds: etaSeconds,
    created_at: isoTime(image.createdAt),
    ...setOf(image),
  };
}

/** Earlier versions stored the response together with its envelope. */
function storedAnswer({ responseBody }: IdempotencyRecord): AcceptedAnswer {
  const stored: AcceptedAnswer | { data: AcceptedAnswer } = JSON.parse(responseBody);
  return "data" in stored ? stored.data : stored;
}

function scopeOf(command: CreateCommand): IdempotencyScope {
  return { accountId: command.account.id, environment: command.environment, key: command.idempotencyKey };
}

/**
 * The stored response for a key with this record; undefined when the key is free. Throws
 * IDEMPOTENCY_KEY_REUSED when the payload differs.
 */
function replayOf(
  record: IdempotencyRecord | undefined,
  { supersedes }: CreateCommand,
  fingerprint: string,
  now: number,
): Accepted | undefined {
  if (!record || isExpired(record, now) || record.imageId === supersedes) return undefined;
  if (record.fingerprint !== fingerprint) throw idempotencyKeyReused();
  return { answer: storedAnswer(record), replayed: true };
}

function isExpired(record: IdempotencyRecord, now: number): boolean {
  return record.expiresAt <= now;
}
