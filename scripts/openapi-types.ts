/**
 * Writes the types of an OpenAPI document: bun scripts/openapi-types.ts URL FILE
 *
 * The generator needs the compiler as a library, which TypeScript 7 no longer offers, so it gets TypeScript 5
 * instead. This is a separate program to keep that substitution away from everything else.
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

// Fields with a default may be left out of a request.
const { default: openapiTS, astToString } = await import("openapi-typescript");
const [url = "", file = ""] = process.argv.slice(2);
await Bun.write(file, astToString(await openapiTS(new URL(url), { defaultNonNullable: false })));
