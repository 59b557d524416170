import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import type { CardInput, Composition } from "../../core/card.ts";
import type { FailureReason } from "../../core/failure-reasons.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import { cardInput, storedCard, storedRequest } from "../../core/image-request.ts";
import { OWN_PLACEHOLDER_BYTES_PER_DAY, OWN_PLACEHOLDER_WAIT_MS } from "../../core/limits.ts";
import { isMoving } from "../../core/moving-pictures.ts";
import { PDF, PICTURE_FORMATS } from "../../core/picture-formats.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { Claimed } from "../../jobs/jobs.ts";
import { compositionFor } from "../../render/card/placement/composition.ts";
import { scaledPlaceholder } from "../../render/placeholders/placeholder.ts";
import type { Placeholder } from "../../render/placeholders/placeholder-files.ts";
import type { RenderPool } from "../../render/pool.ts";
import type { RenderJob } from "../../render/protocol.ts";
import { LANES } from "../../store/images/queue-place.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { DEFAULT_TEMPLATE, isBuiltIn } from "../../templates/built-in.ts";
import { compositionsOf } from "../../templates/manifest.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import { cardPdf } from "../print/card-pdf.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import { manifestOf } from "./pinned-manifest.ts";
import { pinnedTemplate } from "./render-image.ts";

export interface TestPlaceholderDeps {
  pool: Pick<RenderPool, "acquire">;
  blobs: Blobs;
  placeholderBytes: Pick<DailyBytes, "spent">;
  /** Where renderers write their pictures. */
  folder: Pick<DataFolder, "scratch">;
  templates: Pick<TemplateRegistry, "current">;
}

/** The picture of a test image cannot be made at all: another attempt would end the same way. */
export class PlaceholderRefused extends Error {
  constructor(
    message: string,
    readonly reason: FailureReason,
  ) {
    super(message);
  }
}

/** In a batch nobody waits for a single card, and all are looked through: each gets its own picture. */
const OWN_PLACEHOLDER_WAIT_IN_BATCH_MS = 30 * SECOND_MS;
/**
 * So many wait like that at once; further ones wait no longer than single ones, which would find no place
 * otherwise.
 */
export const MAX_PATIENT_PLACEHOLDERS = 32;

/** However many test images wait, live cards lose one worker to them at most. */
const drawing = new PQueue({ concurrency: 1 });

/** The picture a test image gets, and what it gets where that one cannot be drawn in time. */
export interface TestPicture {
  best: Placeholder;
  instead?: Placeholder;
}

/**
 * The picture of a test image: the template it was accepted with, with the data that was sent, a silhouette
 * for the player, and TEST across it; shared by those that ask for the same. Of the built-in card there are
 * silhouettes in many sizes that need no worker: they stand in while workers are busy, and once an account
 * has had its share of others.
 */
export async function testPlaceholder(
  deps: TestPlaceholderDeps,
  image: Claimed,
  signal: AbortSignal,
): Promise<TestPicture> {
  const card = storedCard(image);
  const { preset } = card.style;
  const { templateDigest } = image;
  if (templateDigest === null ? preset === DEFAULT_TEMPLATE : isBuiltIn(DEFAULT_TEMPLATE, templateDigest))
    return ownOrGeneral(deps, image, signal);
  return { best: drawnPlaceholder(deps, image, card, await pinnedTemplate(deps.blobs, image), signal) };
}

/** The other side of a test image's card, drawn like the front. */
export async function backPlaceholder(
  deps: TestPlaceholderDeps,
  image: Claimed,
  signal: AbortSignal,
): Promise<Placeholder> {
  const card = storedCard(image);
  const shown = { ...(await pinnedTemplate(deps.blobs, image)), side: "back" as const };
  return drawnPlaceholder(deps, image, card, shown, signal);
}

/** The PDF of a test image, whose pages are drawn like pictures. */
export async function pdfPlaceholder(
  deps: TestPlaceholderDeps,
  image: Claimed,
  signal: AbortSignal,
): Promise<TestPicture> {
  const front = await testPlaceholder(deps, image, signal);
  const backs = storedCard(image).style.back ? [await backPlaceholder(deps, image, signal)] : [];
  const { createdAt } = image;
  const of = (first: Placeholder): Placeholder => {
    const sides = [first, ...backs];
    return {
      name: `${sides.map(({ name }) => name).join("-")}.pdf`,
      contentType: PDF,
      draw: async () => {
        const pictures: Uint8Array[] = [];
        for (const { draw } of sides) pictures.push(await bytesOf(await draw()));
        // All who ask for the same picture share it, whatever the player is called.
        return cardPdf(pictures, { title: "Test card", createdAt });
      },
    };
  };
  return { best: of(front.best), ...(front.instead && { instead: of(front.instead) }) };
}

