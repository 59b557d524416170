import type { Fault, StudioState, TemplateState } from "../messages.ts";
import { server } from "./server.ts";

/** What the page shows. All of it is in the address, which can therefore be bookmarked and shared. */
export interface View {
  view: "card" | "sizes" | "wall" | "compare";
  template: string;
  sample: string;
  /** One of the template's named sizes, or `WIDTHxHEIGHT`. */
  size: string;
  /** `fit`, or percent. */
  zoom: string;
  overlays: string[];
  format: "png" | "webp" | "jpeg";
  wall: string;
  against: "golden" | "head";
  mode: "slider" | "side" | "difference";
  /** Which side of the card is compared. */
  side: "front" | "back";
  tab: "data" | "texts" | "share";
  /** The sample's text as edited here; empty when it is unchanged. */
  data: string;
}

const DEFAULTS: View = {
  view: "card",
  template: "",
  sample: "",
  size: "",
  zoom: "fit",
  overlays: [],
  format: "png",
  wall: "names",
  against: "golden",
  mode: "slider",
  side: "front",
  tab: "data",
  data: "",
};

export const view: View = readAddress();

/** The server's state: templates, samples, faults. Null until the first answer. */
export const studio: {
  state: StudioState | null;
  /** What the browser leaves out of card.css: the picture is drawn without it. */
  leftOut: Fault[];
  photo: { id: string; name: string } | null;
} = { state: null, leftOut: [], photo: null };

let reading = 0;

/** Reads the server's state anew; of several answers only the newest counts. Returns whether this one did. */
export async function readState(): Promise<boolean> {
  reading += 1;
  const mine = reading;
  const state = await server.state(view.template);
  if (mine !== reading) return false;
  studio.state = state;
  return true;
}

type Listener = (changed: ReadonlySet<string>) => void;
const listeners: Listener[] = [];

/**
 * Calls the listener on every change of the view with the names of what changed; `state` stands for the
 * server's.
 */
export function onChange(listener: Listener): void {
  listeners.push(listener);
}

/** Changes the view and its address. */
export function set(patch: Partial<View>): void {
  const changed = new Set(
    Object.keys(patch).filter(
      (key) => JSON.stringify(view[key as keyof View]) !== JSON.stringify(patch[key as keyof View]),
    ),
  );
  if (changed.size === 0) return;
  Object.assign(view, patch);
  const isStep = changed.has("view") || changed.has("template") || changed.has("sample");
  history[isStep ? "pushState" : "replaceState"](null, "", address());
  notify(changed);
}

export function notify(changed: ReadonlySet<string>): void {
  for (const listener of listeners) listener(changed);
}

/** The address of the current view. */
export function address(): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(view)) {
    const text =
      key === "data" ? encode(String(value)) : Array.isArray(value) ? value.join(",") : String(value);
    const usual = DEFAULTS[key as keyof View];
    if (text !== (Array.isArray(usual) ? usual.join(",") : String(usual))) query.set(key, text);
  }
  const text = query.toString();
  return text ? `?${text}` : "./";
}

function readAddress(): View {
  const query = new URLSearchParams(location.search);
  const read: Record<string, unknown> = { ...DEFAULTS };
  for (const key of Object.keys(DEFAULTS)) {
    const value = query.get(key);
    if (value === null) continue;
    if (key === "overlays") read[key] = value.split(",").filter(Boolean);
    else read[key] = key === "data" ? decode(value) : value;
  }
  return read as unknown as View;
}

addEventListener("popstate", () => {
  Object.assign(view, readAddress());
  notify(new Set(Object.keys(DEFAULTS)));
});

const encode = (text: string) =>
  text === "" ? "" : btoa(String.fromCharCode(...new TextEncoder().encode(text)));

function decode(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  } catch {
    return "";
  }
}

export const template = (): TemplateState | null => studio.state?.template ?? null;

/** The text of the chosen sample as shown: edited here, or as saved. */
export function sampleText(name = view.sample): string {
  if (name === view.sample && view.data !== "") return view.data;
  return template()?.samples.find((sample) => sample.name === name)?.text ?? "{}";
}

/** The side that is compared: only a template that has a back shows it. */
export const sideOf = (): "front" | "back" => (template()?.hasBack ? view.side : "front");

let lastGood: { sample: string; body: unknown } = { sample: "", body: {} };

/** The sample's content; while its text is not valid JSON, the last content that was. */
export function sampleBody(): unknown {
  try {
    lastGood = { sample: view.sample, body: JSON.parse(sampleText()) };
  } catch {
    if (lastGood.sample !== view.sample) lastGood = { sample: view.sample, body: savedBody() };
  }
  return lastGood.body;
}

function savedBody(): unknown {
  try {
    return JSON.parse(template()?.samples.find((sample) => sample.name === view.sample)?.text ?? "{}");
  } catch {
    return {};
  }
}

/** Width and height of a size, given its name or `WIDTHxHEIGHT`. */
export function sizeOf(name = view.size): [number, number] {
  const sizes = template()?.sizes ?? {};
  const own = /^(\d+)x(\d+)$/.exec(name);
  if (own) return [Number(own[1]), Number(own[2])];
  return sizes[name] ?? Object.values(sizes)[0] ?? [1024, 1280];
}

/** Tells this page's requests from those of the same studio in another window. */
const PAGE = Math.random().toString(36).slice(2);
let turn = 0;

/** The request for a picture of the current view. */
export function pictureRequest(pane: string, priority: number, size = sizeOf()) {
  return {
    template: view.template,
    pane: `${PAGE}:${pane}`,
    turn: ++turn,
    priority,
    body: sampleBody(),
    width: size[0],
    height: size[1],
    format: view.format,
    ...(studio.photo ? { photo: studio.photo.id } : {}),
    inspect: "no" as "no" | "looks" | "contrast",
    encoding: "screen" as "screen" | "file",
  };
}
