import type { Inspection } from "../../render/preview/messages.ts";
import type { Fault } from "../messages.ts";
import { dataTab, refreshData } from "./data.ts";
import { byId, copy, el, segments, toast } from "./dom.ts";
import { textProblem } from "./overlays.ts";
import type { Pane } from "./pane.ts";
import { server } from "./server.ts";
import { address, pictureRequest, sampleBody, set, sizeOf, studio, template, view } from "./state.ts";
import { waitingFor } from "./wait.ts";

/** The panel beside the picture: faults first, then data, texts, and ways to export the card. */
export function drawPanel(pane: Pane | null): void {
  const tab = {
    data: dataTab,
    texts: () => textsTab(pane?.drawn?.inspection ?? null),
    share: () => shareTab(pane),
  };
  byId("panel").replaceChildren(
    el("div", { id: "faults" }),
    segments(
      "Details",
      [
        ["data", "Data"],
        ["texts", "Texts"],
        ["share", "Share"],
      ],
      view.tab,
      (value) => set({ tab: value as typeof view.tab }),
    ),
    tab[view.tab](),
  );
  drawFaults();
}

/** Updates the panel after a new picture or an edit, without replacing a field that is being typed in. */
export function refreshPanel(pane: Pane | null): void {
  drawFaults();
  if (view.tab === "data") refreshData();
  else drawPanel(pane);
}

/** Faults of the files with their code, worst first; they disappear once fixed. */
function drawFaults(): void {
  const broken = template()?.faults ?? [];
  const faults = [...broken, ...studio.leftOut];
  byId("faults").replaceChildren(
    ...faults.slice(0, 5).map((fault, i) => faultBox(fault, i < broken.length ? "fault" : "fault mild")),
    ...(faults.length > 5 ? [el("p", { class: "soft" }, `and ${faults.length - 5} more`)] : []),
  );
}

function faultBox({ file, line, column, message, frame }: Fault, kind: string): HTMLElement {
  const place = line === null ? file : `${file}:${line}${column === null ? "" : `:${column}`}`;
  return el(
    "article",
    { class: kind },
    el(
      "h3",
      {},
      el(
        "button",
        {
          type: "button",
          class: "place",
          title: "Copy the place",
          click: () => void copy(place, "The place"),
        },
        place,
      ),
    ),
    el("p", {}, message),
    frame.length > 0 &&
      el(
        "pre",
        {},
        ...frame.map((row) =>
          el("code", { class: row.isFault ? "here" : "" }, el("b", {}, String(row.line)), `${row.text}\n`),
        ),
      ),
  );
}

/** Each text of the card with its final size, how full its box is and its fonts. */
function textsTab(inspection: Inspection | null): HTMLElement {
  if (!inspection) return el("div", { class: "tab" }, el("p", { class: "soft" }, "Looking at the card…"));
  const rows = inspection.texts.map((text) => {
    const problem = textProblem(text);
    return el(
      "li",
      { class: problem ? "bad" : "" },
      el("div", {}, el("strong", {}, text.label), el("span", {}, `${Math.round(text.fontPx)} px`)),
      el("q", {}, text.text.trim()),
      el("meter", {
        min: 0,
        max: 1,
        high: 1,
        value: Math.min(1, text.fill),
        title: `${Math.round(text.fill * 100)} % of its box`,
      }),
      el(
        "small",
        {},
        [
          text.lines > 1 ? `${text.lines} lines` : "",
          text.shortened ? "shortened" : "",
          text.usedFamilies.join(" + "),
          problem ?? "",
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    );
  });
  return el(
    "div",
    { class: "tab" },
    el("ul", { class: "texts" }, ...rows),
    inspection.brokenPictures.length > 0 &&
      el("p", { class: "bad" }, `Not shown: ${inspection.brokenPictures.join(", ")}`),
  );
}

const FORMATS = [
  ["png", "PNG"],
  ["webp", "WebP"],
  ["jpeg", "JPEG"],
] as const;

/** Ways to export the card: a file, a request, an address. */
function shareTab(pane: Pane | null): HTMLElement {
  const [width, height] = sizeOf();
  const curl = async () => {
    try {
      const { command } = await server.curl(view.template, sampleBody(), width, height, view.format);
      await copy(command, "The request");
      byId("curl").textContent = command;
    } catch (error) {
      toast((error as Error).message, "bad");
    }
  };
  const drawn = pane?.drawn;
  return el(
    "div",
    { class: "tab share" },
    el("h3", {}, "Download"),
    el("p", { class: "soft" }, `${width} × ${height}, as production makes it.`),
    el(
      "div",
      { class: "buttons" },
      ...FORMATS.map(([format, name]) =>
        el("button", { type: "button", "data-download": format, click: () => void download(format) }, name),
      ),
    ),
    el("h3", {}, "On the stage"),
    segments("Format", FORMATS, view.format, (format) => set({ format: format as typeof view.format })),
    el(
      "p",
      { class: "soft" },
      drawn ? `${Math.ceil(drawn.bytes / 1024)} KB · drawn in ${Math.round(drawn.ms)} ms` : "",
    ),
    el("h3", {}, "Request"),
    el("p", { class: "soft" }, "What a partner's program sends for this card."),
    el("button", { type: "button", id: "copy-curl", click: () => void curl() }, "Copy as curl"),
    el("pre", { id: "curl", class: "code" }),
    el("h3", {}, "Address"),
    el("p", { class: "soft" }, "Opens exactly this: sample, edits, size, overlays."),
    el(
      "button",
      {
        type: "button",
        id: "copy-address",
        click: () => void copy(new URL(address(), location.href).href, "The address"),
      },
      "Copy the address",
    ),
  );
}

/** Draws the card in that format if necessary, then lets the browser save it. */
async function download(format: string): Promise<void> {
  const request = { ...pictureRequest("download", 0), format: format as "png", encoding: "file" as const };
  const answer = await waitingFor("Drawing the file", server.picture(request));
  if (answer.kind !== "drawn") return toast("message" in answer ? answer.message : "Try again.", "bad");
  const [width, height] = sizeOf();
  const name = `${view.template}-${view.sample}-${width}x${height}.${format === "jpeg" ? "jpg" : format}`;
  const link = el("a", { href: `${answer.url}?download=${encodeURIComponent(name)}`, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}
