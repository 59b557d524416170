import { afterAll, beforeAll, expect, test } from "bun:test";
import { imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { client, testMember } from "./sessions.ts";

const DAY_MS = 86_400_000;

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ renders: false });
});
afterAll(() => server.close());

test("the days that an owner sets hold for the next picture; days that cannot be are refused in words", async () => {
  const { service, baseUrl } = server;
  const { account, testKey } = await testAccount(service);
  const owner = await client(service, baseUrl, await testMember(service, account.id, "owner@rovers.example"));
  const set = (days: string) =>
    owner.post("/console/data/retention", { retention_days: days, forget_after_days: "" });
  const expires = async (n: number) => {
    const accepted = await post(baseUrl, testKey, imageRequest(), { "Idempotency-Key": `retention-${n}` });
    const { data } = (await accepted.json()) as { data: { image_id: string } };
    const image = await untilEnded(baseUrl, testKey, data.image_id);
    return Math.round((Date.parse(image.result?.expires_at ?? "") - Date.now()) / DAY_MS);
  };
  expect(await expires(1)).toBe(service.config.retentionDays);
  const refused = await set("0");
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("1 to ")]);
  const saved = await set("3");
  expect([saved.status, saved.headers.get("location")]).toEqual([303, "/console/data"]);
  expect(await (await owner.get("/console/data")).text()).toContain("The retention is saved.");
  expect(await expires(2)).toBe(3);
});
