import type { CmykAnswer, CmykPicture, CmykStart } from "./cmyk-worker.ts";

/** A process that turns pictures into the inks of a press, for as long as one print file takes. */
export interface CmykProcess {
  /** The profile's own name for itself. */
  name: string;
  /** A picture's file, of any format, in inks. One after the other: memory stays that of one picture. */
  convert(picture: Uint8Array): Promise<CmykPicture>;
  close(): void;
}

/**
 * Starts the process. The service goes on answering meanwhile, and the memory goes with it at the end.
 * @param command starts a process that runs cmyk-worker.ts
 */
export async function openCmyk({
  command,
  ...start
}: CmykStart & { command: readonly string[] }): Promise<CmykProcess> {
  let waiting: PromiseWithResolvers<CmykAnswer> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let ended: string | undefined;
  const child = Bun.spawn([...command], {
    ipc: (message: CmykAnswer) => waiting?.resolve(message),
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore"],
    // Neither settings nor secrets: it needs none.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
    onExit: (_, exitCode, signal) => {
      ended = `the process that converts colours ended (${signal ?? exitCode})`;
      waiting?.reject(new Error(ended));
    },
  });
  const askedOnce = async (message: CmykStart | Uint8Array): Promise<CmykAnswer> => {
    if (ended !== undefined) throw new Error(ended);
    waiting = Promise.withResolvers<CmykAnswer>();
    child.send(message);
    const answer = await waiting.promise;
    if ("failed" in answer) throw new Error(answer.failed);
    return answer;
  };
  const asked = (message: CmykStart | Uint8Array): Promise<CmykAnswer> => {
    const answer = last.then(() => askedOnce(message));
    last = answer.catch(() => {});
    return answer;
  };
  const close = () => child.kill("SIGKILL");
  try {
    const first = await asked(start);
    if (!("name" in first)) throw new Error("the process that converts colours did not start");
    return {
      name: first.name,
      close,
      convert: async (picture) => {
        const answer = await asked(picture);
        if (!("picture" in answer)) throw new Error("the process that converts colours lost a picture");
        return answer.picture;
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
