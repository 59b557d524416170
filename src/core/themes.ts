import type { Palette } from "./colours.ts";
export interface Scene {
  theme: string;
  svg: string;
}
export function sceneOf(
  _text: string | undefined,
  p: Palette,
  size: { layout: string; width: number; height: number },
): Scene {
  const w = 1000,
    h = Math.round((1000 * size.height) / size.width);
  return {
    theme: "facets",
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}"><defs><linearGradient id="g" x1="0" y1="0" x2="0.3" y2="1"><stop offset="0" stop-color="${p.panelLight}"/><stop offset="0.45" stop-color="${p.panel}"/><stop offset="1" stop-color="${p.panelDeep}"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  };
}
