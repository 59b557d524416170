import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type { Badge, CardInput, Cutout, CutoutDescription, CutoutFile, Focus } from "../core/card.ts";
import type { FailureReason } from "../core/failure-reasons.ts";
import { MAX_WARM_PAGES } from "../core/limits.ts";
import { isMoving } from "../core/moving-pictures.ts";
import {
  BADGE_REFUSAL,
  BROWSER_REFUSAL,
  ENCODER_REFUSAL,
  PHOTO_REFUSALS,
  PICTURE_REFUSAL,
  REASON_OF_REFUSAL,
} from "../core/photo-refusals.ts";
import { sha256 } from "../core/sha256.ts";
import { writeWhole } from "../system/write-whole.ts";
import type { LoadedTemplate } from "../templates/load.ts";
import { compositionsOf, type TemplateManifest } from "../templates/manifest.ts";
import { templateRegistry } from "../templates/registry.ts";
import { launchBrowser, PAGE_CRASHED } from "./browser/browser.ts";
import { NO_CANVAS } from "./card/capture.ts";
import type { CardJob } from "./card/card-fill.ts";
import { type Mp4Maker, mp4Of } from "./card/formats/mp4.ts";
import { NO_VIDEO_ENCODER } from "./card/moving-picture.ts";
import type { CardPicture } from "./card/page.ts";
import { type PageCache, pageCache } from "./card/page-cache.ts";
import { isPhotoOnly } from "./card/placement/composition.ts";
import { printDocument } from "./document.ts";
import { openPhotoCutter, type PhotoCutter, type Refused, visionOf } from "./photo/photo.ts";
import { openPreviews, type PreviewSources, type Previews } from "./preview/previews.ts";
import type { DocumentJob, RenderedFile, RendererOptions, RenderJob, Stage } from "./protocol.ts";
import { tidying } from "./tidying.ts";
import { toolsOf } from "./tools.ts";

/**
 * No card can be made of what was sent, or by this browser. The message is for the partner: what is wrong,
 * and what to send instead.
 */
export class CardRefused extends Error {
  constructor(
    message: string,
    readonly reason: FailureReason,
  ) {
    super(message);
  }
}

/**
 * One warm Chromium that turns a photo and a player's details into a finished picture. One card at a time.
 */
export interface CardRenderer {
  render(job: RenderJob, onStage: (stage: Stage) => void): Promise<RenderedFile>;
  /** Prints a document, written whole or not at all. */
  printDocument(job: DocumentJob): Promise<void>;
  /** The same for designers: of a folder as it is now, with what is known of the picture. */
  readonly previews: Previews;
  /** Begins to load what the first new photo needs and a card of a known photo does not. */
  warmNetworks(): void;
  onBrowserLost(listener: () => void): void;
  close(): Promise<void>;
}

export interface RendererEvents {
  /** What of the start comes next, so that a start that stalls says where. */
  onStep?: (step: string) => void;
  /** The browser's process, as soon as there is one. */
  onBrowser?: (pid: number) => void;
  /** Something the operator should know, although cards go on. */
  onProblem?: (problem: string) => void;
}

