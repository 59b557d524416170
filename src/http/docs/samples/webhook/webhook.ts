import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";

const TOLERANCE_SECONDS = 300;
const secret = process.env.CARDPRESS_WEBHOOK_SECRET ?? "";
// With an empty secret anybody could sign.
if (!/^whsec_.{32,}$/.test(secret)) throw new Error("CARDPRESS_WEBHOOK_SECRET is not an endpoint's secret.");

/** Whether the call was signed with the endpoint's secret within the last five minutes. */
function isGenuine(headers: IncomingHttpHeaders, rawBody: Buffer): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": given } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) return false;

  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const wanted = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  // While a secret is being rotated there are two signatures, one for each secret.
  return String(given)
    .split(" ")
    .some((entry) => {
      const [version, signature = ""] = entry.split(",");
      const bytes = Buffer.from(signature, "base64");
      return version === "v1" && bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
    });
}

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isGenuine(request.headers, rawBody)) {
    response.writeHead(401).end();
    return;
  }
  const event = JSON.parse(rawBody.toString("utf8"));
  // Put it into your own queue here: answer first, work afterwards.
  console.log(event.type, event.data.image_id ?? "");
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 8080));
