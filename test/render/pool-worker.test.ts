import { afterAll, expect, test } from "bun:test";
import { createRenderPool, RenderFault } from "../../src/render/pool.ts";
import type { PreviewJob, RendererOptions, RenderJob } from "../../src/render/protocol.ts";
import { seededRandom, silentLog, testFolder } from "../harness.ts";

const folder = testFolder();
afterAll(() => folder.remove());

/** Draws nothing: it says of a render that it printed, and refuses previews by its own id. */
const CONFUSED = `process.on("message", ({ type, job }) => {
  const { jobId } = job ?? {};
  if (type === "start") process.send({ type: "ready" });
  else if (type === "preview")
    process.send({ type: "refused", jobId, message: String(process.pid), reason: "provider" });
  else process.send({ type: "printed", jobId });
});`;

test("an answer to another question is a fault of the worker, which is replaced, and no refusal of the photo", async () => {
  const pool = createRenderPool({
    workers: 1,
    command: [process.execPath, "-e", CONFUSED],
    renderer: { profilesDir: folder.dir } as RendererOptions,
    random: seededRandom(),
    log: silentLog,
  });
  const idOfWorker = async () => {
    const worker = await pool.acquire();
    const outcome = await worker.preview({ jobId: "preview" } as PreviewJob);
    worker.release();
    return outcome.kind === "refused" ? outcome.message : undefined;
  };
  const first = await idOfWorker();
  const worker = await pool.acquire();
  const wrong = worker.render({ jobId: "render" } as RenderJob, () => {});
  await expect(wrong).rejects.toBeInstanceOf(RenderFault);
  worker.release();
  const second = await idOfWorker();
  expect([first, second]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
  expect(second).not.toBe(first as string);
  await pool.close();
});
