import { byId, el, segments } from "./dom.ts";
import { drawOverlays, OVERLAYS } from "./overlays.ts";
import { createPane, type Pane } from "./pane.ts";
import { pictureRequest, set, sizeOf, studio, template, view } from "./state.ts";

/** Limits of a picture's side in pixels, the same as the API's. */
const MIN_SIDE = 512;
const MAX_SIDE = 2048;
/** Space around a picture fitted to the window, in screen pixels. */
const MARGIN = 72;
/** At 300 dots an inch, of which CSS has 96: a proof of the print in true millimetres. */
const PRINTED = String((96 / 300) * 100);
/** Between the two sides of a card, in screen pixels. */
const BETWEEN = 48;
const ZOOMS = [10, 25, 33, 50, 67, 75, 100, 150, 200, 300, 400];

export interface StageView {
  /** Draws the view again; `isFresh` when files have changed. */
  redraw(): void;
  /** The picture that the details panel describes. */
  pane(): Pane | null;
}

/** One picture in one size, with all inspection tools. */
export function cardView(onDrawn: (pane: Pane) => void): StageView {
  const room = el("div", { class: "room", tabindex: "0", "aria-label": "Picture" });
  const handle = el("button", {
    class: "corner",
    title: "Drag for a free size",
    "aria-label": "Drag for a free size",
  });
  const caption = el("figcaption", {});
  const pane = createPane((_, drawn) => {
    place();
    onDrawn(drawn);
  });
  const back = createPane(() => place());
  pane.element.append(handle, caption);
  back.element.append(el("figcaption", {}, "back"));
  back.element.classList.add("back");
  room.append(pane.element, back.element);
  byId("stage").replaceChildren(room, toolbar());

  const scaleOf = (): number => {
    if (view.zoom !== "fit") return Number(view.zoom) / 100;
    const [width, height] = sizeOf();
    const sides = template()?.hasBack ? 2 : 1;
    const across = (room.clientWidth - MARGIN - (sides - 1) * BETWEEN) / sides;
    return Math.min(1, across / width, (room.clientHeight - MARGIN) / height);
  };
  const place = () => {
    const [width, height] = sizeOf();
    const scale = Math.max(0.02, scaleOf());
    caption.textContent = `${width} × ${height} · ${Math.round(scale * 100)} %`;
    back.element.hidden = !template()?.hasBack;
    for (const { element, drawn } of [pane, back]) {
      element.style.width = `${width * scale}px`;
      element.style.height = `${height * scale}px`;
      element.querySelector(".overlay")?.remove();
      element.querySelector(".cut")?.remove();
      if (drawn && drawn.cut.length > 0)
        element.append(el("ul", { class: "cut" }, ...drawn.cut.map((fault) => el("li", {}, fault))));
      const { inspection } = drawn ?? {};
      if (view.overlays.length > 0 && drawn && inspection)
        element.append(drawOverlays(view.overlays, { ...drawn, inspection }, scale));
    }
  };
  dragCorner(handle, scaleOf);
  new ResizeObserver(place).observe(room);
  return {
    redraw: () => {
      byId("stage").querySelector(".tools")?.replaceWith(toolbar());
      place();
      // What the printer takes off is reported unasked.
      const isLookedAt = view.overlays.length > 0 || view.tab === "texts" || isForPrint();
      const inspect = isLookedAt ? "looks" : "no";
      // The Share tab shows the file's size.
      const encoding = view.tab === "share" ? "file" : "screen";
      void pane.draw({ ...pictureRequest("card", 0), inspect, encoding });
      if (template()?.hasBack)
        void back.draw({ ...pictureRequest("back", 0.5), side: "back", inspect, encoding: "screen" });
    },
    pane: () => pane,
  };
}

/** Dragging the corner sets a custom size, drawn while it moves. */
function dragCorner(handle: HTMLElement, scaleOf: () => number): void {
  handle.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    const [width, height] = sizeOf();
    const scale = scaleOf();
    // If the picture were fitted again at every step, the corner would run away from the pointer.
    set({ zoom: String(Math.round(scale * 100)) });
    handle.setPointerCapture(down.pointerId);
    const bound = (side: number) => Math.round(Math.min(MAX_SIDE, Math.max(MIN_SIDE, side)));
    const move = (event: PointerEvent) => {
      const w = bound(width + (2 * (event.clientX - down.clientX)) / scale);
      const h = bound(height + (2 * (event.clientY - down.clientY)) / scale);
      set({ size: `${w}x${h}` });
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), {
      once: true,
    });
  });
}

/** Zooms one step in or out from what is shown. */
export function zoomBy(step: 1 | -1): void {
  const caption = document.querySelector(".pane figcaption")?.textContent ?? "";
  const now = Number(/(\d+) %/.exec(caption)?.[1] ?? 100);
  const next = step > 0 ? ZOOMS.find((zoom) => zoom > now) : ZOOMS.findLast((zoom) => zoom < now);
  if (next) set({ zoom: String(next) });
}

