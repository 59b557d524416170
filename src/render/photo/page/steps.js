import { cutOut, prepareCut } from "./cut_out.js";
import { decodePhoto } from "./decode.js";
import { findPlayer } from "./find_player.js";
import { answered, openNetworkFile, writeShared } from "./networks.js";
import { refusalFromParts } from "./parts_faults.js";
import { findSalient } from "./salient.js";

/** @import { CutoutSigns, Focus, Framing, Tones } from "../../../core/card.ts" */
/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @import { Cut } from "./body_parts.js" */
/** @import { Company } from "./check_player.js" */
/** @import { Header, Photo } from "./decode.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Mask } from "./masks.js" */
/** @import { Bytes } from "./pixels.js" */
/** @import { Rect } from "./rects.js" */

/**
 * What the page offers to the process that opened it: the steps of a photo, which that process calls in the
 * order of its own list, one photo at a time. Each takes what those before it left in the job, and returns
 * why the photo is refused, or null. The photo comes in as a file, and smaller pictures go out as data URLs,
 * which browsers create natively. The networks run in that process; a shared file connects both, through
 * which the cutout goes too.
 * @typedef {object} PhotoPage
 * @property {() => Promise<string>} load opens the shared file and returns what it begins with
 * @property {typeof answered} answered reports that a network's answer is in the file
 * @property {(header: Header) => Promise<"undecodable" | null>} decode refuses bytes that are not a complete
 *   photo
 * @property {(companyWelcome: boolean, focus: Focus | null) => Promise<PlayerRefusal | null>} find finds the
 *   player, the one at `focus` if given, turning the photo upright if necessary
 * @property {() => Promise<PlayerRefusal | null>} prepare selects the part of the photo to cut and finds the
 *   body parts in it
 * @property {() => Promise<null>} salient finds what stands out in that part
 * @property {() => Promise<Description | { refusal: PlayerRefusal }>} cutOut says what the cutout is, and of
 *   the photo keeps only what its pixels are made of
 * @property {() => Promise<void>} pixels writes them into the shared file: red, green, blue and alpha, row by
 *   row
 * @property {() => void} release
 */

/**
 * @typedef {{ width: number, height: number, framing: Framing, inPhoto: Rect, signs: CutoutSigns, inCompany:
 *   boolean, quarters: 0 | 1 | 2 | 3, tones: Tones | null, outline: string }} Description of a cutout
 */

/**
 * What the steps of one photo leave here for those after them. The process has a job of its own (`PhotoJob`
 * in photo.ts) with what is asked of the photo and the cutout's description: pixels stay on this side.
 * @type {{ photo?: Photo, company?: Company, player?: Finding, cut?: Cut, salient?: Mask, pixels?: () =>
 *   Bytes }}
 */
let job = {};

/** @template T @param {T | undefined} value @returns {T} */
function required(value) {
  if (value === undefined) throw new Error("The steps of a photo were called out of order.");
  return value;
}

/** @type {PhotoPage} */
const photoPage = {
  load: openNetworkFile,
  answered,

  async decode(header) {
    const [file] = document.querySelector("input")?.files ?? [];
    if (!file) throw new Error("No photo was given to the page.");
    try {
      job = { photo: await decodePhoto(file, header) };
      return null;
    } catch (error) {
      if (error instanceof DOMException) return "undecodable";
      throw error;
    }
  },

  async find(companyWelcome, focus) {
    job.company = focus ? "any" : companyWelcome ? "smaller" : "background";
    const search = await findPlayer(required(job.photo), job.company, focus);
    job.photo = search.photo;
    if ("refusal" in search) return search.refusal;
    job.player = search.player;
    return null;
  },

  async prepare() {
    const player = required(job.player);
    job.cut = await prepareCut(required(job.photo), player);
    const fault = await refusalFromParts(job.cut, player);
    if (fault !== "several_people" || job.company === "background") return fault;
    player.inCompany = true;
    return null;
  },

  async salient() {
    job.salient = await findSalient(required(job.cut));
    return null;
  },

  async cutOut() {
    const player = required(job.player);
    const { pixels, silhouette, ...cutout } = cutOut(required(job.cut), player, required(job.salient));
    if (job.company === "any" && cutout.keepsOthersFace) return { refusal: "overlapped" };
    const { bitmap, quarters } = required(job.photo);
    bitmap.close();
    job = { pixels };
    return {
      ...cutout.description,
      inCompany: player.inCompany ?? false,
      quarters,
      outline: await dataUrl(await silhouette.convertToBlob({ type: "image/png" })),
    };
  },

  pixels: () => writeShared(required(job.pixels)()),

  release() {
    job.photo?.bitmap.close();
    job = {};
  },
};

/** @param {Blob} blob @returns {Promise<string>} */
function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

Object.assign(globalThis, { photoPage });
