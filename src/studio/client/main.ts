import { compareView } from "./compare.ts";
import { byId, copy, el, toast } from "./dom.ts";
import { listenToKeys, showKeys } from "./keys.ts";
import type { Pane } from "./pane.ts";
import { drawPanel, refreshPanel } from "./panel.ts";
import { drawRail, usePhoto } from "./rail.ts";
import { listen, server } from "./server.ts";
import { cardView, type StageView, sizesView } from "./stage.ts";
import { onChange, readState, set, studio, template, view } from "./state.ts";
import { wallView } from "./wall.ts";

let stage: StageView | null = null;
let stageOf = "";
let savedAt = 0;

const status = (kind: string, text: string) => {
  const box = byId("status");
  box.dataset.kind = kind;
  box.lastElementChild?.replaceChildren(text);
};

document.addEventListener("drawn", () => {
  const took = savedAt > 0 ? ` · ${Math.round(performance.now() - savedAt)} ms` : "";
  if ((template()?.faults.length ?? 0) > 0 || (took === "" && byId("status").dataset.kind === "good")) return;
  savedAt = 0;
  status("good", `Live${took}`);
});

const onDrawn = (pane: Pane) => {
  // Read by the benchmark: when the picture of a save was on the screen.
  document.body.dataset.drawnAt = String(performance.timeOrigin + performance.now());
  document.body.dataset.drawn = pane.drawn?.url ?? "";
  if (view.tab !== "data") refreshPanel(pane);
};

function show(): void {
  for (const button of document.querySelectorAll<HTMLElement>("#views button"))
    button.setAttribute("aria-pressed", String(button.dataset.view === view.view));
  document.body.dataset.view = view.view;
  if (!template()) {
    showEmpty();
    return;
  }
  if (stageOf !== view.view || !stage) {
    stageOf = view.view;
    const views = {
      card: () => cardView(onDrawn),
      sizes: () => sizesView(onDrawn),
      wall: wallView,
      compare: compareView,
    };
    stage = views[view.view]();
  }
  stage.redraw();
}

/** What to do in a folder without a template, with a button that does it. */
function showEmpty(): void {
  stage = null;
  stageOf = "";
  const command = "cardpress template new my_card";
  const input = el("input", {
    value: "my_card",
    required: true,
    pattern: "[a-z][a-z0-9_]{0,63}",
    "aria-label": "Name of the template",
  });
  const create = async (event: Event) => {
    event.preventDefault();
    try {
      const { name } = await server.create(input.value);
      set({ template: name });
      await load();
    } catch (error) {
      toast((error as Error).message, "bad");
    }
  };
  byId("rail").replaceChildren();
  byId("panel").replaceChildren();
  byId("stage").replaceChildren(
    el(
      "div",
      { class: "empty" },
      el("h2", {}, "No template here yet"),
      el(
        "p",
        {},
        "A template is a folder with template.json, card.html and card.css. ",
        el("code", {}, studio.state?.folder ?? ""),
        " holds none.",
      ),
      el(
        "form",
        { submit: (event: Event) => void create(event) },
        input,
        el("button", { class: "primary" }, "Start from the starter"),
      ),
      el(
        "p",
        { class: "soft" },
        "or in a terminal: ",
        el(
          "button",
          { type: "button", class: "place", title: "Copy", click: () => void copy(command, "The command") },
          command,
        ),
      ),
    ),
  );
  status("good", "Ready");
}

/** Reloads the server's state: at the start, after a save, for another template. */
async function load(): Promise<void> {
  try {
    if (!(await readState())) return;
  } catch (error) {
    return status("bad", (error as Error).message);
  }
  if (!studio.state) return;
  const { templates, template: now } = studio.state;
  const chooser = byId<HTMLSelectElement>("template");
  chooser.hidden = templates.length < 2;
  chooser.replaceChildren(
    ...templates.map((name) => el("option", { value: name, selected: name === now?.name }, name)),
  );
  byId("title").textContent = now?.title ?? "";
  byId("title").title = now?.folder ?? "";
  byId("version").hidden = !now;
  byId("version").textContent = now?.version ?? "";
  document.title = now ? `${now.title} · cardpress studio` : "cardpress studio";
  if (now) {
    const isKnown = now.samples.some(({ name }) => name === view.sample);
    Object.assign(view, {
      template: now.name,
      ...(isKnown ? {} : { sample: now.samples[0]?.name ?? "", data: "" }),
    });
    const count = now.faults.length;
    if (count > 0)
      status(
        "bad",
        count === 1 ? "1 fault; the last good picture stays" : `${count} faults; the last good picture stays`,
      );
  }
  show();
  if (!now) return;
  drawRail(true);
  lookAtStyle();
  if (byId("panel").childElementCount === 0) drawPanel(stage?.pane() ?? null);
  else refreshPanel(stage?.pane() ?? null);
}

/** Delay after a save, in milliseconds: asking the browser must not delay the picture. */
const STYLE_AFTER_MS = 250;
let styleTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows what the browser leaves out of the style sheet, once the picture without it is on the screen. */
function lookAtStyle(): void {
  clearTimeout(styleTimer);
  styleTimer = setTimeout(async () => {
    const of = view.template;
    const leftOut = await server.style(of).catch(() => []);
    if (of !== view.template) return;
    studio.leftOut = leftOut;
    refreshPanel(stage?.pane() ?? null);
  }, STYLE_AFTER_MS);
}

onChange((changed) => {
  if (changed.has("template")) {
    stageOf = "";
    studio.leftOut = [];
    byId("panel").replaceChildren();
    return void load();
  }
  show();
  if (!template()) return;
  if (changed.has("sample") || changed.has("data") || changed.has("photo")) drawRail(false);
  if (changed.has("sample") || changed.has("tab")) drawPanel(stage?.pane() ?? null);
  else refreshPanel(stage?.pane() ?? null);
});

for (const button of document.querySelectorAll<HTMLElement>("#views button"))
  button.addEventListener("click", () => set({ view: button.dataset.view as typeof view.view }));
byId<HTMLSelectElement>("template").addEventListener("change", (event) =>
  set({ template: (event.target as HTMLSelectElement).value, sample: "", size: "", data: "" }),
);
byId("help").addEventListener("click", showKeys);

// A photo can be dropped anywhere on the page.
const drop = byId("drop");
const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
document.addEventListener("dragenter", (event) => {
  if (hasFile(event)) drop.hidden = false;
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) drop.hidden = true;
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.hidden = true;
  const [file] = event.dataTransfer?.files ?? [];
  if (file) void usePhoto(file);
});

listenToKeys();
let wasConnected = true;
listen({
  changed: (isSheet) => {
    savedAt = performance.now();
    status("busy", "Drawing…");
    // The picture of a changed style sheet is requested at once; the regular request that follows hits the
    // cache.
    if (isSheet && (template()?.faults.length ?? 1) === 0) stage?.redraw();
    void load();
  },
  connected: (isConnected) => {
    if (!isConnected)
      status("bad", "The studio is not running. Start it again; this page comes back by itself.");
    else if (!wasConnected) void load();
    wasConnected = isConnected;
  },
});
void load();
