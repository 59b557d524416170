import type { Bucket } from "./bucket.ts";

/** Why a bucket cannot be used: what was tried, and what the storage said. */
export interface BucketFault {
  doing: "reach" | "write" | "read" | "list" | "remove";
  error: Error;
}

/**
 * Writes, reads, lists and removes an object under `key`; undefined when all of it works. With `only` no more
 * is tried than that, since a key may have no right to the rest.
 */
export async function tryBucket(
  bucket: Bucket,
  key: string,
  only?: readonly BucketFault["doing"][],
): Promise<BucketFault | undefined> {
  const bytes = crypto.getRandomValues(new Uint8Array(64));
  const same = (found: Uint8Array | undefined) => {
    if (!found || Buffer.compare(found, bytes) !== 0) throw new Error("what was written was not read");
  };
  const steps: [BucketFault["doing"], () => Promise<unknown>][] = [
    ["reach", () => bucket.check()],
    ["write", () => bucket.put(key, bytes)],
    ["read", async () => same(await bucket.read(key))],
    [
      "list",
      async () => {
        for await (const found of bucket.list(key)) if (found.key === key) return;
        throw new Error("what was written was not listed");
      },
    ],
    [
      "remove",
      async () => {
        await bucket.remove(key);
        if (!only && (await bucket.head(key))) throw new Error("what was removed is still there");
      },
    ],
  ];
  for (const [doing, attempt] of steps) {
    if (only && !only.includes(doing)) continue;
    try {
      await attempt();
    } catch (error) {
      return { doing, error: error as Error };
    }
  }
  return undefined;
}
