import { askNetwork } from "./networks.js";

/**
 * What stands out in a picture, from 0 at the network's lowest output to 255 at its highest. Throws when
 * there is none.
 * @param {Uint8Array<ArrayBuffer>} rgb @param {{ width: number, height: number }} size
 * @returns {Promise<Uint8Array<ArrayBuffer>>} height x width, row by row
 */
export async function runSalient(rgb, size) {
  const [values] = await askNetwork("salient", rgb, size);
  if (!values) throw new Error("The salient network gave no output.");
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > most) most = values[i];
  }
  const scale = 255 / Math.max(1e-6, most - least);
  const salience = new Uint8Array(values.length);
  for (let i = 0; i < salience.length; i++) salience[i] = Math.round((values[i] - least) * scale);
  return salience;
}
