/** A rectangle in fractions of the card, origin top left. */
interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How a template sets one kind of picture; template.json describes each field. */
export interface TemplateLayout {
  minAspect: number;
  maxAspect: number;
  face: Part;
  maxContentY: number;
  frame: Part;
}

export const LAYOUTS = ["portrait", "square", "landscape"] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** The layout for a picture: portrait up to 9:10, landscape from 13:10, square between. */
export function layoutFor(width: number, height: number): LayoutName {
  const aspect = width / height;
  return aspect < 0.9 ? "portrait" : aspect > 1.3 ? "landscape" : "square";
}
