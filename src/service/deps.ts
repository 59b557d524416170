import { type AcceptedBatch, acceptBatch, type BatchCommand } from "../app/batches/accept-batch.ts";
import { listReader, type ReadSquadList } from "../app/batches/list-reader.ts";
import { type RemadeBatch, type RemakeCommand, remakeCards } from "../app/batches/remake-cards.ts";
import { type AcceptImage, acceptImage } from "../app/images/accept-image.ts";
import { type FetchGate, fetchGate } from "../app/images/fetch-gate.ts";
import { type OnDemandCard, onDemandCard } from "../app/images/on-demand.ts";
import { type ProgressTracker, progressTracker } from "../app/images/progress.ts";
import { type QueueEstimate, queueEstimate } from "../app/images/queue-estimate.ts";
import { uploadBytes } from "../app/images/upload-photo.ts";
import { type RequestLog, requestLog } from "../app/operations/request-log.ts";
import { type PasswordResets, passwordResets } from "../app/people/password-resets.ts";
import type { Press } from "../app/print/cmyk-process.ts";
import type { Environment } from "../core/account.ts";
import { uploadAt } from "../core/own-photos.ts";
import { samplePhotoAt } from "../core/sample-photo.ts";
import { type RateLimiter, rateLimiter } from "../http/rate-limit.ts";
import { OWN_RELEASE, type Release } from "../release.ts";
import type { RenderPool } from "../render/pool.ts";
import { createSourceFetcher, type SourceFetcher, type SourceRequest } from "../sources/fetch-source.ts";
import { SAMPLE_PHOTOS } from "../sources/sample-photo.ts";
import { pressOf } from "./press.ts";
import { listReaderCommand } from "./system.ts";
import type { Workspace } from "./workspace.ts";

/** The dependencies of the use cases and edges, wired once. Nothing here runs by itself. */
export interface Deps extends Workspace {
  pool: RenderPool;
  sources: SourceFetcher;
  /** Bounds concurrent photo fetches. */
  gate: FetchGate;
  queue: QueueEstimate;
  progress: ProgressTracker;
  limiter: RateLimiter;
  requests: RequestLog;
  accept: AcceptImage;
  acceptBatch: (command: BatchCommand) => Promise<AcceptedBatch>;
  onDemand: OnDemandCard;
  remakeCards: (command: RemakeCommand) => Promise<RemadeBatch>;
  readSquadList: ReadSquadList;
  /** The press for print files in CMYK, where the operator named its profile. */
  press: Press | undefined;
  passwordResets: PasswordResets;
  release: Release;
}

export interface DepsOptions {
  pool: RenderPool;
  /** Where photos and badges come from; HTTP when absent. */
  sources?: SourceFetcher;
  /** Sized for the configured number of workers when absent. */
  queue?: QueueEstimate;
  /** Called once an image is accepted. A hint: polling finds the work as well. */
  wake?: (environment: Environment) => void;
  /** The same for batches, whose photos must be fetched first. */
  wakeBatches?: (environment: Environment) => void;
  /** Another release than this program's, for tests. */
  release?: Release;
}

/** Wires the service together, in dependency order. A plain object, no container. */
export function buildDeps<W extends Workspace>(workspace: W, options: DepsOptions): W & Deps {
  const { pool, sources = sourcesOverHttp(workspace), wake = () => {}, wakeBatches = () => {} } = options;
  const { release = OWN_RELEASE } = options;
  const { nodes, config } = workspace;
  const { queue = queueEstimate({ workers: config.renderWorkers, others: nodes.others }) } = options;
  const gate = fetchGate();
  const progress = progressTracker();
  const limiter = rateLimiter(workspace);
  const requests = requestLog(workspace);
  const accept = acceptImage({ ...workspace, sources, gate, queue, wake });
  const batches = { ...workspace, queue, wakeBatches };
  return {
    ...workspace,
    pool,
    sources,
    gate,
    queue,
    progress,
    passwordResets: passwordResets(workspace),
    limiter,
    requests,
    accept,
    acceptBatch: (command) => acceptBatch(batches, command),
    onDemand: onDemandCard({ ...workspace, accept }),
    remakeCards: (command) => remakeCards(batches, command),
    readSquadList: listReader({ command: listReaderCommand(), log: workspace.log }),
    press: pressOf(config.printProfile),
    release,
  };
}

function sourcesOverHttp(workspace: Workspace): SourceFetcher {
  const { config, blobs, outbound } = workspace;
  const { resolve, ca } = outbound;
  return createSourceFetcher({
    ...(resolve && { resolve }),
    ...(ca !== undefined && { ca }),
    blobs,
    allowedOrigins: config.sourceAllowedOrigins,
    docsUrl: `${config.baseUrl}/docs`,
    ownPhotoAt: (url, request) => ownPhoto(workspace, url, request),
  });
}

/** Reads a URL of this very service: a sample photo, or one of the requester's uploads. */
async function ownPhoto(workspace: Workspace, url: string, request: SourceRequest) {
  const sample = samplePhotoAt(url, workspace.config);
  if (sample) return Bun.file(SAMPLE_PHOTOS[sample].path).bytes();
  const id = uploadAt(url, workspace.config);
  if (id === undefined) return undefined;
  const { account: accountId, environment } = request;
  return accountId === undefined || environment === undefined
    ? null
    : uploadBytes(workspace, { accountId, environment, id });
}
