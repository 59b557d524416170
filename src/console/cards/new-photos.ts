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

/** Which photos players of a set are to have on their next cards. */
export interface NewPhotoStore {
  put(visit: Owner, player: PlayerOfSet, photo: NewPhoto): Promise<void>;
  get(visit: Owner, player: PlayerOfSet): Promise<NewPhoto | undefined>;
}

interface PlayerOfSet {
  setId: string;
  externalId: string;
}

/** Photos of as many players as a large set has, for each list that may wait. */
const MAX_PHOTOS_KEPT = MAX_LISTS_KEPT * 200;

export function newPhotoStore(state: ShortLivedState): NewPhotoStore {
  const photos = state.values<NewPhoto>("new photos", { forMs: LIST_KEPT_MS, maxKeys: MAX_PHOTOS_KEPT });
  const key = ({ account }: Owner, { setId, externalId }: PlayerOfSet) =>
    `${account.id} ${setId} ${externalId}`;
  return {
    put: (visit, player, photo) => photos.put(key(visit, player), photo),
    get: (visit, player) => photos.get(key(visit, player)),
  };
}
