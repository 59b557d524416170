/**
 * Writes the types of an OpenAPI document: bun scripts/openapi-types.ts URL FILE
 *
 * The generator needs the compiler's library, which TypeScript 7 no longer is; it is given TypeScript 5 in its place. A
 * program of its own, so that the exchange reaches nothing else.
 */

import { plugin } from "bun";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

plugin({
  name: "typescript-5",
  setup: (build) =>
    void build.module("typescript", async () => {
      const typescript = await import("typescript-5");
      return { loader: "object", exports: { ...typescript, default: typescript.default } };
    }),
});

// What has a default may be left out of a request.
const { default: openapiTS, astToString } = await import("openapi-typescript");
const [url = "", file = ""] = process.argv.slice(2);
await Bun.write(file, astToString(await openapiTS(new URL(url), { defaultNonNullable: false })));
