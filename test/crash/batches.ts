import { get, imageRequest } from "../harness.ts";
import type { Bench } from "./bench.ts";

/** In a photo's address: the batch before whose cancellation it is not served. */
export const AFTER_CANCELING = "after_canceling";

/** A batch and what the partner knows of it. */
export interface PromisedBatch {
  key: string;
  body: string;
  total: number;
  /** Whether the partner wants it canceled as soon as it is accepted. */
  isUnwanted: boolean;
  /** Undefined while the partner does not know whether it was accepted. */
  batchId?: string;
  /** The cancellation was answered. */
  canceled?: boolean;
}

/**
 * Two of each cycle: one that is wanted, and one that is canceled. A photo of each cannot be fetched, and the
 * last of those that are canceled comes afterwards, so that there is always a card left to end.
 */
export function freshBatches(cycle: number, photoOrigin: string): PromisedBatch[] {
  const batch = (key: string, photos: string[]): PromisedBatch => ({
    key,
    total: photos.length,
    isUnwanted: key.endsWith("unwanted"),
    body: JSON.stringify({
      cards: photos.map((photo, n) =>
        imageRequest({
          player: { external_id: `${key}-${n}`, source_image_url: `${photoOrigin}/${photo}` },
          style: { width: 512, height: 512 },
        }),
      ),
    }),
  });
  return [
    batch(`b${cycle}`, ["astronaut.png", "missing.png"]),
    batch(`b${cycle}-unwanted`, [
      "missing.png",
      "astronaut.png",
      `astronaut.png?${AFTER_CANCELING}=b${cycle}-unwanted`,
    ]),
  ];
}

/**
 * Sends a batch, and cancels it when it is not wanted; what was promised before must be the same batch again.
 */
export async function sendBatch(bench: Bench, address: string, promise: PromisedBatch): Promise<void> {
  const answer = await ask(bench, `${address}/v1/batches`, {
    method: "POST",
    body: promise.body,
    headers: { "Content-Type": "application/json", "Idempotency-Key": promise.key },
  });
  if (answer === undefined) return;
  const { status, text } = answer;
  if (status !== 202) {
    if (status !== 503) bench.figures.problems.push(`${promise.key} was answered ${status}: ${text}`);
    return;
  }
  const { batch_id, images } = JSON.parse(text).data;
  if (images.length !== promise.total)
    bench.figures.problems.push(`${promise.key} has ${images.length} cards of ${promise.total}`);
  if (promise.batchId === undefined) {
    promise.batchId = batch_id;
    bench.figures.accepted += promise.total;
  } else if (promise.batchId === batch_id) bench.figures.replayed += 1;
  else bench.figures.problems.push(`${promise.key} was replayed as another batch: ${text}`);
  if (!promise.isUnwanted || promise.canceled) return;
  const canceling = await ask(bench, `${address}/v1/batches/${batch_id}`, { method: "DELETE" });
  if (canceling === undefined) return;
  if (canceling.status !== 200)
    bench.figures.problems.push(
      `canceling ${promise.key} was answered ${canceling.status}: ${canceling.text}`,
    );
  promise.canceled = true;
}

/** Undefined when the crash came first: the partner does not know, and asks again after the restart. */
async function ask(
  bench: Bench,
  url: string,
  init: RequestInit,
): Promise<{ status: number; text: string } | undefined> {
  try {
    const headers = { ...(init.headers as Record<string, string>), "X-API-Key": bench.keys.live };
    const response = await fetch(url, { ...init, headers });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

/** Looks for a batch's end, and for a picture of each completed card. */
export async function checkBatch(bench: Bench, address: string, promise: PromisedBatch): Promise<void> {
  const { figures } = bench;
  const failure = (what: string) => figures.problems.push(`${promise.key} ${promise.batchId} ${what}`);
  const response = await get(address, bench.keys.live, `/v1/batches/${promise.batchId}`);
  const { data } = (await response.json()) as { data: BatchAnswer | null };
  if (!data?.completed_at) {
    figures.lost += promise.total;
    failure(`was promised and is ${data === null ? "gone" : JSON.stringify(data)}`);
    return;
  }
  figures.completed += data.completed;
  figures.failed += data.failed;
  if (data.completed + data.failed !== promise.total) failure(`counts ${JSON.stringify(data)}`);
  if (data.status === "canceled" && !promise.isUnwanted) failure("is canceled, and nobody asked for it");
  if (data.status === "canceled" && data.completed < promise.total - 1) figures.canceled += 1;
  for (const { image_id, status, image_url } of data.images)
    if (status === "completed" && (await fetch(image_url)).status !== 200)
      failure(`has the completed ${image_id} without its picture`);
}

interface BatchAnswer {
  status: string;
  completed: number;
  failed: number;
  completed_at: string | null;
  images: { image_id: string; status: string; image_url: string }[];
}
