import { Command } from "commander";
import { firstOperatorLink } from "../app/people/manage-users.ts";
import { readConfig } from "../config.ts";
import { serviceLog } from "../log.ts";
import { startServer } from "../service/server.ts";
import { untilSignal } from "../service/stop-signal.ts";

export function serveCommand(): Command {
  return new Command("serve")
    .description("run the service")
    .option("--json", "print JSON (logs are JSON lines unless on a terminal)")
    .action(async () => {
      // Registered first: a stop during the start must work too.
      const stop = untilSignal();
      const server = await startServer(readConfig(process.env), serviceLog());
      try {
        const link = await firstOperatorLink(server.service);
        if (link !== null) process.stderr.write(firstRunNotice(link));
        await stop;
      } finally {
        await server.stop();
      }
      process.exit(0);
    });
}

/** For people, on stderr: the log on stdout never contains secrets. */
function firstRunNotice(link: string): string {
  return `\nNobody can sign in to the console yet. Open this link once, within three days, to become its operator:\n\n  ${link}\n\n`;
}
