import { open, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { SHEETS, type Sheet } from "../app/print/imposition.ts";
import { type Printed, printable, printedBatch, printedImage, printFile } from "../app/print/print-file.ts";
import { INK_LIMIT } from "../app/print/print-profile.ts";
import { PDFX_STANDARDS, PrintRequest } from "../app/print/print-request.ts";
import { OperatorError, Refusal } from "../core/errors.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { PRINTER_NAMES } from "../core/printers.ts";
import { compileValidator } from "../core/validate.ts";
import { pressOf } from "../service/press.ts";
import type { Workspace } from "../service/workspace.ts";
import { findAnyBatch } from "../store/images/batch-places.ts";
import { findAnyImage } from "../store/images/image-search.ts";
import { inUnits } from "../system/disk-space.ts";
import { isFileError, moveWhole, STAGING_SUFFIX } from "../system/write-whole.ts";
import { oneOf, wholeNumber } from "./arguments.ts";
import { stopSignal } from "./backup.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

const words = (options: readonly string[]) => options.join(", ");
const SHEET_NAMES = Object.keys(SHEETS) as Sheet[];
const ORDERS = ["front_first", "back_first"] as const;
const COLOURS = ["rgb", "cmyk"] as const;

export function printCommand(): Command {
  return new Command("print")
    .description("the cards of a batch, or one card, as a PDF file for a printer")
    .argument("<id>", "the batch, or the image")
    .requiredOption(
      "--out <file>",
      "the PDF to write; one that is there is replaced once the new one is whole",
    )
    .option(
      "--printer <name>",
      `by a printer's published rules: ${words(PRINTER_NAMES)}`,
      oneOf(PRINTER_NAMES),
    )
    .option("--sheet <paper>", `cards edge to edge on ${words(SHEET_NAMES)}`, oneOf(SHEET_NAMES))
    .option("--marks", "crop marks")
    .option("--no-marks", "none, also where the printer is home")
    .option("--order <order>", `of the sides of a card: ${words(ORDERS)}`, oneOf(ORDERS))
    .option("--colour <colour>", `${words(COLOURS)}; cmyk needs CARDPRESS_PRINT_PROFILE`, oneOf(COLOURS))
    .option("--standard <name>", `of CMYK files: ${words(PDFX_STANDARDS)}`, oneOf(PDFX_STANDARDS))
    .option(
      "--ink-limit <percent>",
      "the most ink in one place, of CMYK files",
      wholeNumber(INK_LIMIT.min, INK_LIMIT.max),
    )
    .option("--foil <name>", "add the plate of foil, as a spot colour of this name")
    .option("--incomplete", "leave out cards of a batch without a picture")
    .option("--json", "print JSON")
    .action((id: string, { out, json, inkLimit, ...wishes }) =>
      withWorkspace(async (workspace) => {
        const asked = { ...wishes, ...(inkLimit !== undefined && { ink_limit: inkLimit }) };
        const result = await print(workspace, id, { out: resolve(out), asked });
        const { file, bytes, cards } = result;
        printResult(
          json,
          result,
          () => `${file}: ${cards} ${cards === 1 ? "card" : "cards"}, ${inUnits(bytes)}.`,
        );
      }),
    );
}

const printRequest = compileValidator(PrintRequest, "wishes");

async function print(workspace: Workspace, id: string, { out, asked }: { out: string; asked: PrintRequest }) {
  const printed = await found(workspace, id);
  const signal = stopSignal();
  const onPicture = progress(process.stderr);
  const press = pressOf(workspace.config.printProfile);
  const parts = await inOptions(async () => {
    const checked = printRequest.check(asked);
    if (!checked.ok) throw invalidRequest(checked.details);
    return printFile({ ...workspace, press }, printed, checked.value, onPicture);
  });
  const bytes = await written(parts, out, signal);
  return { file: out, bytes, cards: printable(printed.images).cards.length };
}

async function found({ store }: Workspace, id: string): Promise<Printed> {
  const batch = await findAnyBatch(store.read, id);
  if (batch) return printedBatch({ store }, batch);
  const image = await findAnyImage(store.read, id);
  if (image) return printedImage(image);
  throw new OperatorError(
    `There is no batch and no image ${id}. The console and "cardpress image list" name those there are.`,
  );
}

/** Refusals name the API's fields: here they are options. */
async function inOptions<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || !error.details) throw error;
    const said = error.details.map(({ field, message }) =>
      field.endsWith("_id") ? `The id ${message}` : `--${field.replaceAll("_", "-")} ${message}`,
    );
    throw new OperatorError(said.join(" "));
  }
}

/** Writes the file whole or not at all; its length. */
async function written(parts: ReadableStream<Uint8Array>, out: string, signal: AbortSignal): Promise<number> {
  const staging = join(dirname(out), `.${basename(out)}.${process.pid}${STAGING_SUFFIX}`);
  const refused = (error: unknown) =>
    isFileError(error) ? new OperatorError(`${out} cannot be written: ${error.message}`) : error;
  const file = await open(staging, "w").catch((error) => {
    throw refused(error);
  });
  let bytes = 0;
  try {
    for await (const part of parts) {
      signal.throwIfAborted();
      await file.writeFile(part);
      bytes += part.length;
    }
    await file.close();
    await moveWhole(staging, out);
    return bytes;
  } catch (error) {
    await rm(staging, { force: true });
    throw refused(error);
  }
}

/** Pictures from one line to the next, where it is no terminal that shows a number running. */
const PICTURES_A_LINE = 50;

function progress({ isTTY }: NodeJS.WriteStream): (done: number, all: number) => void {
  return (done, all) => {
    const text = `${done} of ${all} pictures`;
    if (isTTY) process.stderr.write(done < all ? `\r${text}` : "\r\x1b[K");
    else if (done % PICTURES_A_LINE === 0 || done === all) process.stderr.write(`${text}\n`);
  };
}
