import { withoutPhoto } from "../../app/images/gone-photos.ts";
import { cardsOfBatch, type Refill } from "../../app/sets/fill-set.ts";
import { type ChecklistEntry, checklistOf } from "../../app/sets/manage-sets.ts";
import { isClosed, type Parallel } from "../../core/card-set.ts";
import { MAX_BATCH_CARDS, MAX_OPEN_BATCH_CARDS } from "../../core/limits.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { findBatch } from "../../store/images/batches.ts";
import { currentCards } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { setOfId } from "../batches/list-set.tsx";
import { notFound } from "../page-error.ts";
import type { MemberVisit } from "../visit.ts";
import type { Photoless } from "./photoless.tsx";

// What is to be made of a parallel, from cards that the players have already.

export interface Plan {
  refills: Refill[];
  cards: number;
  /** Cards that are missing, too, and more than may be in the making at a time. */
  later: number;
  /** Players without a card to make them from. */
  without: ChecklistEntry[];
  /** Players whose photo was uploaded and is gone, and those of them who got another one. */
  photoless: Photoless[];
  /** Players who have all their cards of the parallel. */
  done: number;
}

/** What is still to be made of a parallel, from each player's newest card or those of a batch. */
async function planOf(visit: MemberVisit, set: CardSet, parallel: Parallel, from: string): Promise<Plan> {
  const { deps, account } = visit;
  const plan: Plan = { refills: [], cards: 0, later: 0, without: [], photoless: [], done: 0 };
  if (isClosed(parallel, visit.now)) return plan;
  const players = await checklistOf(deps, set);
  const scope = { accountId: account.id, environment: set.environment };
  const ids = players.flatMap(({ external_id }) => external_id ?? []);
  let images: Map<string, Image>;
  if (from === "") images = await currentCards(deps.store.read, scope, ids);
  else {
    const batch = await findBatch(deps.store.read, { ...scope, id: from });
    if (!batch) throw notFound();
    images = new Map((await cardsOfBatch(deps, batch.id)).map((image) => [image.externalId, image]));
  }
  const gone = await withoutPhoto(deps, scope, [...images.values()]);
  for (const player of players) {
    const { external_id } = player;
    if (external_id === null) continue;
    const { made = 0, processing = 0 } = player.parallels.find(({ name }) => name === parallel.name) ?? {};
    const missing = Math.max(0, (parallel.size ?? 1) - made - processing);
    const image = images.get(external_id);
    const isGone = missing > 0 && image !== undefined && gone.has(image.id);
    const photo = isGone
      ? await visit.newPhotos.get(visit, { ownerId: set.id, externalId: external_id })
      : undefined;
    const { name, number } = player;
    if (isGone)
      plan.photoless.push({
        externalId: external_id,
        name: name ?? external_id,
        number: String(number ?? ""),
        photo,
      });
    if (isGone && !photo) continue;
    if (missing === 0) plan.done += 1;
    else if (!image) plan.without.push(player);
    else {
      const now = Math.min(missing, MAX_OPEN_BATCH_CARDS - plan.cards);
      if (now > 0) plan.refills.push({ image, count: now, photo: photo && uploadUrl(deps.config, photo.id) });
      plan.cards += now;
      plan.later += missing - now;
    }
  }
  return plan;
}

/** Cut into batches, none of which has more cards than one may have. */
export function inBatches(refills: Refill[]): Refill[][] {
  const batches: Refill[][] = [];
  let room = 0;
  for (const { count: all, ...refill } of refills)
    for (let left = all; left > 0; ) {
      if (room === 0) {
        batches.push([]);
        room = MAX_BATCH_CARDS;
      }
      const some = Math.min(left, room);
      batches.at(-1)?.push({ ...refill, count: some });
      left -= some;
      room -= some;
    }
  return batches;
}

/** `parallel`: null for the first one. */
export async function asked(visit: MemberVisit, sent: { parallel: string | null; from: string }) {
  const set = await setOfId(visit, visit.params.id ?? "");
  const parallel = set?.parallels.find(({ name }) => sent.parallel === null || name === sent.parallel);
  if (!set || !parallel) throw notFound();
  return { set, parallel, plan: await planOf(visit, set, parallel, sent.from) };
}
