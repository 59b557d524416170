import type { Environment } from "../../core/account.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { alreadyPublished, imageNotFound, invalidRequest } from "../../core/partner-refusals.ts";
import { publicationTime, requirePublicationTimes } from "../../core/publication.ts";
import { isoTime } from "../../core/time.ts";
import { firstBatches } from "../../store/images/batches.ts";
import { lockImages } from "../../store/images/forgotten-images.ts";
import { findImageAnswer, type ImageAnswer } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { duePublications, markPublished, setPublication } from "../../store/images/publications.ts";
import type { Account } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { recordEvents } from "../webhooks/webhook-events.ts";
import { imageView } from "./image-view.ts";

/** Images per transaction, so that requests never wait long for the writer. */
const BATCH = 200;

/**
 * Announces the images whose time to be published has come, each of them once: what is shown follows the
 * clock by itself.
 */
export async function publishDue(context: AppContext): Promise<void> {
  const { store, clock } = context;
  for (;;) {
    const due = await duePublications(store.read, { now: clock.now(), limit: BATCH });
    if (due.length === 0) return;
    await store.write("publish", (tx) => publish(tx, context, due), { concurrent: true });
    if (due.length < BATCH) return;
  }
}

/** Publishes those of these images whose time has come, and records the event of each. */
async function publish(tx: Tx, { clock, random, config }: AppContext, ids: string[]): Promise<void> {
  const now = clock.now();
  const images = await markPublished(tx, ids, now);
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
}

/**
 * Changes when an image is published; null or a time that has passed lifts it, so that a finished one is
 * published at once. Idempotent. Returns the image as it is then. Throws IMAGE_NOT_FOUND, and INVALID_REQUEST
 * for one that failed, and for putting off what is published.
 */
export async function changePublication(
  context: AppContext,
  { account, environment, id }: { account: Account; environment: Environment; id: string },
  asked: { publish_at: string | null },
): Promise<ImageAnswer> {
  const scope = { accountId: account.id, environment, id };
  const wish = asked.publish_at === null ? {} : { publish_at: asked.publish_at };
  return context.store.write(
    "change publication",
    async (tx) => {
      const now = context.clock.now();
      const at = publicationTime(wish, now);
      const known = await findImageAnswer(tx, scope);
      const [image] = known ? await lockImages(tx, [id]) : [];
      if (!image) throw imageNotFound();
      if (image.state === "failed") throw invalidRequest([FAILED]);
      const isPublished = image.completedAt !== null && (image.publishAt ?? 0) <= now;
      if (isPublished && at !== null) throw alreadyPublished();
      const made = image.completedAt ?? now;
      requirePublicationTimes([wish], { account, now, made, place: () => "" });
      if (!isPublished) await setPublication(tx, id, changed(image, at, now));
      await publish(tx, context, [id]);
      return (await findImageAnswer(tx, scope)) as ImageAnswer;
    },
    { concurrent: true },
  );
}

const FAILED = {
  field: "publish_at",
  message: "cannot be set: the image failed, and is never published. Make it again.",
};

function changed(image: Image, at: number | null, now: number) {
  const { publish_at: _, ...request } = storedRequest(image.request);
  // A card made again of this one is published with it.
  const own: CreateImageRequest = at === null ? request : { ...request, publish_at: isoTime(at) };
  if (image.completedAt === null) return { publishAt: at, expiresAt: null, request: own };
  // It was to be kept from its publication on.
  const publishAt = at ?? now;
  const laterMs = publishAt - (image.publishAt ?? publishAt);
  return { publishAt, expiresAt: (image.expiresAt ?? publishAt) + laterMs, request: own };
}
