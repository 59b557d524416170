import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { lintDocument } from "../../scripts/lint-api.ts";
import { createImageSchema } from "../../src/core/image-request.ts";
import {
  AcceptedBatchResponse,
  BatchListResponse,
  BatchResponse,
  createBatchSchema,
} from "../../src/http/batch-schemas.ts";
import { ERROR_STATUS } from "../../src/http/http-refusal.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { batchExample, createExamples, EXAMPLES } from "../../src/http/openapi/examples.ts";
import {
  BatchCompletedEvent,
  CreditsLowEvent,
  ImageCompletedEvent,
  ImageFailedEvent,
  ImagePublishedEvent,
  PlayerRecalledEvent,
  UsageAlertEvent,
  WebhookTestEvent,
} from "../../src/http/openapi/webhook-schemas.ts";
import { PhotoResponse } from "../../src/http/photo-schemas.ts";
import {
  AcceptedImageResponse,
  DeletedImageResponse,
  DeletedPlayerResponse,
  ImageListResponse,
  ImageResponse,
  PresetListResponse,
  UsageResponse,
} from "../../src/http/schemas.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import { expectShape, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const served = async (): Promise<Json> => (await send(api, "/docs/openapi.json")).json();

test("the served document passes the linter's rules without a warning", async () => {
  expect(await lintDocument(await served())).toMatchObject({ ok: true });
});

test("the linter does find faults: an example that breaks its schema, and a reference to nothing", async () => {
  const faulty = await served();
  faulty.paths["/v1/images"].post.requestBody.content["application/json"].examples.full.value.player.number =
    100;
  faulty.paths["/v1/usage"].get.responses["401"] = { $ref: "#/components/responses/NOTHING" };
  const { ok, output } = await lintDocument(faulty);
  expect(ok).toBe(false);
  const { problems } = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1));
  expect(problems.map(({ ruleId }: { ruleId: string }) => ruleId).sort()).toEqual([
    "no-invalid-media-type-examples",
    "no-unresolved-refs",
  ]);
});

test("the document is OpenAPI 3.1 with this service's address, and free of what is not JSON Schema", async () => {
  const document = await served();
  expect(document.openapi).toBe("3.1.0");
  expect(document.servers[0].url).toBe("https://cards.example.org");
  expect(JSON.stringify(document)).not.toMatch(/"\$id"|"nullable"|TypeBox/);
  expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument(api.config))));
});

test("every error code is published with its status, its example and its page", async () => {
  const document = await served();
  expect(document.components.schemas.ApiError.properties.code.enum.sort()).toEqual(
    Object.keys(ERROR_STATUS).sort(),
  );
  const used = JSON.stringify([document.paths]);
  for (const code of Object.keys(ERROR_STATUS)) {
    const [name = ""] = Object.keys(document.components.responses).filter((name) =>
      name.split("_OR_").includes(code),
    );
    const { value } = document.components.responses[name].content["application/json"].examples[code];
    expect(value.error).toMatchObject({ code, docs_url: `https://cards.example.org/docs/errors/${code}` });
    expect(used).toContain(`#/components/responses/${name}"`);
  }
});

test("every answer of every partner operation documents the four headers", async () => {
  const document = await served();
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    if (!path.startsWith("/v1")) continue;
    for (const operation of Object.values<Json>(item)) {
      for (const response of Object.values<Json>(operation.responses)) {
        const code = response.$ref?.split("/").at(-1);
        const { headers } = code ? document.components.responses[code] : response;
        expect(Object.keys(headers)).toEqual(
          expect.arrayContaining([
            "X-Request-Id",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
          ]),
        );
      }
    }
  }
});

test("the published request schema is the one that validates", async () => {
  const document = await served();
  const { $id, ...schema } = JSON.parse(JSON.stringify(createImageSchema(api.config.presets)));
  expect(document.components.schemas[$id]).toEqual(schema);
});

