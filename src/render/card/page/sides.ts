import type { Part } from "../placement/template-layout.ts";
import { decodedOutline } from "./decode.ts";
import { canvasOf } from "./light.ts";

/** The player's box and that of the template's `rating` zone, in fractions of the card. */
export interface Sides {
  player: Part;
  rating: Part;
}

/** The size in pixels at which both sides are compared. */
const GRID_PX = 96;
/** The rating changes sides when it hides this much more of the player, in parts of its own area. */
const MUCH = 0.14;
/** It does not change where it would hide more than this on the other side. */
const FREE = 0.2;
/** Where even the better side hides more than this, that is a hand or a foot. */
const HIDES = 0.1;

/**
 * The side at which the rating hides less of the player: the left one, unless hands, feet or a ball are
 * there. And whether it hides something there too.
 * @param outline the player's, as a data URL
 */
export async function sideOf(
  outline: string,
  { player, rating }: Sides,
): Promise<{ side: "left" | "right"; hides: boolean }> {
  const picture = await decodedOutline(outline);
  const { context } = canvasOf(GRID_PX, GRID_PX);
  const px = (part: number) => part * GRID_PX;
  context.drawImage(picture, px(player.x), px(player.y), px(player.width), px(player.height));
  const cover = (x: number) => {
    const { data } = context.getImageData(
      Math.round(px(x)),
      Math.round(px(rating.y)),
      Math.max(1, Math.round(px(rating.width))),
      Math.max(1, Math.round(px(rating.height))),
    );
    let sum = 0;
    for (let k = 3; k < data.length; k += 4) sum += Number(data[k]);
    return (4 * sum) / 255 / data.length;
  };
  const [left, right] = [cover(rating.x), cover(1 - rating.x - rating.width)];
  const swaps = right < FREE && left - right > MUCH;
  return { side: swaps ? "right" : "left", hides: (swaps ? right : left) > HIDES };
}
