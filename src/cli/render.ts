import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { CreateImageRequest, cardInput } from "../core/image-request.ts";
import { compileValidator } from "../core/validate.ts";
import { openDataFolder } from "../data-folder.ts";
import { pressOptions } from "../deps.ts";
import { openPress, PhotoRefused } from "../render/press.ts";
import { printResult } from "./output.ts";

interface RenderOptions {
  template: string;
  input: string;
  photo: string;
  badge?: string;
  out: string;
  json?: boolean;
}

export function renderCommand(): Command {
  return new Command("render")
    .description("make one card from files, without a server")
    .option("--template <name>", "the template", "club_card")
    .requiredOption("--input <file>", "the card's details: a JSON body as for POST /v1/images")
    .requiredOption("--photo <file>", "the player's photo")
    .option("--badge <file>", "the club's badge")
    .requiredOption("--out <file>", "where to write the picture; .png, .webp or .jpg")
    .option("--json", "print JSON")
    .action(async (options: RenderOptions) => {
      const file = await renderFiles(options);
      const { total = 0 } = file.timingsMs;
      printResult(
        options.json,
        { file: resolve(options.out), ...file },
        () => `${options.out}: ${file.width}x${file.height} ${file.contentType} in ${Math.round(total)} ms`,
      );
    });
}

async function renderFiles(options: RenderOptions) {
  const config = readConfig(process.env);
  const scratch = await mkdtemp(join(tmpdir(), "cardpress-render-"));
  const press = await openPress({
    ...(await pressOptions(config, openDataFolder(config.dataDir))),
    profilesDir: scratch,
    cutoutsDir: scratch,
  });
  try {
    const job = {
      jobId: "render",
      card: await readCard(options),
      photoPath: options.photo,
      photoSha256: new Bun.CryptoHasher("sha256")
        .update(await readInput("photo", options.photo))
        .digest("hex"),
      badgePath: options.badge ?? null,
      outputPath: resolve(options.out),
    };
    return await press.make(job, () => {});
  } catch (error) {
    if (error instanceof PhotoRefused) throw new OperatorError(`--photo ${options.photo}: ${error.message}`);
    throw error;
  } finally {
    await press.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The request body from the file; the photo's address may be left out, because the photo is given. */
async function readCard({ input, template, out }: RenderOptions) {
  let body: Record<string, Record<string, unknown>>;
  try {
    body = JSON.parse((await readInput("input", input)).toString());
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`--input ${input} is not JSON: ${(error as Error).message}`);
  }
  if (body === null || typeof body !== "object") {
    throw new OperatorError(`--input ${input} must hold a JSON object, as POST /v1/images takes it.`);
  }
  const format = out.endsWith(".webp") ? "webp" : /\.jpe?g$/.test(out) ? "jpeg" : "png";
  const checked = compileValidator(CreateImageRequest, "the file").check({
    type: "player_card",
    ...body,
    player: { external_id: "render", source_image_url: "https://photo.invalid/", ...body.player },
    style: { format, ...body.style, preset: "club_card" },
  });
  if (!checked.ok) {
    const problems = checked.details.map(({ field, message }) => `  ${field} ${message}`);
    throw new OperatorError(`--input ${input}:\n${problems.join("\n")}`);
  }
  const card = cardInput(checked.value);
  return { ...card, style: { ...card.style, preset: template } };
}

async function readInput(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch {
    throw new OperatorError(`--${option} ${path} cannot be read. Check the path.`);
  }
}
