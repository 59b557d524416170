import { type PrintDeps, printedBatch, printedImage, printFile } from "../app/print/print-file.ts";
import { PrintRequest } from "../app/print/print-request.ts";
import { plainAttachment } from "../core/file-name.ts";
import { batchNotFound, imageNotFound, invalidRequest } from "../core/partner-refusals.ts";
import { compileValidator } from "../core/validate.ts";
import { findBatch } from "../store/images/batches.ts";
import { findImage } from "../store/images/image-reads.ts";
import type { Caller, PartnerHandler } from "./auth.ts";
import { readJsonIfSent } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { writtenFile } from "./written-file.ts";

const printRequest = compileValidator(PrintRequest, "body");

/** The handlers of the routes of print files. */
export function printHandlers<Open>(deps: PrintDeps, partner: (handler: PartnerHandler) => Open) {
  return {
    printBatch: partner((exchange, caller, { batch_id = "" }) =>
      printBatch(deps, exchange, caller, batch_id),
    ),
    printImage: partner((exchange, caller, { image_id = "" }) =>
      printImage(deps, exchange, caller, image_id),
    ),
  };
}

async function wishesIn({ request }: Exchange): Promise<PrintRequest> {
  const asked = printRequest.check(await readJsonIfSent(request));
  if (!asked.ok) throw invalidRequest(asked.details);
  return asked.value;
}

/** POST /v1/batches/{batch_id}/print */
async function printBatch(
  deps: PrintDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  const asked = await wishesIn(exchange);
  const batch = await findBatch(deps.store.read, { accountId: account.id, environment, id });
  if (!batch) throw batchNotFound();
  const file = await printFile(deps, await printedBatch(deps, batch), asked);
  return writtenFile(exchange, file, plainAttachment(`${batch.id}.pdf`), "application/pdf");
}

/** POST /v1/images/{image_id}/print */
async function printImage(
  deps: PrintDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  const asked = await wishesIn(exchange);
  const image = await findImage(deps.store.read, { accountId: account.id, environment, id });
  if (!image) throw imageNotFound();
  const file = await printFile(deps, printedImage(image), asked);
  return writtenFile(exchange, file, plainAttachment(`${image.id}.pdf`), "application/pdf");
}
