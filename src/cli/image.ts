import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { imageReceipt, receiptView, rerenderJob } from "../app/images/image-receipt.ts";
import { pdfOfSides } from "../app/images/keep-card.ts";
import { OperatorError } from "../core/errors.ts";
import { storedRequest } from "../core/image-request.ts";
import { sha256 } from "../core/sha256.ts";
import { openCardRenderer } from "../render/card-renderer.ts";
import type { RenderJob } from "../render/protocol.ts";
import { rendererOptions } from "../service/renderer-options.ts";
import type { Workspace } from "../service/workspace.ts";
import { latestImages } from "../store/images/image-search.ts";
import type { Image } from "../store/images/images.ts";
import { wholeNumber } from "./arguments.ts";
import { printResult, table } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

interface ShowOptions {
  rerender?: string;
  json?: boolean;
}

export function imageCommands(): Command {
  const image = new Command("image").description("look at images, and how their pictures were made");
  image
    .command("show")
    .description(
      "an image's receipt: template, browser, fonts, photo, framing, durations and SHA-256 of the picture",
    )
    .argument("<id>", "the image")
    .option("--rerender <file>", "make the picture again, into this file, and compare")
    .option("--json", "print JSON")
    .action((id: string, options: ShowOptions) => withWorkspace((workspace) => show(workspace, id, options)));
  image
    .command("list")
    .description("the newest images of all accounts")
    .option("--account <id>", "of one account only")
    .option("--limit <n>", "how many", wholeNumber(1, 1000), 20)
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async ({ store }) => {
        const images = await latestImages(store.read, { accountId: options.account, limit: options.limit });
        const rows = images.map((each) => {
          const { image_id, account_id, environment, status, created_at, template } = receiptView({
            image: each,
            pictures: {},
            receipt: null,
          });
          return { image_id, account_id, environment, status, created_at, template: template.name };
        });
        printResult(options.json, rows, () => table(rows) || "No images.");
      }),
    );
  return image;
}

async function show(workspace: Workspace, id: string, { rerender, json }: ShowOptions): Promise<void> {
  const found = await imageReceipt(workspace, id);
  const view = receiptView(found);
  if (rerender === undefined) return printResult(json, view, () => described(view));
  const out = resolve(rerender);
  const sha256 = await make(workspace, found.image, await rerenderJob(workspace.blobs, found, out));
  const was = found.receipt?.sha256 ?? null;
  const isSame = was === null ? null : was === sha256;
  printResult(json, { ...view, rerendered: { file: out, sha256, identical: isSame } }, () => {
    const verdict = isSame
      ? "the same bytes as the first time"
      : isSame === null
        ? "nothing to compare with: the first one has no receipt"
        : `other bytes: ${sha256} instead of ${was}`;
    return `${described(view)}\n\n${out}: ${verdict}.`;
  });
  if (isSame === false)
    throw new OperatorError(`The picture of ${id} came out differently. Compare the tools of both.`);
}

/** Makes the file in a browser of this command's own, reusing kept cutouts; prints its SHA-256. */
async function make({ config, folder }: Workspace, image: Image, job: RenderJob): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), "cardpress-rerender-"));
  const preset = job.card.style.preset;
  try {
    // The image's template may no longer exist in its place, so one that certainly does is warmed.
    const options = await rendererOptions(config, { ...folder, profiles: scratch });
    const renderer = await openCardRenderer(options);
    try {
      const { receipt, template } = await renderer.render(job, () => {});
      if (template.digest !== job.template?.digest)
        throw new OperatorError(`The kept files of the template ${preset} are damaged.`);
      const { style, player } = storedRequest(image.request);
      if (style.format !== "pdf") return receipt.sha256;
      const sides = [job.outputPath];
      if (job.card.style.back) {
        const back = join(scratch, "back.png");
        await renderer.render({ ...job, side: "back", outputPath: back }, () => {});
        sides.push(back);
      }
      const file = await pdfOfSides(sides, { title: player.name, createdAt: image.createdAt });
      await writeFile(job.outputPath, file);
      return sha256(file);
    } finally {
      await renderer.close();
    }
  } finally {
    while (existsSync(scratch)) await rm(scratch, { recursive: true, force: true });
  }
}

/** A receipt as lines of names and values. */
function described(view: object, indent = ""): string {
  return Object.entries(view)
    .map(([name, value]) => {
      const label = `${indent}${name.replaceAll("_", " ")}`;
      if (value === null || typeof value !== "object")
        return `${label}: ${typeof value === "number" ? Math.round(value * 100) / 100 : (value ?? "–")}`;
      return `${label}:\n${described(value, `${indent}  `)}`;
    })
    .join("\n");
}
