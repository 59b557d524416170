// A process of its own, since what a test loaded stays loaded: makes a live card, with tracing when the
// environment asks for it, and prints how many modules of the tracing library are there afterwards.
import { imageRequest, post, testAccount, testServer, untilEnded } from "../../harness.ts";

const endpoint = process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
const server = await testServer({ env: endpoint ? { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } : {} });
const { liveKey } = await testAccount(server.service, { credits: 1 });
const body = imageRequest({ player: { source_image_url: server.photos.url("astronaut.png") } });
const { data } = (await (await post(server.baseUrl, liveKey, body)).json()) as { data: { image_id: string } };
const { status } = await untilEnded(server.baseUrl, liveKey, data.image_id);
await server.close();
const loaded = Object.keys(require.cache).filter((path) => path.includes("@opentelemetry"));
console.log(JSON.stringify({ status, loaded: loaded.length }));
