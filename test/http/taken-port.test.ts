import { expect, test } from "bun:test";
import { rateLimiter } from "../../src/http/rate-limit.ts";
import { listen } from "../../src/http/server.ts";
import { testApi } from "./api.ts";

test("a port on which a server answers is refused to a second one, not shared", async () => {
  const api = await testApi();
  const address = { host: "127.0.0.1", port: Number(new URL(api.baseUrl).port) };
  const second = async () => listen({ ...api, limiter: rateLimiter(api) }, address).stop();
  await expect(second()).rejects.toThrow();
  await api.close();
});
