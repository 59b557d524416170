import { API_PATHS } from "../../core/api-paths.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { ALL_CODES, errorIndexText, errorText } from "./error-pages.tsx";
import { referenceText } from "./reference-text.ts";

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
- [Reference](${baseUrl}/docs/reference.md): every call with its fields, in curl, TypeScript, Python and PHP
- [Errors](${baseUrl}/docs/errors.md): every code, with a page for each as \`/docs/errors/CODE.md\`
- [Changelog](${baseUrl}/docs/changelog.md)
- [Everything in one text](${baseUrl}/docs/llms-full.txt): guides, operations and error codes
`;
}

/** /docs/llms-full.txt: guides, operations and error codes in one text. */
export function fullText(guides: readonly GuideText[], document: OpenApiDocument, baseUrl: string): string {
  return [
    ...guides.map(({ text }) => text.trim()),
    referenceText(document, { withRequests: false }),
    errorIndexText(),
    ...ALL_CODES.map((code) => errorText(code, baseUrl).replace(/^(#+)/gm, "#$1")),
  ]
    .join("\n\n")
    .replaceAll("](/", `](${baseUrl}/`);
}
