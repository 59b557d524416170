import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { Command } from "commander";
import { checkForPreset } from "../app/images/check-card.ts";
import { cardPdf } from "../app/print/card-pdf.ts";
import { type Config, readConfig } from "../config.ts";
import { ASKED_COMPOSITIONS, type AskedComposition, MOTIONS, type Motion } from "../core/card.ts";
import { shownSetValidator } from "../core/card-set.ts";
import { type ErrorDetail, OperatorError } from "../core/errors.ts";
import type { FailureReason } from "../core/failure-reasons.ts";
import { cardInput, createImageSchema } from "../core/image-request.ts";
import { isMoving } from "../core/moving-pictures.ts";
import { formatsOf, PDF, type PictureFormatName } from "../core/picture-formats.ts";
import { sha256 } from "../core/sha256.ts";
import { compileValidator } from "../core/validate.ts";
import { NO_CANVAS } from "../render/card/capture.ts";
import { CardRefused, type CardRenderer, openCardRenderer } from "../render/card-renderer.ts";
import type { RenderJob } from "../render/protocol.ts";
import { rendererOptions } from "../service/renderer-options.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { writeWhole } from "../system/write-whole.ts";
import { imageFields } from "../templates/fields.ts";
import { type TemplateRegistry, templateRegistry } from "../templates/registry.ts";
import { oneOf } from "./arguments.ts";
import { browserCache } from "./browser-cache.ts";
import { printResult } from "./output.ts";

interface RenderOptions {
  template?: string;
  input: string;
  photo: string;
  badge?: string;
  picture?: string[];
  composition?: AskedComposition;
  motion?: Motion;
  out: string;
  back?: string;
  json?: boolean;
}

export function renderCommand(): Command {
  return new Command("render")
    .description("make one card from files, without a server")
    .option("--template <name>", "the template, listed or not; otherwise the first of CARDPRESS_PRESETS")
    .requiredOption("--input <file>", "the card's details: a JSON body as for POST /v1/images")
    .requiredOption("--photo <file>", "the player's photo")
    .option("--badge <file>", "the club's badge")
    .option("--picture <field=file...>", "pictures among the template's own fields, as sponsor=logo.png")
    .option(
      "--composition <way>",
      `how the player is shown, whatever the details say: ${ASKED_COMPOSITIONS.join(", ")}`,
      oneOf(ASKED_COMPOSITIONS),
    )
    .requiredOption(
      "--out <file>",
      "where to write the picture; .png, .webp, .jpg, .jpeg, .webm, .mp4 or .pdf says how",
    )
    .option(
      "--motion <motion>",
      `the card in motion, as .webm, .mp4 or .webp: ${MOTIONS.join(", ")}`,
      oneOf(MOTIONS),
    )
    .option("--back <file>", "where to write its other side, in the same format, for a template with one")
    .option("--json", "print JSON")
    .action(async (options: RenderOptions) => {
      const file = await renderFiles(options);
      const { total = 0 } = file.timingsMs;
      printResult(
        options.json,
        { file: resolve(options.out), ...file },
        () =>
          `${options.out}${options.back ? ` and ${options.back}` : ""}: ${file.width}x${file.height} ${file.contentType} in ${Math.round(total)} ms`,
      );
    });
}

const FORMATS: Record<string, PictureFormatName> = {
  ".png": "png",
  ".webp": "webp",
  ".jpg": "jpeg",
  ".jpeg": "jpeg",
  ".webm": "webm",
  ".mp4": "mp4",
  ".pdf": "pdf",
};

