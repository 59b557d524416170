import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { text } from "../mcp/call.ts";
import { defineTool, failed, strict, type Tool } from "../mcp/tool.ts";
import { programCommand } from "../service/system.ts";

/** The check of templates as a tool: of folders of this machine, in a process of its own. */
export function templateCheckTool(): Tool {
  return defineTool({
    name: "check_template",
    title: "Check a template",
    description:
      "Draws a card template's folder with every edge case, and reports what is wrong: faults with file, line and remedy, and pictures that changed. It takes a minute or more; only_failed draws again what failed the last time.",
    inputSchema: Type.Object(
      {
        folder: Type.String({ minLength: 1, maxLength: 4096, description: "Path of the template's folder." }),
        accept: Type.Optional(
          Type.Array(Type.String({ maxLength: 200 }), {
            maxItems: 1000,
            description: 'Pictures that may look as they are drawn now: SAMPLE@SIZE, or "all".',
          }),
        ),
        only_failed: Type.Optional(
          Type.Boolean({ description: "Draw only the cards that failed the last time." }),
        ),
      },
      strict,
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    run: async ({ folder, accept = [], only_failed = false }) => {
      const flags = [
        ...(only_failed ? ["--only-failed"] : []),
        ...(accept.length > 0 ? ["--accept", ...accept] : []),
      ];
      const child = Bun.spawn(
        [...programCommand(), "template", "check", resolve(folder), "--json", ...flags],
        { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
      );
      const [report, problem] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      // With findings it exits with 1 as well, and has its report on stdout.
      return report.trim() === "" ? failed(problem.trim()) : text(report.trim());
    },
  });
}
