import type { CompareAnswer, GoldenState } from "../messages.ts";
import { byId, el, segments, toast } from "./dom.ts";
import { server } from "./server.ts";
import type { StageView } from "./stage.ts";
import { pictureRequest, set, sideOf, sizeOf, template, view } from "./state.ts";
import { waitingFor } from "./wait.ts";

const percent = (part: number) =>
  part === 0 ? "same" : part < 0.0001 ? "< 0.01 %" : `${(part * 100).toFixed(2)} %`;

/**
 * Before and after, against the accepted picture or the last commit; pictures are accepted one by one or all
 * at once.
 */
export function compareView(): StageView {
  const head = el("div", { class: "tools top" });
  const room = el("div", { class: "room" });
  const list = el("div", { class: "goldens", "aria-label": "Accepted pictures" });
  byId("stage").replaceChildren(head, el("div", { class: "beside" }, room, list));
  let newest = 0;
  let answer: CompareAnswer | null = null;
  const show = () => {
    if (answer) room.replaceChildren(...comparison(answer));
  };
  const load = async () => {
    newest += 1;
    const mine = newest;
    const size = view.size || Object.keys(template()?.sizes ?? {})[0] || "";
    try {
      const { sample, against } = view;
      // Each has a pane of its own: the two pictures belong together, and neither may be dropped for a newer
      // request.
      const side = sideOf() === "back" ? { side: "back" as const } : {};
      const request = { ...pictureRequest(`compare:${mine}`, 0), ...side, sample, size, against };
      const got = await waitingFor("Drawing both pictures", server.compare(request));
      await Promise.all([got.before, got.after, got.difference].map(loaded));
      if (mine !== newest) return;
      answer = got;
      show();
      document.dispatchEvent(new Event("drawn"));
    } catch (error) {
      if (mine === newest) toast((error as Error).message, "bad");
    }
  };
  const loadList = async () => {
    const goldens = await waitingFor("Comparing the accepted pictures", server.goldens(view.template)).catch(
      () => [],
    );
    list.replaceChildren(...goldenList(goldens, reload));
    markShown(list);
  };
  const reload = () => {
    void load();
    void loadList();
  };
  let listed = "";
  return {
    redraw: () => {
      head.replaceChildren(...compareTools());
      show();
      markShown(list);
      void load();
      const key = `${view.template} ${template()?.revision} ${template()?.goldens.join()}`;
      if (key === listed) return;
      listed = key;
      void loadList();
    },
    pane: () => null,
  };
}

const MODES = [
  ["slider", "Slider"],
  ["side", "Side by side"],
  ["difference", "Difference"],
] as const;

const SIDES = [
  ["front", "Front"],
  ["back", "Back"],
] as const;

function compareTools(): HTMLElement[] {
  const sizes = Object.keys(template()?.sizes ?? {});
  const against = [
    ["golden", "Accepted", "The picture in the golden folder"],
    ["head", "Last commit", template()?.inGit ? "The template as git has it" : "This folder is not in git"],
  ] as const;
  return [
    segments("Against", against, view.against, (value) => set({ against: value as typeof view.against })),
    segments("How", MODES, view.mode, (mode) => set({ mode: mode as typeof view.mode })),
    segments(
      "Size",
      sizes.map((name) => [name, name.replaceAll("_", " ")] as const),
      view.size || (sizes[0] ?? ""),
      (size) => set({ size }),
    ),
    ...(template()?.hasBack
      ? [segments("Side", SIDES, view.side, (side) => set({ side: side as typeof view.side }))]
      : []),
  ];
}

function comparison(answer: CompareAnswer): HTMLElement[] {
  const views = { slider, side: concurrent, difference };
  const picture = answer.before === null ? plain(answer) : views[view.mode](answer);
  return [
    picture,
    el("p", { class: "verdict", "data-changed": String(answer.changed ?? "") }, verdict(answer)),
  ];
}

function verdict({ before, changed }: CompareAnswer): string {
  if (before !== null)
    return changed === 0 ? "Nothing changed." : `${percent(changed ?? 0)} of the pixels changed.`;
  return view.against === "golden"
    ? "No picture of this sample and size has been accepted yet. Accept it once it looks right; from then on every change shows here."
    : "The last commit has no such card, or this folder is not in git.";
}

async function loaded(address: string | null): Promise<void> {
  if (address === null) return;
  const image = new Image();
  image.src = address;
  await image.decode();
}

