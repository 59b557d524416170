import { getPriority } from "node:os";
import { OperatorError } from "../core/errors.ts";
import { hasProcessorShare, readIfThere } from "../system/machine-size.ts";
import { isFullDisk } from "../system/write-whole.ts";
import { lowerPriority, lowerSession, sessionNiceness } from "./browser/low-priority.ts";
import { CardRefused, type CardRenderer, openCardRenderer } from "./card-renderer.ts";
import { type FromWorker, parseToWorker, type ToWorker } from "./protocol.ts";

/** The largest niceness that Linux has. */
const LEAST_PRIORITY = 19;

/**
 * How far below the server's priority a worker runs, so that requests are answered quickly while every core
 * renders: by `own` points where the service has a share of the processor of its own, and by `shared` where
 * it has not. There, beside four busy loops on two cores, a worker with 3 points gets 60 % of what it got at
 * the server's priority, with 10 points 23 %, and a card of seconds became one of half a minute.
 */
export const WORKER_NICENESS = { own: 10, shared: 3 };

/**
 * The render worker's process: owns one Chromium, renders one card at a time, and exits with its parent. It
 * never opens the database. Run by the hidden command `render-worker`.
 */
export function runWorker(): void {
  let renderer: CardRenderer | undefined;

  process.on("message", async (raw) => {
    const message = parseToWorker(raw);
    if (!message) return end("the server sent a message this worker does not know");
    if (message.type !== "start") {
      if (renderer) await work(renderer, message);
      return;
    }
    try {
      // Chromium inherits the priority, so it is set before the browser starts.
      const lowerBrowser = message.options.normalPriority ? () => {} : yieldToServer();
      renderer = await openCardRenderer(message.options, {
        onStep: (step) => send({ type: "starting", step }),
        onBrowser: (pid) => {
          send({ type: "browser", pid });
          lowerBrowser(pid);
        },
        onProblem: (problem) => send({ type: "problem", message: problem }),
      });
      renderer.onBrowserLost(() => end("the browser ended"));
      send({ type: "ready" });
      if ((message.options.warms ?? "everything") === "everything") renderer.warmNetworks();
    } catch (error) {
      end(`the browser could not be started: ${describe(error)}`);
    }
  });
  // The server is gone, perhaps killed: nobody wants the result any more.
  process.on("disconnect", () => process.exit(0));
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
}

/**
 * Lowers this process below the server, which started it. Returns a function that does the same for the
 * session of a browser.
 */
function yieldToServer(): (browser: number) => void {
  const points = hasProcessorShare(readIfThere) ? WORKER_NICENESS.own : WORKER_NICENESS.shared;
  const lower = (niceness: number) => Math.min(LEAST_PRIORITY, niceness + points);
  lowerPriority(lower(getPriority()));
  // By the server's session: where it was started with `nice`, its process alone has that niceness, and a
  // session that has it too would get next to nothing beside others.
  const ofServer = sessionNiceness(process.ppid);
  if (ofServer === undefined) return () => {};
  const done = lowerSession(process.pid, lower(ofServer));
  return (browser) => void done.then(() => lowerSession(browser, lower(ofServer)));
}

async function work(renderer: CardRenderer, message: Exclude<ToWorker, { type: "start" }>): Promise<void> {
  const { jobId } = message.job;
  try {
    if (message.type === "render") {
      const file = await renderer.render(message.job, (stage) => send({ type: "stage", jobId, stage }));
      send({ type: "done", jobId, file });
    } else if (message.type === "preview") {
      send({ type: "previewed", jobId, preview: await renderer.previews.make(message.job) });
    } else if (message.type === "document") {
      await renderer.printDocument(message.job);
      send({ type: "printed", jobId });
    } else {
      send({ type: "supported", jobId, known: await renderer.previews.supports(message.job.declarations) });
    }
  } catch (error) {
    if (error instanceof CardRefused)
      send({ type: "refused", jobId, message: error.message, reason: error.reason });
    else send({ type: "fault", jobId, message: describe(error), storage: isFullDisk(error) });
  }
}

function send(message: FromWorker): void {
  process.send?.(message);
}

function end(reason: string): void {
  send({ type: "broken", message: reason });
  process.exit(1);
}

function describe(error: unknown): string {
  // Written for operators: where it was thrown tells them nothing.
  if (error instanceof OperatorError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