async function renderFiles(options: RenderOptions) {
  const config = readConfig(process.env);
  // Everything that can be wrong with the input files is reported before a browser starts.
  const { presets } = config;
  const template = options.template ?? (presets[0] as string);
  const templates = templateRegistry({ ...config, presets: [template] });
  const { back } = await templates.current(template);
  if (options.back !== undefined && !back)
    throw new OperatorError(
      `--back ${options.back}: the template ${template} has no other side. Leave it out.`,
    );
  const job = await readJob(options, template, templates, config);
  let renderer: CardRenderer | undefined;
  let closed: Promise<void> | undefined;
  let signal: NodeJS.Signals | undefined;
  void untilSignal().then((name) => {
    signal = name;
    // Work in progress is aborted and cleaned up below.
    closed = renderer?.close();
  });
  const scratch = await mkdtemp(join(tmpdir(), "cardpress-render-"));
  try {
    const browser = await rendererOptions(
      { ...config, presets: [template] },
      { cache: await browserCache(config, scratch), profiles: scratch, cutouts: scratch },
    );
    renderer = await openCardRenderer(browser);
    if (signal) throw new Error("stopped");
    if (formatOf(options) === "pdf") return await renderPdf(renderer, job, options, scratch);
    const front = await renderer.render(job, () => {});
    if (options.back !== undefined)
      await renderer.render({ ...job, side: "back", outputPath: resolve(options.back) }, () => {});
    return front;
  } catch (error) {
    if (signal) throw new OperatorError(`${signal} came before the card was made.`);
    if (error instanceof CardRefused && error.reason === "browser_too_old")
      throw new OperatorError(`--out ${options.out}: ${NO_CANVAS}`);
    if (error instanceof CardRefused)
      throw new OperatorError(`${optionOf(error.reason, options)}: ${error.message}`);
    if (error instanceof Error && "syscall" in error)
      throw new OperatorError(`--out ${options.out} cannot be written: ${error.message}`);
    throw error;
  } finally {
    // The browser writes to the folder until it has exited; a second close would not wait for that.
    await (closed ?? renderer?.close());
    // The browser's profile is being removed at the same time, and rm fails when files vanish under it.
    while (existsSync(scratch)) await rm(scratch, { recursive: true, force: true });
  }
}

/** One file of both sides, which is as old as the details, so that the same card gives the same bytes. */
async function renderPdf(renderer: CardRenderer, job: RenderJob, { input }: RenderOptions, scratch: string) {
  const { card, outputPath } = job;
  const [frontPath, backPath] = [join(scratch, "front"), join(scratch, "back")];
  const front = await renderer.render({ ...job, outputPath: frontPath }, () => {});
  if (card.style.back) await renderer.render({ ...job, side: "back", outputPath: backPath }, () => {});
  const paths = card.style.back ? [frontPath, backPath] : [frontPath];
  const pictures = await Promise.all(paths.map((path) => readFile(path)));
  const { mtimeMs } = await stat(input);
  const bytes = await cardPdf(pictures, { title: card.player.name, createdAt: mtimeMs });
  await writeWhole(outputPath, bytes);
  const receipt = { ...front.receipt, sha256: sha256(bytes) };
  return { ...front, contentType: PDF, bytes: bytes.length, receipt };
}

async function readJob(
  options: RenderOptions,
  template: string,
  templates: TemplateRegistry,
  config: Config,
): Promise<RenderJob> {
  const format = formatOf(options);
  const folder = await stat(options.out).catch(() => undefined);
  if (folder?.isDirectory())
    throw new OperatorError(
      `--out ${options.out} is a folder. Name a file, such as ${join(options.out, "card.png")}.`,
    );
  if (!formatsOf(config).includes(format))
    throw new OperatorError(
      `--out ${options.out}: no encoder for MP4 is known. Set CARDPRESS_MP4_ENCODER to an ffmpeg, such as /usr/bin/ffmpeg, or end the name in .webm.`,
    );
  if (options.back !== undefined && isMoving(format))
    throw new OperatorError(`--back ${options.back}: a card in motion has no other side. Leave it out.`, 2);
  if (options.back !== undefined && format === "pdf")
    throw new OperatorError(
      `--back ${options.back}: in a PDF the other side is the second page. Leave it out, and set style.back to true in --input.`,
      2,
    );
  if (options.back !== undefined && FORMATS[extname(options.back).toLowerCase()] !== format)
    throw new OperatorError(`--back ${options.back} must end in ${extname(options.out)}, like --out.`, 2);
  const { manifest } = await templates.current(template);
  const pictures = readPictures(options.picture ?? [], imageFields(manifest.fields), template);
  const card = await readCard(options, format, template, { templates, config, pictures });
  const photo = await readInput("photo", options.photo);
  if (options.badge !== undefined) await checkPicture("--badge", options.badge);
  for (const [field, path] of Object.entries(pictures)) await checkPicture(`--picture ${field}=`, path);
  return {
    jobId: "render",
    card,
    photoPath: resolve(options.photo),
    photoSha256: sha256(photo),
    badgePath: options.badge ?? null,
    picturePaths: pictures,
    outputPath: resolve(options.out),
  };
}

/** By the ending of the file, which two kinds of WebP have. */
function formatOf({ out, motion }: RenderOptions): PictureFormatName {
  const ending = FORMATS[extname(out).toLowerCase()];
  if (!ending) throw new OperatorError(`--out ${out} must end in ${Object.keys(FORMATS).join(", ")}.`, 2);
  const format = motion !== undefined && ending === "webp" ? "webp-animated" : ending;
  if (motion !== undefined && !isMoving(format))
    throw new OperatorError(`--out ${out} must end in .webm, .mp4 or .webp for a card in motion.`, 2);
  return format;
}

