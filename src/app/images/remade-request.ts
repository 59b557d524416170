import type { CreateImageRequest } from "../../core/image-request.ts";
import { changedRequest, type RemakeImageRequest } from "../../core/remake-request.ts";
import { hasFoil } from "../../templates/load.ts";
import type { CardTemplates } from "./check-card.ts";

/**
 * A request with some of it otherwise. What the preset before had and a new one does not, ends with it: foil,
 * layers and the back, unless they are asked for anew.
 */
export async function remadeRequest(
  templates: Pick<CardTemplates, "current" | "listed">,
  before: CreateImageRequest,
  change: RemakeImageRequest,
): Promise<CreateImageRequest> {
  const whole = changedRequest(before, change);
  const { preset } = whole.style;
  // One that is not offered is refused by its name afterwards.
  if (preset === before.style.preset || !(await templates.listed()).includes(preset)) return whole;
  const template = await templates.current(preset);
  const has = {
    foil: hasFoil(template),
    layers: template.markup.layers.size > 0,
    back: template.back !== null,
  };
  const style = { ...whole.style };
  for (const name of ["foil", "layers", "back"] as const)
    if (!has[name] && change.style?.[name] === undefined) delete style[name];
  return { ...whole, style };
}