function toolbar(): HTMLElement {
  const sizes = Object.entries(template()?.sizes ?? {});
  const isFree = /^\d+x\d+$/.test(view.size);
  return el(
    "div",
    { class: "tools" },
    segments(
      "Size",
      sizes.map(([name, [w, h]]) => [name, name.replaceAll("_", " "), `${w} × ${h}`] as const),
      isFree ? "" : view.size || (sizes[0]?.[0] ?? ""),
      (size) => set({ size, zoom: "fit" }),
    ),
    printSizes(),
    freeSize(isFree),
    zoomButtons(),
    overlayButtons(),
  );
}

/** Whether the picture is one for print, with its bleed. */
function isForPrint(): boolean {
  const [short, long] = sizeOf().toSorted((a, b) => a - b);
  return (studio.state?.printSizes ?? []).some((size) => size.short === short && size.long === long);
}

/** The sizes of printed cards, which every template is drawn in. */
function printSizes(): HTMLElement {
  const [width, height] = sizeOf();
  const option = (value: string, text: string, isChosen: boolean) =>
    el("option", { value, selected: isChosen || null }, text);
  const sizes = (studio.state?.printSizes ?? []).map(({ label, short, long }) => {
    const [w, h] = width > height ? [long, short] : [short, long];
    return option(`${w}x${h}`, label, w === width && h === height);
  });
  return el(
    "select",
    {
      class: "print-sizes",
      "aria-label": "Size for print",
      title: "A size for print, with its bleed, cut and safe area",
      change: (event: Event) => {
        const size = (event.target as HTMLSelectElement).value;
        const overlays = view.overlays.includes("safe") ? view.overlays : [...view.overlays, "safe"];
        if (size) set({ size, overlays, zoom: "fit" });
      },
    },
    option("", "For print", !isForPrint()),
    ...sizes,
  );
}

function freeSize(isFree: boolean): HTMLElement {
  const [width, height] = sizeOf();
  const side = (name: "width" | "height", value: number) =>
    el("input", {
      type: "number",
      min: MIN_SIDE,
      max: MAX_SIDE,
      value,
      "aria-label": `${name} in pixels`,
      change: (event: Event) => {
        const typed = Number((event.target as HTMLInputElement).value) || value;
        const given = Math.min(MAX_SIDE, Math.max(MIN_SIDE, typed));
        set({ size: name === "width" ? `${given}x${height}` : `${width}x${given}` });
      },
    });
  return el(
    "div",
    { class: `free${isFree ? " on" : ""}`, title: "A size of your own" },
    side("width", width),
    "×",
    side("height", height),
  );
}

function zoomButtons(): HTMLElement {
  const button = (text: string, title: string, click: () => void, isPressed?: boolean) =>
    el(
      "button",
      {
        type: "button",
        title,
        "aria-label": title,
        "aria-pressed": isPressed === undefined ? null : String(isPressed),
        click,
      },
      text,
    );
  return el(
    "div",
    { class: "segments", role: "group", "aria-label": "Zoom" },
    button("−", "Zoom out (−)", () => zoomBy(-1)),
    button("Fit", "Fit (0)", () => set({ zoom: "fit" }), view.zoom === "fit"),
    button("100 %", "Real pixels", () => set({ zoom: "100" }), view.zoom === "100"),
    button("Print", "As large as it is printed", () => set({ zoom: PRINTED }), view.zoom === PRINTED),
    button("+", "Zoom in (+)", () => zoomBy(1)),
  );
}

function overlayButtons(): HTMLElement {
  return el(
    "div",
    { class: "segments overlays", role: "group", "aria-label": "Overlays" },
    ...OVERLAYS.map(([name, text, title]) =>
      el(
        "button",
        {
          type: "button",
          title,
          "data-overlay": name,
          "aria-pressed": String(view.overlays.includes(name)),
          click: () => toggleOverlay(name),
        },
        text,
      ),
    ),
  );
}

export function toggleOverlay(name: string): void {
  const has = view.overlays.includes(name);
  set({ overlays: has ? view.overlays.filter((one) => one !== name) : [...view.overlays, name] });
}

/** Every size of the template side by side. */
export function sizesView(onDrawn: (pane: Pane) => void): StageView {
  const room = el("div", { class: "room sheet" });
  byId("stage").replaceChildren(room);
  const panes = new Map<string, Pane>();
  let first: Pane | null = null;
  return {
    redraw: () => {
      const sizes = Object.entries(template()?.sizes ?? {});
      if ([...panes.keys()].join() !== sizes.map(([name]) => name).join()) {
        panes.clear();
        room.replaceChildren(
          ...sizes.map(([name, [w, h]]) => {
            const pane = createPane((_, drawn) => drawn === first && onDrawn(drawn));
            pane.element.style.aspectRatio = `${w} / ${h}`;
            pane.element.style.setProperty("--ratio", String(w / h));
            panes.set(name, pane);
            const open = () => set({ view: "card", size: name, zoom: "fit" });
            return el(
              "button",
              { type: "button", class: "sized", title: "Open this size", click: open },
              pane.element,
              el("span", {}, el("strong", {}, name.replaceAll("_", " ")), ` ${w} × ${h}`),
            );
          }),
        );
        first = [...panes.values()][0] ?? null;
      }
      sizes.forEach(
        ([name, size], i) => void panes.get(name)?.draw(pictureRequest(`size:${name}`, 1 + i / 100, size)),
      );
    },
    pane: () => first,
  };
}