test("answers and webhooks are published as open to new fields, requests as closed", async () => {
  const { components, webhooks } = await served();
  const closedOnes = Object.entries<Json>(components.schemas)
    .filter(([, schema]) => JSON.stringify(schema).includes('"additionalProperties":false'))
    .map(([name]) => name);
  expect(closedOnes.sort()).toEqual([
    "BatchCard",
    "ChangeImageRequest",
    "ChangeSetRequest",
    "ChangeWebhookEndpointRequest",
    "CreateBatchRequest",
    "CreateImageRequest",
    "CreateSetRequest",
    "CreateWebhookEndpointRequest",
    "FillSetRequest",
    "PrintRequest",
    "RecordConsentRequest",
    "RedeliverEventRequest",
    "RemakeBatchRequest",
    "RemakeImageRequest",
  ]);
  expect(components.schemas.CreateImageRequest.properties.style.additionalProperties).toBeFalse();
  expect(JSON.stringify(webhooks)).not.toContain('"additionalProperties":false');
});

const PRESETS = ["club_card"];
const { full, least } = createExamples(PRESETS);
const SHAPES: [string, TSchema, unknown][] = [
  ["createImage", createImageSchema(PRESETS), full],
  ["createImageLeast", createImageSchema(PRESETS), least],
  ["accepted", AcceptedImageResponse, EXAMPLES.accepted],
  ["processing", ImageResponse, EXAMPLES.processing],
  ["completed", ImageResponse, EXAMPLES.completed],
  ["failed", ImageResponse, EXAMPLES.failed],
  ["createBatch", createBatchSchema(PRESETS), batchExample(PRESETS)],
  ["acceptedBatch", AcceptedBatchResponse, EXAMPLES.acceptedBatch],
  ["batch", BatchResponse, EXAMPLES.batch],
  ["canceledBatch", BatchResponse, EXAMPLES.canceledBatch],
  ["batchList", BatchListResponse, EXAMPLES.batchList],
  ["photo", PhotoResponse, EXAMPLES.photo],
  ["deletedImage", DeletedImageResponse, EXAMPLES.deletedImage],
  ["deletedPlayer", DeletedPlayerResponse, EXAMPLES.deletedPlayer],
  ["batch.completed", BatchCompletedEvent, EXAMPLES.webhooks["batch.completed"]],
  ["list", ImageListResponse, EXAMPLES.list],
  ["presets", PresetListResponse, EXAMPLES.presets],
  ["usage", UsageResponse, EXAMPLES.usage],
  ["image.completed", ImageCompletedEvent, EXAMPLES.webhooks["image.completed"]],
  ["image.published", ImagePublishedEvent, EXAMPLES.webhooks["image.published"]],
  ["image.failed", ImageFailedEvent, EXAMPLES.webhooks["image.failed"]],
  ["credits.low", CreditsLowEvent, EXAMPLES.webhooks["credits.low"]],
  ["player.recalled", PlayerRecalledEvent, EXAMPLES.webhooks["player.recalled"]],
  ["usage.alert", UsageAlertEvent, EXAMPLES.webhooks["usage.alert"]],
  ["webhook.test", WebhookTestEvent, EXAMPLES.webhooks["webhook.test"]],
];
for (const [name, schema, example] of SHAPES) {
  test(`the example ${name} fits its schema`, () => expectShape(schema, example));
}

test("the documented examples are taken by the service itself", async () => {
  const { testKey } = await testAccount(api);
  for (const body of [full, least]) {
    expect((await post(api.baseUrl, testKey, body)).status).toBe(202);
  }
});

test("the bodies of real webhooks have the published shapes", async () => {
  const { liveKey } = await testAccount(api, { credits: 5 });
  for (let i = 0; i < 5; i++) {
    await post(api.baseUrl, liveKey, imageRequest({ player: { source_image_url: api.photo } }));
  }
  await finishNext(api, "completed");
  await finishNext(api, "refused");
  const { db, t } = api.store.read;
  const bodies = (await db.select().from(t.webhookEvents)).map(({ body }) => JSON.parse(body));
  const schemas: Record<string, TSchema> = {
    "image.completed": ImageCompletedEvent,
    "image.failed": ImageFailedEvent,
    "credits.low": CreditsLowEvent,
  };
  expect(new Set(bodies.map(({ type }) => type))).toEqual(new Set(Object.keys(schemas)));
  for (const body of bodies) expectShape(schemas[body.type] as TSchema, body);
});
