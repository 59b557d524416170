import { afterAll, beforeAll, expect, test } from "bun:test";
import { get, imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { expectStandardHeaders } from "./api.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

test("a live image goes from 202 to a picture of the asked size, and costs one credit", async () => {
  const { liveKey } = await testAccount(server.service, { credits: 3 });
  const body = imageRequest({
    player: { source_image_url: server.photos.url("astronaut.png") },
    style: { width: 640, height: 800 },
  });
  const accepted = await post(server.baseUrl, liveKey, body);
  expect(accepted.status).toBe(202);
  const { data } = (await accepted.json()) as { data: { image_id: string; poll_url: string } };
  expect(accepted.headers.get("location")).toBe(data.poll_url);

  const image = await untilEnded(server.baseUrl, liveKey, data.image_id);
  expect(image.status).toBe("completed");
  const picture = await fetch(image.result.image_url);
  expect(picture.headers.get("content-type")).toBe("image/png");
  expect(picture.headers.get("x-content-type-options")).toBe("nosniff");
  const { format, width, height } = await new Bun.Image(await picture.bytes()).metadata();
  expect({ format, width, height }).toEqual({ format: "png", width: 640, height: 800 });

  expectStandardHeaders(picture);

  const { length } = await (await fetch(image.result.image_url)).bytes();
  const head = await fetch(image.result.image_url, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(length)]);
  expect(head.headers.get("accept-ranges")).toBe("bytes");
  const part = await fetch(image.result.image_url, { headers: { Range: "bytes=0-7" } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 0-7/${length}`]);
  expect(Buffer.from(await part.bytes()).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
  const beyond = await fetch(image.result.image_url, { headers: { Range: `bytes=${length}-` } });
  expect(beyond.status).toBe(416);

  const etag = picture.headers.get("etag") ?? "";
  const again = await fetch(image.result.image_url, { headers: { "If-None-Match": etag } });
  expect(again.status).toBe(304);

  const usage = (await (await get(server.baseUrl, liveKey, "/v1/usage?period=current_month")).json()) as {
    data: Record<string, unknown>;
  };
  expect(usage.data).toMatchObject({ images_completed: 1, credits_used: 1, credits_remaining: 2 });
});

test("a photo without a player fails with a message that helps, and its credit comes back", async () => {
  const { liveKey } = await testAccount(server.service, { credits: 1 });
  const body = imageRequest({ player: { source_image_url: server.photos.url("coffee.png") } });
  const accepted = (await (await post(server.baseUrl, liveKey, body)).json()) as {
    data: { image_id: string };
  };
  const image = await untilEnded(server.baseUrl, liveKey, accepted.data.image_id);
  expect(image).toMatchObject({ status: "failed", failure: { code: "IMAGE_PROCESSING_FAILED" } });
  expect(image.failure.message).toContain("No player was found");
  const usage = (await (await get(server.baseUrl, liveKey, "/v1/usage?period=current_month")).json()) as {
    data: Record<string, unknown>;
  };
  expect(usage.data).toMatchObject({ images_failed: 1, credits_used: 0, credits_remaining: 1 });
});
