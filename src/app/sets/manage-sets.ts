import type { Environment } from "../../core/account.ts";
import { fillPath, SHARED_PATHS } from "../../core/api-paths.ts";
import { isClosed, type Parallel } from "../../core/card-set.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import { MAX_SETS } from "../../core/limits.ts";
import { isDeceptive } from "../../core/name.ts";
import { invalidRequest, setInUse, setNotFound } from "../../core/partner-refusals.ts";
import { isoTime } from "../../core/time.ts";
import {
  type CardSet,
  countSets,
  deleteSet,
  findSetByKey,
  freeSetKey,
  insertSet,
  lockSet,
  nameGallery,
  playersOfSet,
  type SetPlayer,
} from "../../store/sets/card-sets.ts";
import { countCards, hasCards } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { earlierOf } from "../earlier-request.ts";
import { logAction } from "../operations/activity.ts";
import { printRunsOf } from "./print-runs.ts";

interface Scope {
  accountId: string;
  environment: Environment;
}

/** What a set is made of; `checkSet` says what is wrong with one. */
export interface NewSet {
  name: string;
  season: string;
  parallels: Parallel[];
  players: Pick<SetPlayer, "externalId" | "name" | "number">[];
}

/** The rules that no schema expresses: what must differ, and what is not text. */
function faultsOf({ name, season, parallels, players }: NewSet): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const plain = (field: string, text: string) => {
    if (isDeceptive(text) || !text.isWellFormed())
      details.push({
        field,
        message:
          "must be one line without control characters and without overrides of the writing direction.",
      });
  };
  const different = (field: (at: number) => string, values: string[]) => {
    const first = new Map<string, number>();
    for (const [at, value] of values.entries()) {
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, at);
      else details.push({ field: field(at), message: `is the same as ${field(earlier)}. Name each once.` });
    }
  };
  plain("name", name);
  plain("season", season);
  for (const [at, parallel] of parallels.entries()) plain(`parallels[${at}].name`, parallel.name);
  for (const [at, player] of players.entries()) {
    plain(`players[${at}].external_id`, player.externalId);
    plain(`players[${at}].name`, player.name);
  }
  different(
    (at) => `parallels[${at}].name`,
    parallels.map((parallel) => parallel.name.toLowerCase()),
  );
  different(
    (at) => `players[${at}].external_id`,
    players.map(({ externalId }) => externalId),
  );
  for (const [at, { name, size, closesAt }] of parallels.entries()) {
    const field = `parallels[${at}].closes_at`;
    if (closesAt === undefined) continue;
    if (Number.isNaN(closesAt))
      details.push({ field, message: "must be a time such as 2026-12-06T18:00:00Z." });
    if (size !== null)
      details.push({
        field,
        message: `must be left out: "${name}" has a size. An open edition has none: its cards are counted when it closes.`,
      });
  }
  return details;
}

/** Editions that would be closed from the start. */
function closedAtOnce({ parallels }: Pick<NewSet, "parallels">, now: number): ErrorDetail[] {
  return parallels.flatMap((parallel, at) =>
    isClosed(parallel, now)
      ? { field: `parallels[${at}].closes_at`, message: "must lie ahead, so that cards can be made before." }
      : [],
  );
}

export interface MadeSet {
  set: CardSet;
  /** Whether an earlier call with the same key made it. */
  replayed: boolean;
}

/**
 * Makes a set, which never changes from then on; `by`: who did in the console. Throws INVALID_REQUEST, and
 * IDEMPOTENCY_KEY_REUSED where the key stands for another set.
 */
export async function makeSet(
  { store, clock, random }: AppContext,
  scope: Scope,
  { players, ...set }: NewSet,
  { by = null, idempotencyKey = null }: { by?: string | null; idempotencyKey?: string | null } = {},
): Promise<MadeSet> {
  const details = faultsOf({ players, ...set });
  if (details.length > 0) throw invalidRequest(details);
  const fingerprint = fingerprintOf({ ...set, players });
  return store.write("make set", async (tx) => {
    const now = clock.now();
    if (idempotencyKey !== null) {
      const ofKey = { ...scope, key: idempotencyKey };
      const earlier = earlierOf(await findSetByKey(tx, ofKey), fingerprint, now);
      if (earlier) return { set: earlier, replayed: true };
      await freeSetKey(tx, ofKey);
    }
    const closed = closedAtOnce(set, now);
    if (closed.length > 0) throw invalidRequest(closed);
    const row: CardSet = {
      id: random.id("set"),
      ...scope,
      ...set,
      idempotencyKey,
      fingerprint,
      galleryName: null,
      createdAt: now,
    };
    const rows = players.map((player, position) => ({ setId: row.id, position, ...player }));
    if ((await countSets(tx, scope)) >= MAX_SETS)
      throw invalidRequest([
        { field: "body", message: `is one set too many: there are ${MAX_SETS}. Delete one without cards.` },
      ]);
    await insertSet(tx, row, rows);
    await note(tx, { clock, random }, "set.created", row, by);
    return { set: row, replayed: false };
  });
}

