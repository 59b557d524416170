import {
  MAX_FETCH_WAIT_MS,
  MAX_SOURCE_FETCHES,
  MAX_SOURCE_FETCHES_PER_ACCOUNT,
  MAX_WAITING_FETCHES_PER_ACCOUNT,
  PROMPT_FETCH_MS,
  SOURCE_FETCHES_KEPT_FREE,
} from "../../core/outbound-limits.ts";
import { noFetchSlot } from "../../core/partner-refusals.ts";

/** Bounds how many photos and badges are fetched at once, and shares the slots fairly between accounts. */
export interface FetchGate {
  /** Runs one fetch once the account gets a slot. Throws SERVICE_OVERLOADED when that takes too long. */
  run<T>(accountId: string, fetch: () => Promise<T>): Promise<T>;
  /** Refuses everyone waiting and everyone who comes later: the service is stopping. */
  close(): void;
}

const LIMITS = {
  places: MAX_SOURCE_FETCHES,
  placesPerAccount: MAX_SOURCE_FETCHES_PER_ACCOUNT,
  reservedSlots: SOURCE_FETCHES_KEPT_FREE,
  waitingPerAccount: MAX_WAITING_FETCHES_PER_ACCOUNT,
  waitMs: MAX_FETCH_WAIT_MS,
  promptMs: PROMPT_FETCH_MS,
};

interface Fetch {
  startedAt: number;
  /** Once this fetch counts as slow, others may start. */
  timer: Timer;
}

/** Of each account that has fetched since the start. */
interface AccountLoad {
  inFlight: Set<Fetch>;
  /** How many fetches not yet slow may run: one after a slow fetch, one more after each prompt one. */
  window: number;
  /** First come, first served. */
  waiting: Set<() => void>;
}

interface Places {
  hasPlace(load: AccountLoad): boolean;
  take(load: AccountLoad): Fetch;
  giveBack(load: AccountLoad, fetch: Fetch): void;
}

/**
 * An account with slow hosts gets two slots, one of them for a fetch that is already slow: one hanging host
 * does not block its other creates, and several do not take everybody's slots. Some slots are reserved for
 * accounts that hold none. `onRoom` is called whenever a slot may have become free.
 */
function fetchPlaces(limits: typeof LIMITS, now: () => number, onRoom: () => void): Places {
  let free = limits.places;
  const isSlow = (fetch: Fetch) => now() - fetch.startedAt >= limits.promptMs;
  return {
    hasPlace: ({ inFlight, window }) => {
      if (inFlight.size === 0) return free > 0;
      const slow = [...inFlight].filter(isSlow).length;
      const isWithin = inFlight.size < Math.min(window + 1, limits.placesPerAccount);
      return free > limits.reservedSlots && isWithin && inFlight.size - slow < (slow > 0 ? 1 : window);
    },
    take: ({ inFlight }) => {
      const fetch = { startedAt: now(), timer: setTimeout(onRoom, limits.promptMs) };
      free -= 1;
      inFlight.add(fetch);
      return fetch;
    },
    giveBack: (load, fetch) => {
      clearTimeout(fetch.timer);
      free += 1;
      load.inFlight.delete(fetch);
      load.window = isSlow(fetch) ? 1 : Math.min(load.window + 1, limits.placesPerAccount);
      onRoom();
    },
  };
}

/** `now`: monotonic milliseconds. */
export function fetchGate(limits = LIMITS, now = () => performance.now()): FetchGate {
  // Accounts in the order they are served; each goes to the end after its turn.
  const loads = new Map<string, AccountLoad>();
  const refuseAll = new Set<(why: "stopping") => void>();
  let closed = false;

  const loadOf = (accountId: string): AccountLoad => {
    const known = loads.get(accountId);
    if (known) return known;
    const fresh = { inFlight: new Set<never>(), window: limits.placesPerAccount, waiting: new Set<never>() };
    loads.set(accountId, fresh);
    return fresh;
  };
  const admitNext = (): boolean => {
    for (const load of loads.values()) {
      const [admit] = load.waiting;
      if (!admit || !places.hasPlace(load)) continue;
      admit();
      return true;
    }
    return false;
  };
  const places = fetchPlaces(limits, now, () => {
    while (admitNext()) {}
  });
  const take = (accountId: string, load: AccountLoad) => {
    loads.delete(accountId);
    loads.set(accountId, load);
    return places.take(load);
  };

  /** Resolves once a slot is taken. */
  const wait = (accountId: string, load: AccountLoad) =>
    new Promise<Fetch>((resolve, reject) => {
      const { waiting } = load;
      if (waiting.size >= limits.waitingPerAccount) return reject(noFetchSlot("account"));
      const stopWaiting = () => {
        clearTimeout(timer);
        refuseAll.delete(refuse);
        waiting.delete(admit);
      };
      const admit = () => {
        stopWaiting();
        resolve(take(accountId, load));
      };
      const refuse = (why: "busy" | "stopping") => {
        stopWaiting();
        reject(noFetchSlot(why));
      };
      const timer = setTimeout(refuse, limits.waitMs, "busy");
      refuseAll.add(refuse);
      waiting.add(admit);
    });

  return {
    run: async (accountId, fetch) => {
      if (closed) throw noFetchSlot("stopping");
      const load = loadOf(accountId);
      const place = places.hasPlace(load) ? take(accountId, load) : await wait(accountId, load);
      try {
        return await fetch();
      } finally {
        places.giveBack(load, place);
      }
    },
    close: () => {
      closed = true;
      for (const refuse of [...refuseAll]) refuse("stopping");
    },
  };
}
