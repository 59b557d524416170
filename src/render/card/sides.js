// Runs inside the page. Type-checked through JSDoc, served as it is.
import { decodedOutline } from "./decode.js";
import { canvasOf } from "./light.js";

/**
 * The player's box and that of the template's `rating` zone, in fractions of the card.
 * @typedef {{ player: import("./fill.js").Part, rating: import("./fill.js").Part }} Sides
 */

/** The size in pixels at which covers are compared. */
const GRID_PX = 96;
/**
 * The rating keeps its usual side unless the player's part behind it is this much larger than at the other
 * side, as a part of it.
 */
const MUCH = 0.14;
/** It does not swap where it would hide more than this part of its area there too. */
const FREE = 0.2;
/** Where it hides more than this part of its area even at the better side, that is a hand or a foot. */
const HIDES = 0.1;

/**
 * At which side the rating hides less of the player, the right one where hands, feet or a ball are at the
 * left, and whether it hides something there too.
 * @param {string} outline the player's, as a data URL
 * @param {Sides} sides
 * @returns {Promise<{ side: "left" | "right", hides: boolean }>}
 */
export async function sideOf(outline, { player, rating }) {
  const picture = await decodedOutline(outline);
  const { context } = canvasOf(GRID_PX, GRID_PX);
  const px = (/** @type {number} */ part) => part * GRID_PX;
  context.drawImage(picture, px(player.x), px(player.y), px(player.width), px(player.height));
  const cover = (/** @type {number} */ x) => {
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
