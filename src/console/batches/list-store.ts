import PQueue from "p-queue";
import type { NamedPhoto } from "../../app/batches/match-photos.ts";
import type { CardStyle, Mapping } from "../../app/batches/squad-cards.ts";
import type { SquadList } from "../../app/batches/squad-list.ts";
import { Refusal } from "../../core/errors.ts";
import {
  LIST_KEPT_MS,
  MAX_LIST_PREVIEWS_KEPT,
  MAX_LIST_PREVIEWS_PER_DAY,
  MAX_LISTS_KEPT,
  MAX_LISTS_PER_ACCOUNT,
  MAX_LISTS_PER_PERSON,
} from "../../core/list-limits.ts";
import { DAY_MS, SECOND_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { PageError } from "../page-error.ts";

/** Accounts that have previews drawn on one day. */
const MAX_COUNTED_ACCOUNTS = 10_000;

/** Whose lists. */
interface ListOwner {
  account: { id: string };
  user: { id: string };
  now: number;
}

/** Whose list, and which one the address names. */
interface ListVisit extends ListOwner {
  params: Record<string, string | undefined>;
}

const SLOTS = Array.from({ length: MAX_LISTS_PER_PERSON }, (_, slot) => slot);
const SHARES = Array.from({ length: MAX_LISTS_PER_ACCOUNT }, (_, share) => share);
const slotOf = (id = "") => /-(\d)$/.exec(id)?.[1] ?? "";

/** A squad list between upload and batch. */
export interface Draft {
  id: string;
  /** The batch's name, initially the file's. */
  name: string;
  list: SquadList;
  mapping: Mapping;
  style: CardStyle;
  /** The id of the brand kit whose look was filled in last. */
  kit?: string;
  /** The set that its cards belong to, which never changes. */
  set?: CardSet | undefined;
  /** Photos sent along, in the order they came. */
  photos?: DraftPhoto[];
  /** The positions that were said to be meant by words of the list, by the words. */
  positions?: Readonly<Record<string, string>>;
  /** How often it was changed. */
  version?: number;
  /** The last batch of test cards that was made of it, and of which version of it. */
  tried?: { batch: string; version: number };
  /** Which of its account's places it holds. */
  share?: number;
  /** When it was last changed, epoch ms: it is kept for LIST_KEPT_MS from then. */
  changedAt: number;
}

/** Whether test cards were made of the list as it is. */
export const isTried = ({ tried, version = 0 }: Draft): boolean => tried?.version === version;

/** A photo sent along with a list, kept as one of the account's uploads. */
export interface DraftPhoto extends NamedPhoto {
  id: string;
  sha256: string;
  /** Where in it the player's face is, of several people's. */
  focus?: { x: number; y: number };
}

/**
 * A previewed card: a WebP picture in base64, or why there is none. `refused`: the card would be refused for
 * its photo, too; `severalPeople`: since nobody stands out in it.
 */
export type Preview = { picture: string } | { problem: string; refused?: true; severalPeople?: true };

/**
 * Uploaded lists waiting to be ordered, in short-lived state only: a user who changes their mind leaves
 * nothing behind.
 */
export interface ListStore {
  /**
   * Keeps an uploaded list beside this person's others, under an id that begins with `draft.id`. Where as
   * many wait as may, of this person, the account or everybody, it replaces this person's oldest list of
   * which test cards were made. Throws INVALID_REQUEST where there is none: nobody else's list goes for it.
   */
  put(visit: ListOwner, draft: Omit<Draft, "changedAt">): Promise<{ draft: Draft; replaced?: Draft }>;
  /** Notes that test cards were made of the list in the URL, which stays; nothing where it is gone. */
  noteTried(visit: ListVisit, tried: NonNullable<Draft["tried"]>): Promise<void>;
  /** This person's lists, the one that was changed last first. */
  all(visit: ListOwner): Promise<Draft[]>;
  /** The list in the URL. Throws 404. */
  get(visit: ListVisit): Promise<Draft>;
  /** Changes the list in the URL, one change after the other; returns it as it is then. Throws 404. */
  change(visit: ListVisit, change: (draft: Draft) => Draft | Promise<Draft>): Promise<Draft>;
  /** Drops the list in the URL; nothing where another one has taken its place since. */
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

const FULL = {
  service: `This service holds ${MAX_LISTS_KEPT} squad lists that wait, as many as it can. Finish or discard one of yours under Squads, or upload this one later: each is let go of four hours after its last change.`,
  account: `The members of your account have ${MAX_LISTS_PER_ACCOUNT} squad lists that wait. Ask them to finish or discard one under Squads, or upload this one later: each is let go of four hours after its last change.`,
  person: `You have ${MAX_LISTS_PER_PERSON} squad lists that wait. Continue or discard one of them under Squads, then upload this one.`,
};

/**
 * The numbered places of each person, and those of each account. A list's id ends with its person's place:
 * each free one is taken by one alone, also where several servers share the state.
 */
function listPlaces(state: ShortLivedState) {
  const drafts = state.values<Draft>("squad lists", { forMs: LIST_KEPT_MS, maxKeys: MAX_LISTS_KEPT });
  // An account's places are kept as long as the lists in them.
  const shares = state.values<true>("squad lists of accounts", {
    forMs: LIST_KEPT_MS,
    maxKeys: 2 * MAX_LISTS_KEPT,
  });
  const slotKey = ({ account, user }: ListOwner, slot: string | number) => `${account.id} ${user.id} ${slot}`;
  const shareKey = ({ account }: ListOwner, share: number) => `${account.id} ${share}`;
  return {
    at: (visit: ListOwner, slot: string | number) => drafts.get(slotKey(visit, slot)),
    keep: async (visit: ListOwner, draft: Draft): Promise<Draft> => {
      await drafts.put(slotKey(visit, slotOf(draft.id)), draft);
      if (draft.share !== undefined) await shares.put(shareKey(visit, draft.share), true);
      return draft;
    },
    free: async (visit: ListOwner, { id, share }: Draft): Promise<void> => {
      await drafts.take(slotKey(visit, slotOf(id)));
      if (share !== undefined) await shares.take(shareKey(visit, share));
    },
    /** Keeps it in a free place, or says of what there is none. */
    putInFree: async (
      visit: ListOwner,
      draft: Omit<Draft, "changedAt">,
    ): Promise<Draft | keyof typeof FULL> => {
      if ((await drafts.size()) >= MAX_LISTS_KEPT) return "service";
      for (const share of SHARES) {
        if (!(await shares.putNew(shareKey(visit, share), true))) continue;
        for (const slot of SLOTS) {
          const placed = { ...draft, id: `${draft.id}-${slot}`, share, changedAt: visit.now };
          if (await drafts.putNew(slotKey(visit, slot), placed)) return placed;
        }
        await shares.take(shareKey(visit, share));
        return "person";
      }
      return "account";
    },
  };
}

export function listStore(state: ShortLivedState): ListStore {
  const places = listPlaces(state);
  // Photos arrive while others are being stored.
  const changing = new PQueue({ concurrency: 1 });
  const find = async (visit: ListVisit) => {
    const { id } = visit.params;
    const draft = await places.at(visit, slotOf(id));
    return draft?.id === id ? draft : undefined;
  };
  const get = async (visit: ListVisit) => {
    const draft = await find(visit);
    if (draft) return draft;
    throw new PageError(
      404,
      "This squad list is not kept any more: its cards were made, it was discarded, gave way to another list, or waited four hours without a change. Upload it again under Squads.",
    );
  };
  const all = async (visit: ListOwner) => {
    const kept = await Promise.all(SLOTS.map((slot) => places.at(visit, slot)));
    return kept.filter((draft) => draft !== undefined).sort((a, b) => b.changedAt - a.changedAt);
  };
  return {
    put: (visit, draft) =>
      changing.add(async () => {
        const placed = await places.putInFree(visit, draft);
        if (typeof placed === "object") return { draft: placed };
        const replaced = (await all(visit)).findLast(isTried);
        if (!replaced) throw new Refusal("INVALID_REQUEST", FULL[placed]);
        const { share } = replaced;
        const place = { id: `${draft.id}-${slotOf(replaced.id)}`, ...(share !== undefined && { share }) };
        return { draft: await places.keep(visit, { ...draft, ...place, changedAt: visit.now }), replaced };
      }),
    all,
    get,
    change: (visit, change) =>
      changing.add(async () => {
        const before = await get(visit);
        const version = (before.version ?? 0) + 1;
        return places.keep(visit, { ...(await change(before)), version, changedAt: visit.now });
      }),
    noteTried: (visit, tried) =>
      changing.add(async () => {
        const kept = await find(visit);
        if (kept) await places.keep(visit, { ...kept, tried, changedAt: visit.now });
      }),
    ...checkMemo(),
    drop: (visit) =>
      changing.add(async () => {
        const kept = await find(visit);
        if (kept) await places.free(visit, kept);
      }),
    ...previewStore(state),
  };
}

function previewStore(state: ShortLivedState): Pick<ListStore, "preview" | "mayPreview" | "drawnPreview"> {
  const previews = state.values<Preview>("card previews", {
    forMs: LIST_KEPT_MS,
    maxKeys: MAX_LIST_PREVIEWS_KEPT,
  });
  const drawn = state.counters("card previews of a day", { forMs: DAY_MS, maxKeys: MAX_COUNTED_ACCOUNTS });
  const drawing = new Set<string>();
  return {
    preview: (key) => previews.get(key),
    mayPreview: async (accountId) => (await drawn.add(accountId, 1)) <= MAX_LIST_PREVIEWS_PER_DAY,
    drawnPreview: async (key, draw) => {
      // Before the look, since a server that draws puts the preview there first and is gone then.
      const wasDrawing = drawing.has(key);
      const made = await previews.get(key);
      if (made) return made;
      if (wasDrawing || drawing.has(key)) return "drawing";
      drawing.add(key);
      void draw()
        .then((preview) => preview && previews.put(key, preview))
        .finally(() => drawing.delete(key))
        // `draw` says what failed; a preview that could not be kept is drawn again.
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
