import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Box, CutoutDescription } from "../../core/card.ts";

const PX = Type.Number({ minimum: 0 });
const SIDE = Type.Integer({ minimum: 1 });
const PART = Type.Number({ minimum: 0, maximum: 1 });
const IS = Type.Boolean();
/** Cards are laid out by the ratio of such sides to their own, so none may be 0. */
const BOX_SIDE = Type.Number({ exclusiveMinimum: 0 });
const BOX = Type.Object({ x: PX, y: PX, width: BOX_SIDE, height: BOX_SIDE });
const TONES = Type.Array(Type.Number({ minimum: 0, maximum: 255 }), { minItems: 2, maxItems: 256 });

const Description = TypeCompiler.Compile(
  Type.Object({
    width: SIDE,
    height: SIDE,
    framing: Type.Object({
      face: Type.Union([BOX, Type.Null()]),
      head: BOX,
      body: BOX,
      cutSides: Type.Object({ top: IS, right: IS, bottom: IS, left: IS }),
      extents: Type.Array(Type.Union([Type.Tuple([PX, PX]), Type.Null()]), { maxItems: 100 }),
    }),
    inPhoto: BOX,
    outline: Type.String({ pattern: "^data:image/png;base64,[A-Za-z0-9+/=]+$" }),
    quarters: Type.Integer({ minimum: 0, maximum: 3 }),
    tones: Type.Union([Type.Tuple([TONES, TONES, TONES]), Type.Null()]),
    signs: Type.Object({ masks: PART, crown: PART, rivals: Type.Integer({ minimum: 0 }), loose: IS }),
    inCompany: IS,
  }),
);

/**
 * What the photo page says of a cutout. The page decodes untrusted bytes, so its numbers are checked before a
 * card is laid out by them: all are finite, no box is empty, and those of the cutout and its extents lie
 * within it.
 */
export function checkedDescription(description: CutoutDescription): CutoutDescription {
  if (!Description.Check(description) || !isWithin(description))
    throw new Error("The page's description of its cutout is not one.");
  return description;
}

function isWithin({ width, height, framing }: CutoutDescription): boolean {
  const { face, head, body, extents = [] } = framing;
  const isInside = (box: Box | null) => !box || (box.x + box.width <= width && box.y + box.height <= height);
  return (
    [face, head, body].every(isInside) &&
    extents.every((extent) => !extent || (extent[0] <= extent[1] && extent[1] <= width))
  );
}
