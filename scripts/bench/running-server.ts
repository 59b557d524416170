import { join } from "node:path";
import type { ReadsServerReport } from "./reads-server.ts";

/** A server of reads-server.ts in a process of its own. */
export interface RunningServer {
  port: number;
  report(): Promise<ReadsServerReport>;
  stop(): Promise<void>;
}

export interface ServerPlace {
  /** Its data folder, which also gets its log. */
  dir: string;
  /** The origin it may fetch photos from. */
  photos: string;
  /** CARDPRESS_... variables. */
  settings?: Record<string, string>;
}

/** Starts one; resolves when it listens. */
export async function startServer(
  kind: "bare" | "cardpress",
  { dir, photos, settings = {} }: ServerPlace,
): Promise<RunningServer> {
  let reported = Promise.withResolvers<ReadsServerReport>();
  const program = join(import.meta.dir, "reads-server.ts");
  const child = Bun.spawn({
    cmd: [process.execPath, program, kind, dir, photos, JSON.stringify(settings)],
    // A log that is actually written.
    stdout: Bun.file(join(dir, `${kind}.log`)),
    stderr: "inherit",
    ipc: (report: ReadsServerReport) => reported.resolve(report),
    onExit: () => reported.reject(new Error(`the ${kind} server ended`)),
  });
  const { port } = await reported.promise;
  return {
    port,
    report: () => {
      reported = Promise.withResolvers<ReadsServerReport>();
      child.send("report");
      return reported.promise;
    },
    stop: async () => {
      reported.promise.catch(() => {});
      child.kill();
      await child.exited;
    },
  };
}
