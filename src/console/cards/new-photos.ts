import { LIST_KEPT_MS, MAX_LISTS_KEPT } from "../../core/list-limits.ts";
import type { ShortLivedState } from "../../state/state.ts";

/** A photo sent for a player whose earlier one is gone, kept as one of the account's uploads. */
export interface NewPhoto {
  id: string;
  sha256: string;
}

interface Owner {
  account: { id: string };
}

/** Which photos players of a set or a batch are to have on their next cards. */
export interface NewPhotoStore {
  put(visit: Owner, player: PlayerOf, photo: NewPhoto): Promise<void>;
  get(visit: Owner, player: PlayerOf): Promise<NewPhoto | undefined>;
}

interface PlayerOf {
  /** The id of the set or the batch. */
  ownerId: string;
  externalId: string;
}

/** Photos of as many players as a large set has, for each list that may wait. */
const MAX_PHOTOS_KEPT = MAX_LISTS_KEPT * 200;

export function newPhotoStore(state: ShortLivedState): NewPhotoStore {
  const photos = state.values<NewPhoto>("new photos", { forMs: LIST_KEPT_MS, maxKeys: MAX_PHOTOS_KEPT });
  const key = ({ account }: Owner, { ownerId, externalId }: PlayerOf) =>
    `${account.id} ${ownerId} ${externalId}`;
  return {
    put: (visit, player, photo) => photos.put(key(visit, player), photo),
    get: (visit, player) => photos.get(key(visit, player)),
  };
}
