import { byId, el } from "./dom.ts";

/** A wait this long is shown, in milliseconds; shorter ones would only flicker. */
const SHOWN_AFTER_MS = 600;

interface Wait {
  what: string;
  since: number;
}

const waits = new Set<Wait>();
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Says in the bar, with its seconds, what is waited for, once that takes long. The oldest wait is the one
 * shown.
 */
export async function waitingFor<T>(what: string, work: Promise<T>): Promise<T> {
  const wait = { what, since: performance.now() };
  waits.add(wait);
  if (waits.size === 1) timer = setTimeout(show, SHOWN_AFTER_MS);
  try {
    return await work;
  } finally {
    waits.delete(wait);
    if (waits.size === 0) {
      clearTimeout(timer);
      byId("wait").hidden = true;
    }
  }
}

function show(): void {
  timer = setTimeout(show, 1000);
  const [oldest] = waits;
  if (!oldest) return;
  const seconds = Math.floor((performance.now() - oldest.since) / 1000);
  const box = byId("wait");
  const now = `${oldest.what}…`;
  // Screen readers announce what is waited for once, not every second.
  if (box.firstElementChild?.textContent !== now)
    box.replaceChildren(el("span", {}, now), el("time", { "aria-hidden": "true" }));
  box.lastElementChild?.replaceChildren(seconds > 0 ? `${seconds} s` : "");
  box.hidden = seconds === 0 && performance.now() - oldest.since < SHOWN_AFTER_MS;
}
