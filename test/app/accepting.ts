import type { QueueEstimate } from "../../src/app/images/queue-estimate.ts";
import type { AskedComposition, ImageFormat } from "../../src/core/card.ts";
import { buildDeps } from "../../src/service/deps.ts";
import type { Workspace } from "../../src/service/workspace.ts";
import type { SourceFetcher } from "../../src/sources/fetch-source.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { ampleQueue, idlePool, readySources } from "../fakes.ts";
import { imageRequest } from "../harness.ts";

let keys = 0;

/** Accepts one live image for an account, as POST /v1/images does, and returns its id. */
export async function acceptLive(
  workspace: Workspace,
  accountId: string,
  deps: {
    queue?: QueueEstimate;
    sources?: SourceFetcher;
    environment?: "live" | "test";
    preset?: string;
    composition?: AskedComposition;
    /** Both sides. */
    back?: boolean;
    format?: ImageFormat;
    /** The player's name; each such card then gets its own external id. */
    name?: string;
  } = {},
): Promise<string> {
  const { queue = ampleQueue(), sources = readySources, environment = "live", preset = "club_card" } = deps;
  const player = deps.name === undefined ? {} : { name: deps.name, external_id: `player-${keys}` };
  const style = {
    ...(deps.composition === undefined ? {} : { composition: deps.composition }),
    ...(deps.format === undefined ? {} : { format: deps.format }),
    ...(deps.back === undefined ? {} : { back: deps.back }),
  };
  const account = await findAccount(workspace.store.read, accountId);
  if (!account) throw new Error(`no account ${accountId}`);
  const { accept } = buildDeps(workspace, { pool: idlePool, sources, queue });
  const { answer } = await accept({
    account,
    environment,
    idempotencyKey: `accept-${++keys}`,
    request: imageRequest({ style: { preset, ...style }, player }),
  });
  return answer.image_id;
}
