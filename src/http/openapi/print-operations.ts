import { PrintRequest } from "../../app/print/print-request.ts";
import { ALWAYS, IMAGE_ID_PARAMETER } from "./answers.ts";
import { BATCH_ID_PARAMETER } from "./batch-operations.ts";
import { headerRefs, refusals, STANDARD_HEADERS } from "./errors.ts";

const SIZES =
  "the print sizes 815x1110 (63 x 88 mm), 825x1125 (2.5 x 3.5 inches), 650x839 (49 x 65 mm) or 768x1146 pixels (59 x 91 mm), or the other way round";

const RESPONSES = {
  "200": {
    description: "The file.",
    headers: { ...STANDARD_HEADERS, ...headerRefs("Content-Disposition") },
    content: { "application/pdf": { schema: { type: "string", contentMediaType: "application/pdf" } } },
  },
};

export function printBatch(): object {
  return {
    tags: ["Batches"],
    summary: "Print a batch",
    description: `The batch's cards as one PDF file for a printer, in the batch's order and with their backs, written while you read it: media, trim and bleed boxes set, pictures at 300 dpi in sRGB. All pictures must have one of ${SIZES}: they hold the bleed that the printer cuts off. Costs nothing; the same batch gives the same bytes.`,
    parameters: [BATCH_ID_PARAMETER],
    requestBody: {
      required: false,
      content: {
        "application/json": {
          schema: PrintRequest,
          examples: {
            deck: { summary: "A page for each side, as printers of cards take them", value: {} },
            printer: { summary: "By a printer's published rules", value: { printer: "drivethru" } },
            sheet: { summary: "Sheets of A4 with crop marks", value: { sheet: "a4", marks: true } },
          },
        },
      },
    },
    responses: {
      ...RESPONSES,
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function printImage(): object {
  return {
    tags: ["Images"],
    summary: "Print an image",
    description: `One finished card as a PDF file for a printer, with its back if it has one, by the same wishes as a batch's. Its picture must have one of ${SIZES}. Costs nothing; the same card gives the same bytes.`,
    parameters: [IMAGE_ID_PARAMETER],
    requestBody: {
      required: false,
      content: {
        "application/json": {
          schema: PrintRequest,
          examples: {
            pages: { summary: "A page for each side, in sRGB", value: {} },
            printer: { summary: "By a printer's published rules", value: { printer: "drivethru" } },
          },
        },
      },
    },
    responses: {
      ...RESPONSES,
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "IMAGE_NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}
