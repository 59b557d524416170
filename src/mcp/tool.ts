import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../core/errors.ts";
import { compileValidator } from "../core/validate.ts";
import { ApiRefusal, refusalText } from "./call.ts";

export interface Tool {
  name: string;
  title: string;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: TObject;
  annotations: ToolAnnotations;
  run: (input: unknown) => Promise<CallToolResult>;
}

/** What a tool does to the service. */
export const READS = { readOnlyHint: true } as const;
export const CREATES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false } as const;

interface ToolOf<Schema extends TObject> extends Omit<Tool, "inputSchema" | "run"> {
  inputSchema: Schema;
  /** Fields that the API checks, which says what is wrong better than their schema does. */
  checkedByApi?: boolean;
  run: (input: Static<Schema>) => Promise<CallToolResult>;
}

/** A tool whose arguments are checked, and whose refusals are answers that a model can act on. */
export function defineTool<Schema extends TObject>(tool: ToolOf<Schema>): Tool {
  const { checkedByApi = false, run, ...described } = tool;
  const validator = compileValidator(tool.inputSchema, "arguments");
  return {
    ...described,
    run: async (input) => {
      const checked = checkedByApi
        ? { ok: true as const, value: (input ?? {}) as Static<Schema> }
        : validator.check(input ?? {});
      if (!checked.ok) return failed(`The arguments cannot be used.\n${lines(checked.details)}`);
      try {
        return await run(checked.value);
      } catch (error) {
        return failed(error instanceof ApiRefusal ? refusalText(error) : (error as Error).message);
      }
    },
  };
}

const lines = (details: readonly ErrorDetail[]): string =>
  details.map(({ field, message }) => `- ${field} ${message}`).join("\n");

export const failed = (message: string): CallToolResult => ({
  content: [{ type: "text", text: message }],
  isError: true,
});

export const strict = { additionalProperties: false } as const;

/** The id of an image, as an argument. */
export const imageIdArgument = Type.String({
  pattern: "^img_[0-9A-Za-z]{1,64}$",
  description: "The image_id of a card.",
});
