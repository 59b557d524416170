import PQueue from "p-queue";
import type { NamedPhoto } from "../../app/batches/match-photos.ts";
import type { CardStyle, Mapping } from "../../app/batches/squad-cards.ts";
import type { SquadList } from "../../app/batches/squad-list.ts";
import {
  LIST_KEPT_MS,
  MAX_LIST_PREVIEWS_KEPT,
  MAX_LIST_PREVIEWS_PER_DAY,
  MAX_LISTS_KEPT,
} from "../../core/list-limits.ts";
import { DAY_MS, SECOND_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";
import { PageError } from "../page-error.ts";

/** Accounts that have previews drawn on one day. */
const MAX_COUNTED_ACCOUNTS = 10_000;

/** Whose list, and which one the address names. */
interface ListVisit {
  account: { id: string };
  user: { id: string };
  params: Record<string, string | undefined>;
}

/** A squad list between upload and batch. */
export interface Draft {
  id: string;
  /** The batch's name, initially the file's. */
  name: string;
  list: SquadList;
  mapping: Mapping;
  style: CardStyle;
  /** Photos sent along, in the order they came. */
  photos?: DraftPhoto[];
  /** How often it was changed. */
  version?: number;
}

/** A photo sent along with a list, kept as one of the account's uploads. */
export interface DraftPhoto extends NamedPhoto {
  id: string;
  sha256: string;
}

/** A previewed card: a WebP picture in base64, or why there is none. */
export type Preview = { picture: string } | { problem: string };

/**
 * Uploaded lists waiting to be ordered, in short-lived state only: whoever changes their mind leaves nothing
 * behind.
 */
export interface ListStore {
  /** Replaces this person's previous list. */
  put(visit: ListVisit, draft: Draft): Promise<void>;
  /** The list in the URL. Throws 404. */
  get(visit: ListVisit): Promise<Draft>;
  /** Changes the list in the URL, one change after the other; returns it as it is then. Throws 404. */
  change(visit: ListVisit, change: (draft: Draft) => Draft): Promise<Draft>;
  drop(visit: ListVisit): Promise<void>;
  /** Works out what the list comes to, and keeps it for `checked`. */
  check<T>(draft: Draft, now: number, work: () => Promise<T>): Promise<T>;
  /**
   * What the list came to when it was last worked out as it is, not long ago; else works it out. Only for
   * what is asked for again and again, such as pictures of a page.
   */
  checked<T>(draft: Draft, now: number, work: () => Promise<T>): Promise<T>;
  preview(key: string): Promise<Preview | undefined>;
  /** Whether this account may have another small preview drawn today; it counts as drawn then. */
  mayPreview(accountId: string): Promise<boolean>;
  /**
   * The card's preview as it stands. The first who asks for one that is not there has it drawn, and waits for
   * nothing: a drawing may take longer than a connection is kept open. A draw that ends without a preview
   * begins again with the next who asks.
   */
  drawnPreview(key: string, draw: () => Promise<Preview | undefined>): Promise<Preview | "drawing">;
}

export function listStore(state: ShortLivedState): ListStore {
  const drafts = state.values<Draft>("squad lists", { forMs: LIST_KEPT_MS, maxKeys: MAX_LISTS_KEPT });
  const previews = state.values<Preview>("card previews", {
    forMs: LIST_KEPT_MS,
    maxKeys: MAX_LIST_PREVIEWS_KEPT,
  });
  const drawn = state.counters("card previews of a day", { forMs: DAY_MS, maxKeys: MAX_COUNTED_ACCOUNTS });
  const drawing = new Set<string>();
  const place = ({ account, user }: ListVisit) => `${account.id} ${user.id}`;
  // Photos arrive while others are being stored.
  const changing = new PQueue({ concurrency: 1 });
  const get = async (visit: ListVisit) => {
    const draft = await drafts.get(place(visit));
    if (draft && draft.id === visit.params.id) return draft;
    throw new PageError(
      404,
      "This squad list is not kept any more: lists wait four hours, and a newer one takes the place of the last. Upload it again under Batches.",
    );
  };
  return {
    put: (visit, draft) => drafts.put(place(visit), draft),
    get,
    change: (visit, change) =>
      changing.add(async () => {
        const before = await get(visit);
        const changed = { ...change(before), version: (before.version ?? 0) + 1 };
        await drafts.put(place(visit), changed);
        return changed;
      }),
    ...checkMemo(),
    drop: async (visit) => void (await drafts.take(place(visit))),
    preview: (key) => previews.get(key),
    mayPreview: async (accountId) => (await drawn.add(accountId, 1)) <= MAX_LIST_PREVIEWS_PER_DAY,
    drawnPreview: async (key, draw) => {
      // Before the look, since whoever draws puts the preview there first and is gone then.
      const wasDrawing = drawing.has(key);
      const made = await previews.get(key);
      if (made) return made;
      if (wasDrawing || drawing.has(key)) return "drawing";
      drawing.add(key);
      void draw()
        .then((preview) => preview && previews.put(key, preview))
        .finally(() => drawing.delete(key))
        // What failed is told by `draw`; a preview that could not be kept is drawn again.
        .catch(() => {});
      return "drawing";
    },
  };
}

/** Templates and consents may change meanwhile. */
const CHECK_KEPT_MS = 30 * SECOND_MS;
const MAX_CHECKS_KEPT = 50;

function checkMemo(): Pick<ListStore, "check" | "checked"> {
  const kept = new Map<string, { until: number; outcome: Promise<unknown> }>();
  const keyOf = ({ id, version = 0 }: Draft) => `${id} ${version}`;
  const check: ListStore["check"] = (draft, now, work) => {
    const [key, outcome] = [keyOf(draft), work()];
    kept.delete(key);
    kept.set(key, { until: now + CHECK_KEPT_MS, outcome });
    for (const [oldest, { until }] of kept)
      if (until <= now || kept.size > MAX_CHECKS_KEPT) kept.delete(oldest);
    outcome.catch(() => kept.delete(key));
    return outcome;
  };
  return {
    check,
    checked: <T>(draft: Draft, now: number, work: () => Promise<T>) => {
      const known = kept.get(keyOf(draft));
      return known && known.until > now ? (known.outcome as Promise<T>) : check(draft, now, work);
    },
  };
}