/** Starts the browser and warms everything a card needs, so that the first card is as quick as the next. */
export async function openCardRenderer(
  options: RendererOptions,
  events: RendererEvents = {},
): Promise<CardRenderer> {
  const onStep = events.onStep ?? (() => {});
  onStep("launching the browser");
  await mkdir(options.profilesDir, { recursive: true });
  const browser = await launchBrowser(options);
  const { pid } = browser.process() ?? {};
  if (pid !== undefined) events.onBrowser?.(pid);
  try {
    const { cutoutsDir, matteModel, mp4Encoder } = options;
    onStep("opening its pages");
    // Side by side: each waits for another process most of the time. The photo page first: the page opened
    // last is in front, and draws frames.
    const [cutter, tools, pages] = await Promise.all([
      openPhotoCutter(browser, options.onnxRuntime, matteModel, { late: options.warms === "one_page" }),
      toolsOf(browser, matteModel),
      warmPages(browser, options, events),
    ]);
    const mp4 = mp4Encoder === null ? null : { encoder: mp4Encoder, scratch: options.profilesDir };
    const cutouts = { cutter, cutoutsDir, vision: visionOf(matteModel) };
    const tidied = tidying(() => {
      Bun.gc(true);
      void cutter.tidy();
    });
    const forPreviews = { ...cutouts, refused: new Map<string, Refused>() };
    const cutOut: PreviewSources["cutOut"] = (path, sha256, card, manifest) =>
      describeCached(forPreviews, { path, sha256, card, manifest }, () => {});
    const previews = openPreviews(browser, { cutOut, readPicture, readPictures });
    return {
      render: (job, onStage) => tidied(() => renderCard({ ...cutouts, pages, tools, mp4 }, job, onStage)),
      printDocument: (job) => printDocument(browser, job),
      previews: { ...previews, make: (job) => tidied(() => previews.make(job)) },
      warmNetworks: () => cutter.warm(),
      onBrowserLost: (listener) => void browser.once("disconnected", listener),
      close: () => browser.close(),
    };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/**
 * Opens the pages cards will be asked for. One broken template keeps nobody from the others' cards; all of
 * them do.
 */
async function warmPages(
  browser: Browser,
  options: RendererOptions,
  { onProblem = () => {}, onStep = () => {} }: RendererEvents,
): Promise<PageCache> {
  const presets = options.presets.slice(0, MAX_WARM_PAGES);
  const isOneEnough = options.warms === "one_page";
  const templates = templateRegistry({ ...options, onProblem });
  const pages = pageCache(browser, templates, onProblem);
  const problems: Error[] = [];
  const captureMethods = new Set<string>();
  // The first preset is opened last: the cache evicts the least recently used page, so it stays longest.
  for (const preset of isOneEnough ? presets : presets.toReversed()) {
    if (isOneEnough && captureMethods.size > 0) break;
    onStep(`opening the page of ${preset}`);
    await pages.get(preset).then(
      ({ page }) => captureMethods.add(page.captureMethod),
      (error) => problems.push(error),
    );
  }
  if (problems.length === presets.length) throw problems[0];
  for (const { message } of problems) onProblem(message);
  if (captureMethods.has("screenshot")) onProblem(NO_CANVAS);
  return pages;
}

/** What cuts players out, and where it keeps them: under the photo's hash and the word for how it is done. */
interface Cutouts {
  cutter: PhotoCutter;
  cutoutsDir: string;
  vision: string;
  /** For a designer, who draws hundreds of cards with one photo: why photos were refused. */
  refused?: Map<string, Refused>;
}

interface RendererDeps extends Cutouts {
  pages: PageCache;
  tools: Record<string, string>;
  /** Null where videos cannot be made as MP4. */
  mp4: Mp4Maker | null;
}

/** Draws the card on a page of its template, which is dropped if that fails. */
async function drawCard(
  { pages, mp4 }: RendererDeps,
  job: RenderJob,
  given: Pick<CardJob, "cutout" | "makeCutout" | "badge" | "pictures">,
  onStage: (stage: Stage) => void,
): Promise<{ picture: CardPicture; template: LoadedTemplate }> {
  const front = await pages.get(job.card.style.preset, job.template);
  const { page, template } = job.side === "back" ? await pages.back(front.template) : front;
  const { format, layers, foil } = job.card.style;
  if (page.captureMethod === "screenshot" && (isMoving(format) || layers || foil))
    throw new CardRefused(BROWSER_REFUSAL, "browser_too_old");
  const { pictures } = template.markup;
  if (format === "mp4" && !mp4) throw new CardRefused(ENCODER_REFUSAL, "browser_too_old");
  const card: CardJob = {
    ...given,
    card: job.card,
    photo: (pictures.has("photo") || pictures.has("backdrop")) && !job.placeholder ? job.photoPath : null,
    watermark: job.placeholder ? "TEST" : job.preview ? "PREVIEW" : null,
  };
  const picture = await page.render(card, onStage).catch(async (error) => {
    // Another attempt would end the same way. The page is well: it refused the badge before it showed
    // anything.
    if (String(error).includes(BADGE_UNDECODABLE)) throw new CardRefused(BADGE_REFUSAL, "badge_unusable");
    if (PICTURE_UNDECODABLE.test(String(error))) throw new CardRefused(PICTURE_REFUSAL, "picture_unusable");
    if (String(error).includes(NO_VIDEO_ENCODER)) throw new CardRefused(BROWSER_REFUSAL, "browser_too_old");
    pages.drop(template.digest);
    // A file may have been damaged on the disk: the next attempt cuts the player out again.
    if (given.cutout && !hasCrashed(error)) await rm(descriptionOf(given.cutout.path), { force: true });
    throw error;
  });
  if (format !== "mp4" || !mp4) return { picture, template: front.template };
  const begun = performance.now();
  const made = await mp4Of(picture, mp4);
  const { encode = 0, ...timingsMs } = picture.timingsMs;
  const timed = { timingsMs: { ...timingsMs, encode: encode + performance.now() - begun } };
  return { picture: { ...picture, ...made, ...timed }, template: front.template };
}

async function renderCard(
  deps: RendererDeps,
  job: RenderJob,
  onStage: (stage: Stage) => void,
): Promise<RenderedFile> {
  const startedAt = performance.now();
  // A template without a player has no use for the cutout, but a photo that is none is refused all the same.
  const [{ timingsMs, ...player }, badge, pictures] = await Promise.all([
    job.placeholder ? { cutout: null, timingsMs: {} } : describePlayer(deps, job, onStage),
    job.badgePath === null ? null : readPicture(job.badgePath),
    readPictures(job.picturePaths),
  ]);
  const draw = () => drawCard(deps, job, { ...player, badge, pictures }, onStage);
  // A page that crashed, perhaps long ago and unnoticed until now, is no fault of this card: a new one may
  // draw it.
  const { picture, template } = await draw().catch((error) => {
    if (!hasCrashed(error)) throw error;
    return draw();
  });
  onStage("store");
  const renderedAt = performance.now();
  await writeWhole(job.outputPath, picture.bytes);
  const stages = {
    ...timingsMs,
    ...picture.timingsMs,
    store: performance.now() - renderedAt,
    total: performance.now() - startedAt,
  };
  const { extents: _, ...framing } = player.cutout?.framing ?? {};
  return {
    contentType: picture.contentType,
    width: picture.width,
    height: picture.height,
    bytes: picture.bytes.length,
    composition: picture.composition,
    template: { version: template.manifest.version, digest: template.digest },
    timingsMs: stages,
    receipt: {
      sha256: sha256(picture.bytes),
      tools: deps.tools,
      // Strips are for placing the player, not for readers of a receipt.
      framing: player.cutout ? framing : null,
      timingsMs: stages,
    },
  };
}

/** What is known of a photo's player. */
interface KnownPlayer {
  cutout: CutoutFile;
  /** Makes the cutout's file, if it is not there or damaged. */
  makeCutout: () => Promise<void>;
  timingsMs: Record<string, number>;
}

/** The player of a job's photo, as its template needs to know. */
async function describePlayer(deps: RendererDeps, job: RenderJob, onStage: (stage: Stage) => void) {
  const { card, photoPath: path, photoSha256: sha256 } = job;
  const { template } = await deps.pages.get(card.style.preset, job.template);
  return describeCached(deps, { path, sha256, card, manifest: template.manifest }, onStage);
}

/** A card and the photo it is made of. */
interface PhotoOfCard {
  path: string;
  sha256: string;
  card: CardInput;
  manifest: Pick<TemplateManifest, "compositions">;
}

/**
 * What is known of a photo's player, from the cache or found now and cached: the same photo is looked at once
 * for all cards. The cutout itself is made for the first card that shows it. Company is welcome where the
 * card can only be the photo itself, and where the player is pointed at.
 */
async function describeCached(
  { cutter, cutoutsDir, vision, refused }: Cutouts,
  { card, manifest, ...photo }: PhotoOfCard,
  onStage: (stage: Stage) => void,
): Promise<KnownPlayer> {
  const { focus = null } = card.player;
  const path = join(cutoutsDir, photo.sha256.slice(0, 2), `${photo.sha256}-${vision}${focusKey(focus)}`);
  const isOnlyPhoto = isPhotoOnly(card.style.composition, compositionsOf(manifest));
  const company = focus ? "any" : isOnlyPhoto ? "smaller" : "background";
  const cached = await findDescription(path);
  if (cached) {
    const { checksum, ...description } = cached;
    if (description.inCompany && company === "background")
      throw new CardRefused(PHOTO_REFUSALS.several_people, "several_people");
    const makeCutout = async () => {
      if (await isWhole(path, checksum)) return;
      // A player who was found may be found again, with company or without.
      const again = await cutter.cutOut(photo.path, { company: focus ? "any" : "smaller", focus });
      if (!again.ok) throw new CardRefused(again.message, REASON_OF_REFUSAL[again.reason]);
      await saveCutout(path, again.cutout);
    };
    return { cutout: { path, ...description }, makeCutout, timingsMs: {} };
  }
  const asked = `${path} ${company}`;
  const found = refused?.get(asked) ?? (await cutter.describe(photo.path, { company, focus, onStage }));
  if (!found.ok) {
    refused?.set(asked, found);
    throw new CardRefused(found.message, REASON_OF_REFUSAL[found.reason]);
  }
  const { description, pixels, timingsMs } = found;
  await saveDescription(path, { ...description, checksum: null });
  const makeCutout = async () => void (await saveCutout(path, { ...description, bytes: await pixels() }));
  return { cutout: { path, ...description }, makeCutout, timingsMs };
}

/** The same photo with another focus is another cutout. */
const focusKey = (focus: Focus | null) =>
  focus ? `-${Bun.hash.xxHash3(`${focus.x} ${focus.y}`).toString(16)}` : "";

const descriptionOf = (cutoutPath: string) => `${cutoutPath}.json`;

/** What is kept of a photo: null for the checksum while no card has shown the cutout. */
type KeptDescription = CutoutDescription & { checksum: string | null };

/** Writes a cutout to `path` and its description beside it. */
export async function saveCutout(path: string, cutout: Cutout): Promise<CutoutFile> {
  const { bytes, ...description } = cutout;
  await writeWhole(path, bytes);
  // The description comes last: without it the cutout does not count.
  await saveDescription(path, { ...description, checksum: checksumOf(bytes) });
  return { path, ...description };
}

const saveDescription = (path: string, description: KeptDescription) =>
  writeWhole(descriptionOf(path), JSON.stringify(description));

/** The description kept of the cutout at `path`; undefined without one, and when the disk has damaged it. */
async function findDescription(path: string): Promise<KeptDescription | undefined> {
  try {
    return JSON.parse(await readFile(descriptionOf(path), "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the cutout is there as it was written. */
async function isWhole(path: string, checksum: string | null): Promise<boolean> {
  if (checksum === null) return false;
  return readFile(path).then(
    (bytes) => checksum === checksumOf(bytes),
    () => false,
  );
}

/** Checked here because a browser shows a damaged picture as far as it goes. */
const checksumOf = (bytes: Uint8Array) => Bun.hash.xxHash3(bytes).toString(16);

const hasCrashed = (error: unknown) => String(error).includes(PAGE_CRASHED);

/** What fill.ts says of it. */
const BADGE_UNDECODABLE = "the badge picture could not be decoded";
const PICTURE_UNDECODABLE = /the fields\.\w+ picture could not be decoded/;

/** The pictures among a card's own fields, by the fields' names. */
async function readPictures(paths: Record<string, string> = {}): Promise<Record<string, Badge>> {
  const read = Object.entries(paths).map(async ([field, path]) => [field, await readPicture(path)] as const);
  return Object.fromEntries(await Promise.all(read));
}

async function readPicture(path: string): Promise<Badge> {
  const bytes = await readFile(path);
  const { format } = await new Bun.Image(bytes).metadata();
  return { bytes, contentType: `image/${format}` as Badge["contentType"] };
}
