import { afterAll, expect, test } from "bun:test";
import { diskLow } from "../../src/core/partner-refusals.ts";
import { imageRequest, post, testAccount, testServer } from "../harness.ts";
import { expectError, testApi } from "./api.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

test("the address of the service leads to the console, whoever asks", async () => {
  const server = await testServer({ renders: false });
  cleanups.push(server.close);
  for (const accept of ["text/html,*/*", "*/*", "application/json"]) {
    const answer = await fetch(server.baseUrl, { headers: { accept }, redirect: "manual" });
    expect([accept, answer.status, answer.headers.get("location")]).toEqual([accept, 303, "/console"]);
  }
});

test("work that is turned away on purpose is no error in the log", async () => {
  const full = { refuseWhenLow: () => Promise.reject(diskLow(30)) };
  const api = await testApi({ room: () => full });
  cleanups.push(api.close);
  const { testKey } = await testAccount(api);
  await expectError(await post(api.baseUrl, testKey, imageRequest()), "SERVICE_OVERLOADED");
  expect(api.lines.filter((line) => line.includes("request_failed"))).toEqual([]);
});