function picture(address: string, alt: string): HTMLImageElement {
  const image = el("img", { alt, draggable: "false" });
  image.src = address;
  return image;
}

function frame(answer: CompareAnswer, kind: string, ...children: Node[]): HTMLElement {
  const [width, height] = [answer.width, answer.height];
  const figure = el("figure", { class: `pane compare ${kind}` }, ...children);
  figure.style.aspectRatio = `${width} / ${height}`;
  figure.style.setProperty("--ratio", String(width / height));
  return figure;
}

const plain = (answer: CompareAnswer) => frame(answer, "plain", picture(answer.after, "Now"));

/** One picture over the other; the line between them is dragged or moved with the arrow keys. */
function slider(answer: CompareAnswer): HTMLElement {
  const before = picture(answer.before ?? "", "Before");
  const range = el("input", {
    type: "range",
    min: 0,
    max: 100,
    step: 0.5,
    value: 50,
    "aria-label": "How much of the picture before is seen",
    input: () => figure.style.setProperty("--at", `${range.value}%`),
  });
  const figure = frame(
    answer,
    "slider",
    picture(answer.after, "Now"),
    before,
    el("i", { class: "line" }),
    range,
    el("b", { class: "left" }, "before"),
    el("b", { class: "right" }, "now"),
  );
  figure.style.setProperty("--at", "50%");
  return figure;
}

function concurrent(answer: CompareAnswer): HTMLElement {
  return el(
    "div",
    { class: "side" },
    frame(answer, "plain", picture(answer.before ?? "", "Before"), el("b", { class: "left" }, "before")),
    frame(answer, "plain", picture(answer.after, "Now"), el("b", { class: "left" }, "now")),
  );
}

function difference(answer: CompareAnswer): HTMLElement {
  return frame(answer, "plain", picture(answer.difference ?? answer.after, "Difference"));
}

/** What an accepted picture is of, by its name. */
function shownBy(name: string) {
  const side = name.endsWith(".back") ? ("back" as const) : ("front" as const);
  const [sample = "", size = ""] = name.replace(/\.back$/, "").split("@");
  return { sample, size, side };
}

/** Marks the picture in the list that is compared. */
function markShown(list: HTMLElement): void {
  for (const button of list.querySelectorAll<HTMLElement>("[data-golden]")) {
    const { sample, size, side } = shownBy(button.dataset.golden ?? "");
    const isOfSize = size === view.size || sizeOf(size).join() === sizeOf().join();
    const isShown = sample === view.sample && side === sideOf() && isOfSize;
    if (isShown) button.parentElement?.setAttribute("aria-current", "true");
    else button.parentElement?.removeAttribute("aria-current");
  }
}

function goldenList(goldens: GoldenState[], reload: () => void): HTMLElement[] {
  const changed = goldens.filter(({ state }) => state !== "same" && state !== "broken");
  const accept = async (names: string[]) => {
    try {
      const { accepted } = await waitingFor("Accepting", server.accept(view.template, names));
      toast(`${accepted.length} accepted.`);
      reload();
    } catch (error) {
      toast((error as Error).message, "bad");
    }
  };
  const rows = goldens.map(({ name, state, changed: part }) => {
    const { sample, size, side } = shownBy(name);
    return el(
      "li",
      { "data-state": state },
      el(
        "button",
        {
          type: "button",
          class: "open",
          "data-golden": name,
          click: () => set({ sample, size, side, data: "" }),
        },
        el("span", {}, sample.replaceAll("_", " ")),
        el(
          "small",
          {},
          `${size}${side === "back" ? ", back" : ""} · ${state === "changed" ? percent(part ?? 0) : state === "new" ? "not accepted yet" : state}`,
        ),
      ),
      state !== "same" &&
        state !== "broken" &&
        el("button", { type: "button", "data-accept": name, click: () => void accept([name]) }, "Accept"),
    );
  });
  return [
    el("h2", {}, "Accepted pictures"),
    el(
      "p",
      { class: "soft" },
      changed.length === 0 ? "All as accepted." : `${changed.length} of ${goldens.length} differ.`,
    ),
    el(
      "button",
      {
        type: "button",
        class: "primary",
        id: "accept-all",
        disabled: changed.length === 0,
        click: () => void accept(changed.map(({ name }) => name)),
      },
      "Accept all",
    ),
    el("ul", {}, ...rows),
  ];
}
