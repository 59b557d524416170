import { resolve } from "node:path";
import { Command } from "commander";
import {
  type PublishOutcome,
  publishTemplate,
  refuseUnpublishable,
  unlistTemplate,
} from "../app/operations/publish-template.ts";
import { OperatorError } from "../core/errors.ts";
import type { CheckReport } from "../studio/check/check.ts";
import { type LoadedTemplate, loadTemplate } from "../templates/load.ts";
import type { FoundTemplate } from "../templates/registry.ts";
import { printResult } from "./output.ts";
import { checkFolders, reportText } from "./template-check.ts";
import { withWorkspace } from "./workspace.ts";

export function templatePublishCommand(): Command {
  return new Command("publish")
    .description("check a template and offer it to partners, from the running service's next request on")
    .argument("[dir]", "the template's folder; otherwise this folder")
    .option("--unlisted", "store it, but do not let partners ask for it yet")
    .option("--json", "print JSON")
    .action(async (dir: string | undefined, { unlisted, json }: { unlisted?: boolean; json?: boolean }) => {
      const folder = resolve(dir ?? ".");
      // Publishes the files as read here, whatever is saved during the check.
      const template = await loadTemplate(folder);
      await withWorkspace(async (workspace) => {
        await refuseUnpublishable(workspace, template);
        const [report] = await checkFolders([folder], { json });
        await refuseUnchecked(report, template);
        const end = await publishTemplate(workspace, template, { isListed: !unlisted });
        const { name, version } = template.manifest;
        printResult(
          json,
          { name, version, digest: template.digest, listed: end.isListed, before: end.before, end: end.end },
          () => published(`${name} ${version}`, end),
        );
      });
    });
}

/** Only what was checked and passed may be offered. Throws an OperatorError that lists every fault. */
export async function refuseUnchecked(
  report: CheckReport | undefined,
  { digest }: LoadedTemplate,
): Promise<void> {
  if (!report?.isGood)
    throw new OperatorError(
      `${report ? `${reportText(report)}\n` : ""}It does not pass the check, so it was not published. Fix what is listed above.`,
    );
  if ((await loadTemplate(report.folder)).digest !== digest)
    throw new OperatorError("Its files were changed while they were checked. Publish it again.");
}

function published(what: string, { end, before, isListed }: PublishOutcome): string {
  const asked = isListed
    ? "Partners can ask for it from now on."
    : "Partners cannot ask for it: it is not listed. Publish it without --unlisted to list it.";
  if (end === "unchanged") return `${what} is published already. ${asked}`;
  const instead =
    before === null ? "" : ` in place of ${before}; what waits is made with what it was asked for`;
  return `${what} is published${instead}. ${asked}`;
}

export function templateListCommand(): Command {
  return new Command("list")
    .description(
      "every template of this service: version, where it comes from, whether partners may ask for it",
    )
    .option("--json", "print JSON")
    .action(({ json }) =>
      withWorkspace(async ({ templates }) => {
        const all = await templates.all();
        printResult(json, all.map(row), () => all.map(line).join("\n"));
      }),
    );
}

export function templateUnlistCommand(): Command {
  return new Command("unlist")
    .description("let partners ask for a published template no more; what waits is made")
    .argument("<name>", "the template's name")
    .option("--json", "print JSON")
    .action((name: string, { json }: { json?: boolean }) =>
      withWorkspace(async (workspace) => {
        await unlistTemplate(workspace, name);
        printResult(json, { name, listed: false }, () => `${name} is not listed any more.`);
      }),
    );
}

function row({ name, folder, isPublished, isListed, template, problem }: FoundTemplate) {
  return {
    name,
    version: template?.manifest.version ?? null,
    digest: template?.digest ?? null,
    listed: isListed,
    from: folder !== null ? "folder" : isPublished ? "published" : "built in",
    folder,
    problem,
  };
}

function line(found: FoundTemplate): string {
  const { name, version, listed, from, folder, problem } = row(found);
  const state = `${name} ${version ?? "?"}  ${listed ? "listed" : "not listed"}  ${folder ?? from}`;
  return problem === null ? state : `${state}\n  cannot be used: ${problem}`;
}
