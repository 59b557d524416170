import { firstBatches } from "../../store/images/batches.ts";
import { duePublications, markPublished } from "../../store/images/publications.ts";
import type { AppContext } from "../context.ts";
import { recordEvents } from "../webhooks/webhook-events.ts";
import { imageView } from "./image-view.ts";

/** Images per transaction, so that requests never wait long for the writer. */
const BATCH = 200;

/**
 * Tells of the images whose time to be published has come, each of them once: what is shown follows the clock
 * by itself.
 */
export async function publishDue({ store, clock, random, config }: AppContext): Promise<void> {
  for (;;) {
    const due = await duePublications(store.read, { now: clock.now(), limit: BATCH });
    if (due.length === 0) return;
    await store.write(
      "publish",
      async (tx) => {
        const now = clock.now();
        const images = await markPublished(tx, due, now);
        const batchIds = await firstBatches(
          tx,
          images.map(({ id }) => id),
        );
        const events = images.map((image) => {
          const { id: subject, accountId, environment } = image;
          const answer = { ...image, batchId: batchIds.get(subject) ?? null };
          const data = imageView(answer, { config, progress: null });
          return { accountId, environment, type: "image.published" as const, subject, data };
        });
        if (events.length > 0) await recordEvents(tx, events, { now, random });
      },
      { concurrent: true },
    );
    if (due.length < BATCH) return;
  }
}
