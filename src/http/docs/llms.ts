import { API_PATHS } from "../../core/api-paths.ts";
import type { ErrorCode } from "../../core/errors.ts";
import { ERROR_STATUS } from "../http-refusal.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { ALL_CODES } from "./error-pages.tsx";
import { ERROR_TEXTS } from "./error-texts.ts";
import { type Operation, operationsOf } from "./operations-of.ts";

// The documentation for programs that read text, as https://llmstxt.org proposes.

export interface GuideText {
  /** The address of its Markdown. */
  address: string;
  text: string;
  description: string;
}

/** /llms.txt: the contents of the documentation, with addresses. */
export function textIndex(guides: readonly GuideText[], baseUrl: string): string {
  const titleOf = (text: string) => /^# (.*)$/m.exec(text)?.[1] ?? "";
  return `# cardpress

> A service that makes football player cards: send a player's details and the address of a photo to \`POST ${baseUrl}${API_PATHS.images}\` with an API key, and get a finished card at an address.

## Guides

${guides.map(({ address, text, description }) => `- [${titleOf(text)}](${address}): ${description}`).join("\n")}

## Reference

- [OpenAPI 3.1 document](${baseUrl}/docs/openapi.json): every address, field, status and header
- [Everything in one text](${baseUrl}/docs/llms-full.txt): guides, operations and error codes
`;
}

/** /docs/llms-full.txt: guides, operations and error codes in one text. */
export function fullText(guides: readonly GuideText[], document: OpenApiDocument, baseUrl: string): string {
  return [
    ...guides.map(({ text }) => text.trim()),
    "# Operations",
    ...operationsOf(document).map(operationText),
    "# Error codes",
    ...ALL_CODES.map((code) => {
      const { summary, meaning, remedies } = ERROR_TEXTS[code];
      const status = ERROR_STATUS[code as ErrorCode] ?? "200, status failed";
      return `## ${code} (${status})\n\n${summary}. ${meaning}\n\n${remedies.map((remedy) => `- ${remedy}`).join("\n")}`;
    }),
  ]
    .join("\n\n")
    .replaceAll("](/", `](${baseUrl}/`);
}

function operationText({ method, path, operation, incoming }: Operation): string {
  const head = incoming ? `## Event ${path}` : `## ${method.toUpperCase()} ${path}`;
  const parameters = operation.parameters ?? [];
  const lines = parameters.map(
    ({ name, in: place, required, description = "" }: Record<string, string>) =>
      `- \`${name}\` (${place}${required ? ", required" : ""}): ${description}`,
  );
  return [head, `${operation.summary}. ${operation.description}`, lines.join("\n")]
    .filter(Boolean)
    .join("\n\n");
}
