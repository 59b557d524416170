import type { CmykAnswer, CmykPicture, CmykRequest } from "./cmyk-worker.ts";

/** A process that turns pictures into the inks of a press. */
export interface CmykProcess {
  /** The profile's own name for itself. */
  name: string;
  /** A picture's file, of any format, in inks. One after the other: memory stays that of one picture. */
  convert(file: Uint8Array, inkLimit: number): Promise<CmykPicture>;
  close(): void;
}

export interface PressOptions {
  command: readonly string[];
  profile: Uint8Array;
}

/** The press whose profile the operator named. */
export interface Press {
  profile: Uint8Array;
  /** All print files that are being made share one process, which ends when the last of them is closed. */
  use(): Promise<CmykProcess>;
}

/** @param command starts a process that runs cmyk-worker.ts */
export function sharedPress(options: PressOptions): Press {
  let current: { users: number; process: Promise<CmykProcess> } | undefined;
  const started = () => {
    const onEnd = () => {
      if (current === one) current = undefined;
    };
    const one = { users: 0, process: openCmyk({ ...options, onEnd }) };
    return one;
  };
  return {
    profile: options.profile,
    use: async () => {
      current ??= started();
      const mine = current;
      mine.users += 1;
      let isOpen = true;
      const close = () => {
        if (!isOpen) return;
        isOpen = false;
        mine.users -= 1;
        if (mine.users > 0) return;
        if (current === mine) current = undefined;
        mine.process.then(
          (process) => process.close(),
          () => {},
        );
      };
      try {
        return { ...(await mine.process), close };
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/**
 * Starts the process. The service goes on answering meanwhile, and the memory goes with it at the end.
 * @param command starts a process that runs cmyk-worker.ts
 */
export async function openCmyk({
  command,
  profile,
  onEnd = () => {},
}: PressOptions & { onEnd?: () => void }): Promise<CmykProcess> {
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
      onEnd();
    },
  });
  const askedOnce = async (message: CmykRequest): Promise<CmykAnswer> => {
    if (ended !== undefined) throw new Error(ended);
    waiting = Promise.withResolvers<CmykAnswer>();
    child.send(message);
    const answer = await waiting.promise;
    if ("failed" in answer) throw new Error(answer.failed);
    return answer;
  };
  const asked = (message: CmykRequest): Promise<CmykAnswer> => {
    const answer = last.then(() => askedOnce(message));
    last = answer.catch(() => {});
    return answer;
  };
  const close = () => child.kill("SIGKILL");
  try {
    const first = await asked({ profile });
    if (!("name" in first)) throw new Error("the process that converts colours did not start");
    return {
      name: first.name,
      close,
      convert: async (file, inkLimit) => {
        const answer = await asked({ file, inkLimit });
        if (!("picture" in answer)) throw new Error("the process that converts colours lost a picture");
        return answer.picture;
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
