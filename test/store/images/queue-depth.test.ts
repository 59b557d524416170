import { expect, test } from "bun:test";
import { MAX_COUNTED } from "../../../src/store/images/image-reads.ts";
import { queueDepth } from "../../../src/store/images/queue-depth.ts";
import { acceptLive } from "../../app/accepting.ts";
import { testAccount, testWorkspace } from "../../harness.ts";

test("a queue is counted up to a bound, and the image that has waited longest is found in a long one", async () => {
  const workspace = await testWorkspace();
  const { store, clock } = workspace;
  try {
    expect(await queueDepth(store.read, "live")).toEqual({ queued: 0, rendering: 0, oldestQueuedAt: null });
    const { account } = await testAccount(workspace);
    const firstAt = clock.now();
    await acceptLive(workspace, account.id);
    expect(await queueDepth(store.read, "live")).toEqual({
      queued: 1,
      rendering: 0,
      oldestQueuedAt: firstAt,
    });
    await store.write("test", async ({ db, t }) => {
      const [image] = await db.select().from(t.images);
      if (!image) throw new Error("nothing was accepted");
      // Another account's long queue, which came later and has as low turns.
      for (let at = 0; at <= MAX_COUNTED; at += 500) {
        const later = Array.from({ length: 500 }, (_, n) => ({
          ...image,
          id: `${image.id}-${at + n}`,
          turn: at + n,
          createdAt: firstAt + 1 + at + n,
        }));
        await db.insert(t.images).values(later);
      }
    });
    expect(await queueDepth(store.read, "live")).toEqual({
      queued: MAX_COUNTED,
      rendering: 0,
      oldestQueuedAt: firstAt,
    });
    expect(await queueDepth(store.read, "test")).toEqual({ queued: 0, rendering: 0, oldestQueuedAt: null });
  } finally {
    await workspace.close();
  }
});
