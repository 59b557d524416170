import { API_PATHS } from "../../core/api-paths.ts";

/**
 * A program that creates an image and waits for it. The key is read from the environment, as in every sample.
 */
export function typescriptSample(baseUrl: string, request: unknown): string {
  const body = JSON.stringify(request, null, 2).replaceAll(/^ {2,}"(\w+)":/gm, (line) =>
    line.replaceAll('"', ""),
  );
  return `import { randomUUID } from "node:crypto";

const base = ${JSON.stringify(baseUrl)};
const headers = {
  "X-API-Key": process.env.CARDPRESS_KEY!,
  "Content-Type": "application/json",
};

const request = ${body};

const accepted = await fetch(base + "${API_PATHS.images}", {
  method: "POST",
  // The same key for the same card: a repeated request is answered, not made again.
  headers: { ...headers, "Idempotency-Key": randomUUID() },
  body: JSON.stringify(request),
}).then((answer) => answer.json());
if (!accepted.success) throw new Error(accepted.error.message);

let image = accepted.data;
while (image.status === "processing") {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const poll = await fetch(base + accepted.data.poll_url, { headers });
  image = (await poll.json()).data;
}
console.log(image.result?.image_url ?? image.failure.message);
`;
}
