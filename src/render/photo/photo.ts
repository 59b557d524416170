import type { Browser } from "puppeteer-core";
import type { Cutout, CutoutDescription, Focus } from "../../core/card.ts";
import { PHOTO_REFUSALS, type PhotoRefusal } from "../../core/photo-refusals.ts";
import { encodePng } from "../card/formats/encode.ts";
import { checkedDescription } from "./checked-description.ts";
import { readHeader } from "./header.ts";
import type { MatteModel } from "./matte-model.ts";
import { NETWORKS_DIGEST } from "./network-files.ts";
import { type Networks, openNetworks } from "./networks.ts";
import { packagedRuntime, returnFreedMemory } from "./onnx-runtime.ts";
import type { Company } from "./page/check-player.ts";
import { PAGE_MODULES } from "./page-modules.ts";
import { type OpenPhotoPage, openPhotoPage } from "./photo-page.ts";

/**
 * Part of a cached cutout's key: another one for every change to the page's modules or the networks, so that
 * no cutout of other rules is used.
 */
export const VISION_VERSION = Object.entries(PAGE_MODULES)
  .reduce((hash, [name, text]) => hash.update(name).update(text), new Bun.CryptoHasher("sha256"))
  .update(NETWORKS_DIGEST)
  .digest("hex")
  .slice(0, 16);

/** The version for a service with the operator's matte network, which gives different cutouts. */
export const visionOf = (matteModel: MatteModel | null) =>
  matteModel ? `${VISION_VERSION}-${matteModel.sha256.slice(0, 16)}` : VISION_VERSION;

export type PhotoStage = "decode" | "find" | "cut_out";

/** A photo of which no card can be made, and why. */
export interface Refused {
  ok: false;
  reason: PhotoRefusal;
  message: string;
  timingsMs: Record<string, number>;
}

export type CutOutResult = { ok: true; cutout: Cutout; timingsMs: Record<string, number> } | Refused;

export type DescribeResult =
  | {
      ok: true;
      description: CutoutDescription;
      /**
       * Makes the cutout itself, a PNG. Until the next photo, or `tidy`, it takes no more than its pixels;
       * afterwards the photo is begun anew.
       */
      pixels: () => Promise<Uint8Array>;
      timingsMs: Record<string, number>;
    }
  | Refused;

export interface PhotoOptions {
  /** Where the player is in the upright photo, of several people; the person there is taken. */
  focus?: Focus | null;
  /** How prominent others may be. Absent: `any` beside a focus, `background` without one. */
  company?: Company;
  onStage?: (stage: PhotoStage) => void;
}

type OfPhoto<Result> = (photoPath: string, options?: PhotoOptions) => Promise<Result>;

