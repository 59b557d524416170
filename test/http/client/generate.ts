import { plugin } from "bun";

// The types generator needs the compiler's library, which TypeScript 7 no longer is; it is given TypeScript 5 in its
// place. A program of its own, so that the exchange reaches nothing else. `bun generate.ts URL FILE`

plugin({
  name: "typescript-5",
  setup: (build) =>
    void build.module("typescript", async () => {
      const typescript = await import("typescript-5");
      return { loader: "object", exports: { ...typescript, default: typescript.default } };
    }),
});

const { default: openapiTS, astToString } = await import("openapi-typescript");
const [url = "", file = ""] = process.argv.slice(2);
await Bun.write(file, astToString(await openapiTS(new URL(url))));
