import type { Store } from "../store.ts";

/**
 * Remembers what `read` found by its key until anything at all is committed, by this process or another: what
 * it tells is never older than a read would be. Remembers at most `maxKeys` finds, and no key that nothing
 * was found by. Where the engine cannot tell whether something was committed, it reads each time.
 */
export function whileUnchanged<Found>(
  store: Pick<Store, "version">,
  read: (key: string) => Promise<Found | undefined>,
  maxKeys: number,
): (key: string) => Promise<Found | undefined> {
  const known = new Map<string, Found>();
  let knownAt: number | null = null;
  return async (key) => {
    // Before the read: a commit in between makes what is remembered too new for this version, never too old.
    const version = store.version();
    if (version === null) return read(key);
    if (version !== knownAt) {
      known.clear();
      knownAt = version;
    }
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const found = await read(key);
    if (found !== undefined && version === knownAt && known.size < maxKeys) known.set(key, found);
    return found;
  };
}
