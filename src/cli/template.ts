import { Command } from "commander";
import { templateCheckCommand } from "./template-check.ts";
import { templateNewCommand } from "./template-new.ts";
import { templateListCommand, templatePublishCommand, templateUnlistCommand } from "./template-publish.ts";

export function templateCommands(): Command {
  return new Command("template")
    .description("make, check and publish card templates")
    .addCommand(templateNewCommand())
    .addCommand(templateCheckCommand())
    .addCommand(templatePublishCommand())
    .addCommand(templateListCommand())
    .addCommand(templateUnlistCommand());
}
