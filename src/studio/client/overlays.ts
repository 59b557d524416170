import type { Inspection, TextInspection } from "../../render/preview/messages.ts";
import type { PictureAnswer } from "../messages.ts";
import { svg } from "./dom.ts";

export const OVERLAYS = [
  ["zones", "Zones", "Where the template wants face and body, and its frame (z)"],
  ["texts", "Texts", "Each text's box, how full it is and its final size (t)"],
  ["fonts", "Fonts", "The fonts that letters were really taken from (f)"],
  ["safe", "Cut and safe area", "In a size of print the cut and 3 mm inside of it, otherwise 5 % (s)"],
  ["face", "Real face", "Where this photo's face came to lie (a)"],
] as const;

const ZONE_COLOURS: Record<string, string> = {
  face: "#4fd1a0",
  body: "#7aa7ff",
  frame: "#f3b26b",
  safe: "#ff9c92",
};

type Box = Inspection["card"];

/** What about a text needs the designer's attention; null if nothing does. */
export function textProblem(text: TextInspection): string | null {
  if (text.missing.length > 0) return `no glyph for ${text.missing.slice(0, 4).join(" ")}`;
  if (text.overflowPx > 1) return `overflows by ${Math.round(text.overflowPx)} px`;
  if (text.contrast !== null && text.contrast < text.neededContrast)
    return `contrast ${text.contrast.toFixed(1)} of ${text.neededContrast}`;
  return null;
}

type Overlaid = Pick<Extract<PictureAnswer, { kind: "drawn" }>, "width" | "height" | "print"> & {
  inspection: Inspection;
};

/** Boxes and captions over a picture, sharp at any zoom. */
export function drawOverlays(
  wanted: readonly string[],
  { inspection, width, height, print }: Overlaid,
  scale: number,
): SVGElement {
  const unit = 1 / Math.max(scale, 0.05);
  const root = svg("svg", { class: "overlay", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const add = (box: Box, colour: string, label: string, isDashed = false) => {
    root.append(outline(box, colour, unit, isDashed));
    if (label) root.append(caption(box, colour, label, unit, width));
  };
  if (wanted.includes("zones"))
    for (const { name, box } of inspection.zones) add(box, ZONE_COLOURS[name] ?? "#ccc", name);
  if (wanted.includes("texts"))
    for (const text of inspection.texts) {
      const problem = textProblem(text);
      const px = `${Math.round(text.fontPx)} px`;
      const full = `${px} · ${Math.round(Math.min(9.99, text.fill) * 100)} %`;
      // In a narrow box the longer caption would overlap its neighbour's.
      const label = text.box.width > captionLength(full, unit) ? full : px;
      add(text.box, problem ? "#ff6b5e" : "#dfe8e4", problem ? `${full} · ${problem}` : label);
    }
  if (wanted.includes("fonts"))
    for (const text of inspection.texts) add(text.ink, "#c9a8ff", text.usedFamilies.join(" + "));
  if (wanted.includes("safe")) {
    const own = inspection.zones.find((zone) => zone.name === "safe")?.box;
    const within = (px: number): Box => ({ x: px, y: px, width: width - 2 * px, height: height - 2 * px });
    if (print) add(within(print.cutPx), "#ff4d8d", `cut, ${print.label}`);
    const usual = print ? within(print.safePx) : within(Math.min(width, height) * 0.05);
    const label = own ? "safe area" : print ? "safe area, 3 mm" : "5 % safe area";
    add(own ?? usual, ZONE_COLOURS.safe ?? "", label, true);
  }
  if (wanted.includes("face") && inspection.face) add(inspection.face, "#ffd84d", "real face", true);
  return root;
}

function outline(box: Box, colour: string, unit: number, isDashed: boolean) {
  return svg("rect", {
    x: box.x,
    y: box.y,
    width: Math.max(0, box.width),
    height: Math.max(0, box.height),
    fill: colour,
    "fill-opacity": 0.07,
    stroke: colour,
    "stroke-width": 1.5 * unit,
    ...(isDashed ? { "stroke-dasharray": `${6 * unit} ${4 * unit}` } : {}),
  });
}

const captionLength = (label: string, unit: number) => label.length * 11 * unit * 0.62 + 8 * unit;

function caption(box: Box, colour: string, label: string, unit: number, width: number) {
  const size = 11 * unit;
  const length = captionLength(label, unit);
  const x = Math.max(0, Math.min(box.x, width - length));
  const y = Math.max(size * 1.5, box.y);
  return svg(
    "g",
    {},
    svg("rect", {
      x,
      y: y - size * 1.5,
      width: length,
      height: size * 1.5,
      fill: "#0b100e",
      "fill-opacity": 0.82,
      rx: 2 * unit,
    }),
    svg("text", { x: x + 4 * unit, y: y - size * 0.42, fill: colour, "font-size": size }, label),
  );
}
