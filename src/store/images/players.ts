import { and, inArray, isNull } from "drizzle-orm";
import type { Tx } from "../store.ts";
import { findEvents } from "../webhooks/webhooks.ts";

/** Whom an image shows. */
export interface Player {
  externalId: string;
  /** As it was sent. */
  name: string;
}

/** Values of one statement. */
const IDS_AT_ONCE = 500;

/** The players of images by the images' ids; deleted images are not among them. */
export async function playersOf({ db, t }: Tx, imageIds: readonly string[]): Promise<Map<string, Player>> {
  const i = t.images;
  const players = new Map<string, Player>();
  const ids = [...new Set(imageIds)];
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = await db
      .select({ id: i.id, externalId: i.externalId, request: i.request })
      .from(i)
      .where(and(inArray(i.id, ids.slice(at, at + IDS_AT_ONCE)), isNull(i.forgottenAt)));
    for (const { id, externalId, request } of rows) players.set(id, { externalId, name: nameIn(request) });
  }
  return players;
}

/**
 * The image that each webhook event is about, with its player, by the events' ids; only those about images
 * that are there.
 */
export async function playersOfEvents(
  tx: Tx,
  eventIds: readonly string[],
): Promise<Map<string, Player & { imageId: string }>> {
  const events = await findEvents(tx, [...new Set(eventIds)]);
  const players = await playersOf(
    tx,
    events.map(({ subject }) => subject),
  );
  const found = new Map<string, Player & { imageId: string }>();
  for (const { id, subject } of events) {
    const player = players.get(subject);
    if (player) found.set(id, { ...player, imageId: subject });
  }
  return found;
}

/** The request is JSON from the database, so nothing about it is taken for granted. */
function nameIn(request: unknown): string {
  const { player } = (request ?? {}) as { player?: { name?: unknown } };
  return typeof player?.name === "string" ? player.name : "";
}
