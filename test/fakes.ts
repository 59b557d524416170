import { queueEstimate } from "../src/app/images/queue-estimate.ts";
import { type Renderer, RenderInterrupted, type RenderPool } from "../src/render/pool.ts";
import type { RenderedFile, RenderJob } from "../src/render/protocol.ts";
import type { FetchedSource, SourceFetcher } from "../src/sources/fetch-source.ts";
import { writeWhole } from "../src/system/write-whole.ts";

// The outside world of the service as tests make it up. Each is the whole interface, so that none drifts from
// the real one.

/** A pool with one place, which is always free; its renderer does what the test says. */
export function poolOf(render: Renderer["render"]): RenderPool {
  return {
    acquire: async () => ({
      render,
      printDocument: async () => {
        throw new Error("nothing should have been printed");
      },
      release: () => {},
    }),
    health: () => ({ ready: 1, wanted: 1, takesWork: true }),
    memoryBytes: () => 0,
    pids: () => [],
    close: async () => {},
  };
}

/** For tests in which nothing is rendered. */
export const idlePool = poolOf(async () => {
  throw new Error("nothing should have been rendered");
});

/** A pool whose renderers are never free: what waits for one waits until its signal aborts. */
export const busyPool: RenderPool = {
  ...idlePool,
  acquire: (signal) =>
    new Promise((_, reject) => {
      const interrupt = () => reject(new RenderInterrupted("no renderer became free"));
      if (signal?.aborted) interrupt();
      signal?.addEventListener("abort", interrupt, { once: true });
    }),
};

/** What a renderer says of the picture it made. */
export const RENDERED: RenderedFile = {
  contentType: "image/png",
  width: 1,
  height: 1,
  bytes: 7,
  composition: "cutout",
  template: { version: "1.0.0", digest: "0".repeat(64) },
  timingsMs: {},
  receipt: { sha256: "1".repeat(64), tools: {}, framing: null, timingsMs: {} },
};

/** A renderer whose picture is seven bytes in a real file, written after `before`. */
export function picturesAfter(before: (job: RenderJob) => Promise<void>): Renderer["render"] {
  return async (job) => {
    await before(job);
    await writeWhole(job.outputPath, "picture");
    return { kind: "done", file: RENDERED };
  };
}

/** A photo that was fetched: of this hash, where the test says which. */
export function fetched(sha256 = "a".repeat(64)): FetchedSource {
  return { sha256, width: 1, height: 1, contentType: "image/png", bytes: 1 };
}

/** Every photo is there at once, and is this one. */
export function sourcesOf(photo: FetchedSource): SourceFetcher {
  return { fetchPhoto: async () => photo, fetchBadge: async () => photo, fetchPicture: async () => photo };
}

export const readySources = sourcesOf(fetched());

/** More workers than any test keeps busy; the queue's limit is tested separately. */
export const ampleQueue = () => queueEstimate({ workers: 1e6 });