/** The bytes of a picture that was drawn, whose file goes. */
async function bytesOf(drawn: Awaited<ReturnType<Placeholder["draw"]>>): Promise<Uint8Array> {
  if (!("path" in drawn)) return drawn;
  try {
    return await readFile(drawn.path);
  } finally {
    await rm(drawn.path, { force: true }).catch(() => {});
  }
}

/**
 * What a test image tells as its composition: that of a live card of the same request, as far as it does not
 * depend on the photo, since a test image has none.
 */
export async function testComposition(
  deps: Pick<TestPlaceholderDeps, "blobs" | "templates">,
  image: Pick<Claimed, "request" | "templateDigest">,
): Promise<Composition> {
  const { preset, composition } = cardInput(storedRequest(image.request)).style;
  return compositionFor(composition, compositionsOf(await manifestOf(deps, preset, image.templateDigest)));
}

async function ownOrGeneral(
  deps: TestPlaceholderDeps,
  image: Claimed,
  signal: AbortSignal,
): Promise<TestPicture> {
  const { player, ...card } = storedCard(image);
  const { width, height, format, layers } = card.style;
  // The card shows neither id nor photo: squads that differ in nothing else share their pictures.
  const { externalId: _, focus: _focus, ...shown } = player;
  const template = await pinnedTemplate(deps.blobs, image);
  const isSpent = (await deps.placeholderBytes.spent(image.accountId)) >= OWN_PLACEHOLDER_BYTES_PER_DAY;
  if (isMoving(format) || layers) {
    // No silhouette moves or has layers: beyond an account's share, all of its test cards of a look are the
    // same one.
    const alike = isSpent
      ? { style: card.style, branding: {}, player: ANY_PLAYER }
      : { ...card, player: shown };
    return { best: drawnPlaceholder(deps, image, alike, template, signal) };
  }
  const instead = scaledPlaceholder(width, height, format);
  if (isSpent) return { best: instead };
  const own = (waitMs: number) =>
    drawnPlaceholder(
      deps,
      image,
      { ...card, player: shown },
      template,
      AbortSignal.any([signal, AbortSignal.timeout(waitMs)]),
    );
  const prompt = own(OWN_PLACEHOLDER_WAIT_MS);
  if (image.lane !== LANES.batch) return { best: prompt, instead };
  const draw = async () => {
    if (patient >= MAX_PATIENT_PLACEHOLDERS) return prompt.draw();
    patient++;
    try {
      return await own(OWN_PLACEHOLDER_WAIT_IN_BATCH_MS).draw();
    } finally {
      patient--;
    }
  };
  return { best: { ...prompt, draw }, instead };
}

/** Test cards of batches that wait for a worker. */
let patient = 0;

/** Whom a test card shows that shows nobody in particular. */
const ANY_PLAYER: CardInput["player"] = { name: "Test Card", position: "ST", number: 9, skillLevel: 87 };

function drawnPlaceholder(
  deps: TestPlaceholderDeps,
  image: Claimed,
  card: CardInput,
  template: Pick<RenderJob, "template" | "side">,
  signal: AbortSignal,
): Placeholder {
  const { format } = card.style;
  const job: RenderJob = {
    jobId: image.leaseToken,
    card,
    ...template,
    placeholder: true,
    photoPath: "",
    photoSha256: "",
    badgePath: null,
    outputPath: join(deps.folder.scratch, image.leaseToken),
  };
  return {
    name: `${fingerprintOf({ card, templateDigest: image.templateDigest, side: template.side })}.${format}`,
    contentType: PICTURE_FORMATS[format].contentType,
    draw: () =>
      drawing.add(() => render(deps.pool, job, signal), {
        signal,
        // A caller who asks for a single one waits for it.
        priority: image.lane === LANES.batch ? 0 : 1,
      }),
  };
}

async function render(pool: Pick<RenderPool, "acquire">, job: RenderJob, signal: AbortSignal) {
  const renderer = await pool.acquire(signal);
  try {
    const outcome = await renderer.render(job, () => {});
    if (outcome.kind === "refused") throw new PlaceholderRefused(outcome.message, outcome.reason);
    // The caller has gone, and nobody takes the file.
    signal.throwIfAborted();
    return { path: job.outputPath, bytes: outcome.file.bytes };
  } catch (error) {
    // What cannot be removed now goes with the next start.
    await rm(job.outputPath, { force: true }).catch(() => {});
    throw error;
  } finally {
    renderer.release();
  }
}