/** Deletes a set of which no card was made. Throws NOT_FOUND and SET_IN_USE. */
export async function removeSet(
  { store, clock, random }: AppContext,
  scope: Scope & { id: string },
  by: string | null = null,
): Promise<CardSet> {
  return store.write("delete set", async (tx) => {
    const set = await lockSet(tx, scope);
    if (!set) throw setNotFound();
    if (await hasCards(tx, set.id)) throw setInUse();
    await deleteSet(tx, set.id);
    await note(tx, { clock, random }, "set.deleted", set, by);
    return set;
  });
}

/**
 * Opens the public gallery of a set, or withdraws it: its address is never used again. Throws NOT_FOUND.
 */
export async function changeGallery(
  { store, clock, random }: AppContext,
  { isOpen, ...scope }: Scope & { id: string; isOpen: boolean },
  by: string | null = null,
): Promise<CardSet> {
  return store.write("change gallery", async (tx) => {
    const set = await lockSet(tx, scope);
    if (!set) throw setNotFound();
    if ((set.galleryName !== null) === isOpen) return set;
    const galleryName = isOpen ? random.id("gal") : null;
    await nameGallery(tx, set.id, galleryName);
    await note(tx, { clock, random }, isOpen ? "set.gallery_opened" : "set.gallery_withdrawn", set, by);
    return { ...set, galleryName };
  });
}

/** Writes down who did something in the console; what a key does is in the log of requests. */
async function note(
  tx: Tx,
  { clock, random }: Pick<AppContext, "clock" | "random">,
  action: "set.created" | "set.deleted" | "set.gallery_opened" | "set.gallery_withdrawn",
  { accountId, name }: CardSet,
  by: string | null,
): Promise<void> {
  if (by === null) return;
  await logAction(tx, { by, accountId, action, subject: name }, { now: clock.now(), random });
}

/** The address of a set's public gallery; null while there is none. */
export function galleryUrl({ galleryName }: Pick<CardSet, "galleryName">, baseUrl: string): string | null {
  return galleryName && baseUrl + fillPath(SHARED_PATHS.gallery, { gallery: galleryName });
}

type ViewDeps = Pick<AppContext, "store" | "clock" | "config">;

/** The public view of a set. */
export async function setView({ store, clock, config }: ViewDeps, set: CardSet) {
  const { id, name, season, parallels, createdAt } = set;
  const printRun = await printRunsOf(store.read, set, { now: clock.now() });
  return {
    set_id: id,
    name,
    season: season || null,
    parallels: parallels.map((parallel) => parallelView(parallel, printRun(null, parallel.name))),
    gallery_url: galleryUrl(set, config.baseUrl),
    created_at: isoTime(createdAt),
  };
}

interface ParallelView {
  name: string;
  size: number | null;
  /** These two of open editions alone. */
  closes_at?: string;
  print_run?: number | null;
}

function parallelView({ name, size, closesAt }: Parallel, printRun: number | null): ParallelView {
  const edition = closesAt === undefined ? {} : { closes_at: isoTime(closesAt), print_run: printRun };
  return { name, size, ...edition };
}

/** A player of a checklist, with how many cards there are of each parallel. */
export interface ChecklistEntry {
  external_id: string | null;
  name: string | null;
  number: number | null;
  parallels: (ParallelView & { made: number; processing: number })[];
}

/** The checklist of a set with its counts. Players who were deleted keep their lines, without name. */
export async function checklistOf(
  { store, clock }: Pick<AppContext, "store" | "clock">,
  { id, parallels }: CardSet,
): Promise<ChecklistEntry[]> {
  const [players, counts, printRun] = await Promise.all([
    playersOfSet(store.read, id),
    countCards(store.read, id),
    printRunsOf(store.read, { id, parallels }, { now: clock.now() }),
  ]);
  const key = (player: number, parallel: string, state: string) => JSON.stringify([player, parallel, state]);
  const byKey = new Map(counts.map(({ player, parallel, state, n }) => [key(player, parallel, state), n]));
  return players.map(({ position, externalId, name, number }) => ({
    external_id: externalId || null,
    name: name || null,
    number,
    parallels: parallels.map((parallel) => ({
      ...parallelView(parallel, printRun(position, parallel.name)),
      made: byKey.get(key(position, parallel.name, "final")) ?? 0,
      processing: byKey.get(key(position, parallel.name, "held")) ?? 0,
    })),
  }));
}