/** The files of pictures by their fields' names. */
function readPictures(given: string[], fields: string[], template: string): Record<string, string> {
  const pairs = given.map((pair) => {
    const at = pair.indexOf("=");
    const field = pair.slice(0, Math.max(at, 0));
    if (fields.includes(field)) return [field, pair.slice(at + 1)] as const;
    const known = fields.length > 0 ? `it has ${fields.join(", ")}` : "it has none";
    throw new OperatorError(
      `--picture ${pair}: write FIELD=FILE, with a picture field of the template ${template}; ${known}.`,
      2,
    );
  });
  return Object.fromEntries(pairs);
}

/** The request body from the file; the photo's URL may be omitted, because the photo is given. */
async function readCard(
  options: RenderOptions,
  format: PictureFormatName,
  template: string,
  {
    templates,
    config,
    pictures,
  }: { templates: TemplateRegistry; config: Config; pictures: Record<string, string> },
) {
  const { input, composition, motion } = options;
  let body: Record<string, Record<string, unknown>>;
  try {
    body = JSON.parse((await readInput("input", input)).toString());
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`--input ${input} is not JSON: ${(error as Error).message}`);
  }
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    throw new OperatorError(`--input ${input} must hold a JSON object, as POST /v1/images takes it.`);
  }
  // A template's sample names its files; the command line overrides them.
  const { photo: _, ...player } = body.player ?? {};
  const { badge: __, ...branding } = body.branding ?? {};
  // What the card is to show of a set, as samples say it: there is no service that could look one up.
  const { set, fields, ...rest } = body;
  const { manifest } = await templates.current(template);
  const files = imageFields(manifest.fields);
  const own = Object.entries(fields ?? {}).filter(([field]) => !files.includes(field));
  const shownFields = { ...Object.fromEntries(own), ...addressesOf(pictures) };
  const shown = set === undefined ? undefined : shownSetValidator.check(set);
  if (shown && !shown.ok)
    throw badInput(
      input,
      shown.details.map(({ field, message }) => ({ field: `set.${field}`, message })),
    );
  const { motion: asked, ...still } = body.style ?? {};
  const style = isMoving(format) ? { ...still, motion: motion ?? asked ?? "foil" } : still;
  const checked = compileValidator(createImageSchema([template]), "the file").check({
    type: "player_card",
    ...rest,
    ...((fields ?? options.picture) && { fields: shownFields }),
    player: { external_id: "render", source_image_url: "https://photo.invalid/", ...player },
    ...(body.branding === undefined ? {} : { branding }),
    // Command line options take precedence over the request's format, template and composition.
    style: { ...style, format, preset: template, ...(composition && { composition }) },
  });
  if (!checked.ok) throw badInput(input, checked.details);
  const details = await checkForPreset(checked.value, templates, config);
  const unfit = composition && details.find(({ field }) => field === "style.composition");
  if (unfit) throw new OperatorError(`--composition ${unfit.message}`);
  if (details.length > 0) throw badInput(input, details);
  return { ...cardInput(checked.value), ...(shown && { set: shown.value }) };
}

function badInput(input: string, details: ErrorDetail[]): OperatorError {
  const problems = details.map(({ field, message }) => `  ${field} ${message}`);
  return new OperatorError(`--input ${input}:\n${problems.join("\n")}`);
}

async function readInput(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch {
    throw new OperatorError(`--${option} ${path} cannot be read. Check the path.`);
  }
}

/** The option that gave what the card cannot be made of. */
function optionOf(reason: FailureReason, { badge, photo }: RenderOptions): string {
  if (reason === "badge_unusable") return `--badge ${badge}`;
  return reason === "picture_unusable" ? "--picture" : `--photo ${photo}`;
}

const addressesOf = (pictures: Record<string, string>) =>
  Object.fromEntries(Object.keys(pictures).map((field) => [field, "https://picture.invalid/"]));

/** Whether a picture looks good is for the eye; that it cannot be decoded, the browser would not report. */
async function checkPicture(option: string, path: string): Promise<void> {
  const { format } = await new Bun.Image(await readInput(option.slice(2), path))
    .metadata()
    .catch(() => ({ format: null }));
  if (format !== "png" && format !== "jpeg" && format !== "webp")
    throw new OperatorError(
      `${option} ${path} is not a picture that cardpress can read. Give it a PNG, JPEG or WebP.`,
    );
}
