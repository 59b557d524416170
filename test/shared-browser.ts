import type { Browser } from "puppeteer-core";

type Launch = () => Promise<Browser>;

const running = new Map<Launch, Promise<Browser>>();

/**
 * The browser that all test files of this process share, launched for the first that needs it. A test that
 * runs out of time ends the processes of its file: the next file has another browser then.
 */
export async function sharedBrowser(launch: Launch): Promise<Browser> {
  const browser = await running.get(launch);
  if (browser?.connected) return browser;
  const launched = launch();
  running.set(launch, launched);
  launched.catch(() => running.delete(launch));
  return launched;
}

/** Closes them when the last file of this process has ended. */
export async function closeSharedBrowsers(): Promise<void> {
  await Promise.all([...running.values()].map(async (launched) => (await launched).close()));
  running.clear();
}
