import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Command } from "commander";
import { listReader } from "../app/batches/list-reader.ts";
import { readConfig } from "../config.ts";
import { MINUTE_MS } from "../core/time.ts";
import { quietLog } from "../log.ts";
import { type CallApi, requestOf } from "../mcp/call.ts";
import { mcpServer } from "../mcp/server.ts";
import { listReaderCommand } from "../service/system.ts";
import { webAddress } from "./arguments.ts";
import { templateCheckTool } from "./mcp-template-check.ts";

/** A card is waited for 20 s, and a batch of 4 MB may come over a slow line. */
const CALL_TIMEOUT_MS = 2 * MINUTE_MS;

export function mcpCommand(): Command {
  return new Command("mcp")
    .description(
      "serve the Model Context Protocol on stdin and stdout: cards by a service's API, with the key in CARDPRESS_KEY, and the check of templates",
    )
    .option("--url <url>", "the service's address; this machine's by its settings without", webAddress)
    .action(async ({ url = readConfig(process.env).baseUrl }: { url?: string }) => {
      const call = callOver(url.replace(/\/$/, ""), process.env.CARDPRESS_KEY);
      const read = listReader({ command: listReaderCommand(), log: quietLog() });
      const deps = { call, readTable: (bytes: Uint8Array) => read("", bytes) };
      const ended = Promise.withResolvers<void>();
      process.stdin.once("close", ended.resolve);
      const server = serveStdio(() => mcpServer(deps, [templateCheckTool()]), {
        onerror: (error) => process.stderr.write(`${error.message}\n`),
      });
      // The program that started it ends it by closing its stdin, or by a signal, which needs no help.
      await ended.promise;
      await server.close();
    });
}

/** Calls a service over HTTP, and says what to do where it cannot be called. */
function callOver(baseUrl: string, key: string | undefined): CallApi {
  return async (path, call) => {
    if (!key)
      throw new Error(
        "No API key is set. Put one into the environment variable CARDPRESS_KEY of this server, and start it again.",
      );
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    return fetch(requestOf(baseUrl, key, path, call), { signal }).catch((error) => {
      throw new Error(
        `${baseUrl} cannot be reached: ${(error as Error).message} Is the service running there? Its address is given by --url.`,
      );
    });
  };
}