export interface PhotoCutter {
  /**
   * Finds the player in a photo file (JPEG, PNG or WebP), and says what the cutout is. Unusable photos are
   * refused in the result; an error means that the browser failed and the same photo may be retried. Photos
   * are processed one at a time.
   */
  describe: OfPhoto<DescribeResult>;
  /** The same, with the cutout itself. */
  cutOut: OfPhoto<CutOutResult>;
  /** Starts loading the networks, so that the first photo need not wait for them. */
  warm(): void;
  /**
   * Frees what photos leave behind, the last one's pixels too, which the page keeps for its cutout. To be
   * called now and then, and between photos: left alone, memory grows by hundreds of megabytes. When to
   * collect garbage is left to the page's engine: asked to, it throws away its compiled code too, and the
   * next photos take 0.6 s of CPU more.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** Workers cut out photos side by side and share the cores, so a network gets one thread. */
const NETWORK_THREADS = 1;

/**
 * The page for photos, which takes one after the other and is replaced when it fails; opened now, or `late`
 * with the first photo.
 */
async function photoPages(browser: Browser, networks: Networks, { late }: { late: boolean }) {
  let page: OpenPhotoPage | null = late ? null : await openPhotoPage(browser, networks);
  let last: Promise<unknown> = Promise.resolve();

  const inPage = async <T>(work: (page: OpenPhotoPage) => Promise<T>): Promise<T> => {
    if (page?.hasCrashed())
      page = await page.close().then(
        () => null,
        () => null,
      );
    page ??= await openPhotoPage(browser, networks);
    try {
      return await work(page);
    } catch (error) {
      // A page that failed once may be in a bad state, so the next photo gets a new one.
      await page.close().catch(() => {});
      page = null;
      throw error;
    }
  };
  return {
    isOpen: () => page !== null,
    run<T>(work: (page: OpenPhotoPage) => Promise<T>): Promise<T> {
      const result = last.then(() => inPage(work));
      last = result.catch(() => {});
      return result;
    },
    async close() {
      await last;
      await page?.close().catch(() => {});
      page = null;
    },
  };
}

/**
 * Opens the photo stage of a render worker in its browser.
 * @param runtime the folder of the native ONNX runtime
 * @param matteModel the operator's network, which replaces the salient network
 * @param opening whether its page is opened with the first photo only
 */
export async function openPhotoCutter(
  browser: Browser,
  runtime = packagedRuntime(),
  matteModel: MatteModel | null = null,
  opening = { late: false },
): Promise<PhotoCutter> {
  const networks = openNetworks(runtime, NETWORK_THREADS, matteModel);
  const pages = await photoPages(browser, networks, opening);
  /** The last photo that was described, and the page that can still make its cutout. */
  let held: { page: OpenPhotoPage; wanted: Wanted; size: CutoutDescription } | undefined;

  const describeIn = async (page: OpenPhotoPage, wanted: Wanted, onStage: (stage: PhotoStage) => void) => {
    held = undefined;
    const end = await runSteps({ page, ...wanted }, onStage);
    if (end.ok) held = { page, wanted, size: end.description };
    return end;
  };
  const pixelsIn = async (page: OpenPhotoPage, wanted: Wanted): Promise<Uint8Array> => {
    if (held?.page !== page || held.wanted !== wanted) await describeIn(page, wanted, () => {});
    if (!held) throw new Error("A photo that was described before is refused now.");
    await page.call("pixels");
    return encodePng(page.takeCutout(held.size));
  };
  const releaseIn = async (page: OpenPhotoPage) => {
    held = undefined;
    await page.call("release");
  };
  const describe: PhotoCutter["describe"] = async (photoPath, options = {}) => {
    const { focus = null, company = focus ? "any" : "background", onStage = () => {} } = options;
    const wanted = { photoPath, company, focus };
    const end = await pages.run((page) => describeIn(page, wanted, onStage));
    return end.ok ? { ...end, pixels: () => pages.run((page) => pixelsIn(page, wanted)) } : end;
  };
  return {
    describe,
    async cutOut(...photo) {
      const found = await describe(...photo);
      if (!found.ok) return found;
      const { description, pixels, timingsMs } = found;
      const started = performance.now();
      const bytes = await pixels();
      const took = { ...timingsMs, die_cut: performance.now() - started };
      return { ok: true, cutout: { ...description, bytes }, timingsMs: took };
    },
    warm: () => networks.warm(),
    async tidy() {
      networks.releaseRare();
      // If this fails, the next photo reports why.
      if (pages.isOpen()) await pages.run(releaseIn).catch(() => {});
      returnFreedMemory();
    },
    close: () => pages.close(),
  };
}

/** A photo, and what is asked of it. */
interface Wanted {
  photoPath: string;
  company: Company;
  focus: Focus | null;
}

/** What is asked of a photo, and what its steps leave for those after them. */
interface PhotoJob extends Wanted {
  page: OpenPhotoPage;
  description?: CutoutDescription;
}

/** One step of a photo: refuses it, or null. */
interface PhotoStep {
  /** The stage that begins with it, as cards report them. */
  stage?: PhotoStage;
  run(job: PhotoJob): Promise<PhotoRefusal | null>;
}

/** From a photo to its cutout, in this order; timings are reported under these names. */
const STEPS: Record<string, PhotoStep> = {
  decode: { stage: "decode", run: decode },
  find: { stage: "find", run: ({ page, company, focus }) => page.call("find", company, focus) },
  prepare: { stage: "cut_out", run: ({ page }) => page.call("prepare") },
  salient: { run: ({ page }) => page.call("salient") },
  cut_out: { run: describeCutout },
};

async function decode({ page, photoPath }: PhotoJob): Promise<PhotoRefusal | null> {
  const header = await readHeader(photoPath);
  if (!header) return "undecodable";
  await page.givePhoto(photoPath);
  return page.call("decode", header);
}

async function describeCutout(job: PhotoJob): Promise<PhotoRefusal | null> {
  const description = await job.page.call("cutOut");
  if ("refusal" in description) return description.refusal;
  job.description = checkedDescription(description);
  return null;
}

type Described = Omit<Extract<DescribeResult, { ok: true }>, "pixels"> | Refused;

async function runSteps(job: PhotoJob, onStage: (stage: PhotoStage) => void): Promise<Described> {
  const timingsMs: Record<string, number> = {};
  for (const [name, { stage, run }] of Object.entries(STEPS)) {
    if (stage) onStage(stage);
    const start = performance.now();
    const reason = await run(job);
    timingsMs[name] = performance.now() - start;
    if (!reason) continue;
    await job.page.call("release");
    return { ok: false, reason, message: PHOTO_REFUSALS[reason], timingsMs };
  }
  if (!job.description) throw new Error("The steps of a photo left no cutout.");
  return { ok: true, description: job.description, timingsMs };
}
