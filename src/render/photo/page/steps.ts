import type { CutoutDescription, Focus } from "../../../core/card.ts";
import type { PlayerRefusal } from "../../../core/photo-refusals.ts";
import type { Cut } from "./body-parts.ts";
import type { Company } from "./check-player.ts";
import { cutOut, prepareCut } from "./cut-out.ts";
import { decodePhoto, type Header, type Photo } from "./decode.ts";
import type { Subject } from "./examine.ts";
import { findPlayer } from "./find-player.ts";
import type { Mask } from "./masks.ts";
import { answered, openNetworkFile, writeShared } from "./networks.ts";
import { refusalFromParts } from "./parts-faults.ts";
import type { Bytes } from "./pixels.ts";
import { findSalient } from "./salient.ts";

/**
 * What the steps of one photo leave here for those after them. The process has a job of its own (`PhotoJob`
 * in photo.ts) with what is asked of the photo and the cutout's description: pixels stay on this side.
 */
let job: {
  photo?: Photo;
  company?: Company;
  player?: Subject;
  cut?: Cut;
  salient?: Mask;
  pixels?: () => Bytes;
} = {};

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The steps of a photo were called out of order.");
  return value;
}

/**
 * What the page offers to the process that opened it: the steps of a photo, which that process calls in the
 * order of its own list, one photo at a time. Each takes what those before it left in the job. Those that
 * judge the photo (decode, find, prepare, cutOut) say why it is refused. The photo comes in as a file, and
 * smaller pictures go out as data URLs, which browsers create natively. The networks run in that process; a
 * shared file connects both, through which the cutout goes too.
 */
const photoPage = {
  load: openNetworkFile,
  answered,

  /** Refuses bytes that are not a complete photo. */
  async decode(header: Header): Promise<"undecodable" | null> {
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

  /** Finds the player, the one at `focus` if given, turning the photo upright if necessary. */
  async find(company: Company, focus: Focus | null): Promise<PlayerRefusal | null> {
    job.company = company;
    const search = await findPlayer(required(job.photo), company, focus);
    job.photo = search.photo;
    if ("refusal" in search) return search.refusal;
    job.player = search.player;
    return null;
  },

  /** Selects the part of the photo to cut and finds the body parts in it. */
  async prepare(): Promise<PlayerRefusal | null> {
    const player = required(job.player);
    job.cut = await prepareCut(required(job.photo), player);
    const fault = await refusalFromParts(job.cut, player);
    if (fault !== "several_people" || job.company === "background") return fault;
    player.inCompany = true;
    return null;
  },

  /** Finds what stands out in that part. */
  async salient(): Promise<null> {
    job.salient = await findSalient(required(job.cut));
    return null;
  },

  /** Says what the cutout is, and of the photo keeps only what its pixels are made of. */
  async cutOut(): Promise<CutoutDescription | { refusal: PlayerRefusal }> {
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

  /** Writes them into the shared file: red, green, blue and alpha, row by row. */
  pixels: () => writeShared(required(job.pixels)()),

  release() {
    job.photo?.bitmap.close();
    job = {};
  },
};

export type PhotoPage = typeof photoPage;

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

Object.assign(globalThis, { photoPage });
