import { byId, el } from "./dom.ts";
import { toggleOverlay, zoomBy } from "./stage.ts";
import { set, template, view } from "./state.ts";

const KEYS: [keys: string, meaning: string][] = [
  ["1 2 3 4", "Card, all sizes, wall, compare"],
  ["j k", "Next and previous sample"],
  ["[ ]", "Previous and next size"],
  ["+ − 0", "Larger, smaller, fit"],
  ["z t f s a", "Overlays: zones, texts, fonts, safe area, real face"],
  ["e", "Edit the data"],
  ["d", "Share and download"],
  ["Esc", "Leave the editor"],
  ["?", "This list"],
];

const VIEWS = ["card", "sizes", "wall", "compare"] as const;
const OVERLAY_KEYS: Record<string, string> = { z: "zones", t: "texts", f: "fonts", s: "safe", a: "face" };

function step<T>(all: readonly T[], now: T, by: number): T | undefined {
  return all[(all.indexOf(now) + by + all.length) % all.length];
}

function stepSample(by: number): void {
  const next = step(
    (template()?.samples ?? []).map(({ name }) => name),
    view.sample,
    by,
  );
  if (next) set({ sample: next, data: "" });
}

function stepSize(by: number): void {
  const sizes = Object.keys(template()?.sizes ?? {});
  const next = step(sizes, view.size || (sizes[0] ?? ""), by);
  if (next) set({ size: next, zoom: "fit" });
}

const ACTIONS: Record<string, () => void> = {
  j: () => stepSample(1),
  k: () => stepSample(-1),
  "]": () => stepSize(1),
  "[": () => stepSize(-1),
  "+": () => zoomBy(1),
  "=": () => zoomBy(1),
  "-": () => zoomBy(-1),
  "0": () => set({ zoom: "fit" }),
  e: () => {
    set({ tab: "data" });
    document.getElementById("json")?.focus();
  },
  d: () => set({ tab: "share" }),
  "?": showKeys,
};

export function showKeys(): void {
  const dialog = byId<HTMLDialogElement>("keys");
  dialog.replaceChildren(
    el("h2", {}, "Keys"),
    el(
      "dl",
      {},
      ...KEYS.flatMap(([keys, meaning]) => [
        el("dt", {}, ...keys.split(" ").map((key) => el("kbd", {}, key))),
        el("dd", {}, meaning),
      ]),
    ),
    el("form", { method: "dialog" }, el("button", { class: "primary" }, "Close")),
  );
  dialog.showModal();
}

/** Shortcuts work unless the focus is in a text field. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.key === "Escape") target.blur();
    if (target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const number = VIEWS[Number(event.key) - 1];
    const overlay = OVERLAY_KEYS[event.key];
    if (number) set({ view: number });
    else if (overlay) toggleOverlay(overlay);
    else if (ACTIONS[event.key]) {
      event.preventDefault();
      ACTIONS[event.key]?.();
    }
  });
}
