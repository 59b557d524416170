/** Text for a shell inside single quotes: a quote in it must not end them. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The request as a command. The key is left to the reader's environment, so that no sample ever holds one. */
export function curlSample(baseUrl: string, request: unknown): string {
  return [
    `curl ${baseUrl}/v1/images \\`,
    '  -H "X-API-Key: $CARDPRESS_KEY" \\',
    '  -H "Idempotency-Key: card-$(date +%s)" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d ${quoted(JSON.stringify(request, null, 2))}`,
  ].join("\n");
}

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

const accepted = await fetch(\`\${base}/v1/images\`, {
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
