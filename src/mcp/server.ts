import {
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
} from "@modelcontextprotocol/server";
import { VERSION } from "../version.ts";
import { type BatchToolDeps, batchTools } from "./batch-tools.ts";
import { cardTools } from "./card-tools.ts";
import type { Tool } from "./tool.ts";

const INSTRUCTIONS =
  "cardpress makes football player cards from a photo and a few details. Begin with list_presets, then make_card or make_batch; look_at_card shows the picture. Refusals say which field is wrong and what helps.";

/** Tools check their arguments themselves, in the words of the API. */
const unchecked: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/** A server of the Model Context Protocol whose tools call the API; `more` are tools of this machine. */
export function mcpServer(deps: BatchToolDeps, more: readonly Tool[] = []): McpServer {
  const server = new McpServer({ name: "cardpress", version: VERSION }, { instructions: INSTRUCTIONS });
  for (const { name, inputSchema, run, ...described } of [
    ...cardTools(deps.call),
    ...batchTools(deps),
    ...more,
  ]) {
    // The round trip through JSON removes the symbols with which TypeBox marks its schemas.
    const schema = JSON.parse(JSON.stringify(inputSchema)) as JsonSchemaType;
    server.registerTool(name, { ...described, inputSchema: fromJsonSchema(schema, unchecked) }, run);
  }
  return server;
}
