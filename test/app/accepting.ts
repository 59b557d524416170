import { acceptImage } from "../../src/app/accept-image.ts";
import { fetchGate } from "../../src/app/fetch-gate.ts";
import { type QueueEstimate, queueEstimate } from "../../src/app/queue-estimate.ts";
import type { Workspace } from "../../src/deps.ts";
import type { SourceFetcher } from "../../src/sources/fetch-source.ts";
import { findAccount } from "../../src/store/accounts.ts";
import { imageRequest } from "../harness.ts";

const PHOTO = { sha256: "a".repeat(64), path: "", width: 1, height: 1, format: "png" as const, bytes: 1 };
/** The outside world: every photo is there at once. */
export const readySources = {
  fetchPhoto: async () => PHOTO,
  fetchBadge: async () => PHOTO,
} as unknown as SourceFetcher;

/** More workers than any test keeps busy. */
const AMPLE: QueueEstimate = queueEstimate({ workers: 1e6 });

let keys = 0;

/** Accepts one live image for an account, as POST /v1/images does, and returns its id. */
export async function acceptLive(
  workspace: Workspace,
  accountId: string,
  parts: {
    queue?: QueueEstimate;
    sources?: SourceFetcher;
    environment?: "live" | "test";
    preset?: string;
  } = {},
): Promise<string> {
  const { queue = AMPLE, sources = readySources, environment = "live", preset = "club_card" } = parts;
  const account = await findAccount(workspace.store.read, accountId);
  if (!account) throw new Error(`no account ${accountId}`);
  const accept = acceptImage({ ...workspace, sources, queue, gate: fetchGate(), wake: () => {} });
  const { answer } = await accept({
    account,
    environment,
    idempotencyKey: `accept-${++keys}`,
    request: imageRequest({ style: { preset } }),
  });
  return answer.image_id;
}
