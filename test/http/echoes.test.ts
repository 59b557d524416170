import { afterAll, beforeAll, expect, test } from "bun:test";
import { listRequests } from "../../src/store/overviews/request-log.ts";
import { type TestAccount, testAccount } from "../harness.ts";
import { type Json, send, type TestApi, testApi } from "./api.ts";

// What a stranger sends comes back in refusals and stays in the log of requests for a month: in both it is
// bounded.

let api: TestApi;
let own: TestAccount;
beforeAll(async () => {
  api = await testApi();
  own = await testAccount(api);
});
afterAll(() => api.close());

const MB = 1024 * 1024;
const BOUNDARY = "form-boundary";
const part = (name: string, text = "x") =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const photo = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nx\r\n--${BOUNDARY}--\r\n`;
const upload = (fields: string) =>
  send(api, "/v1/photos", {
    method: "POST",
    headers: { "X-API-Key": own.testKey, "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
    body: fields + photo,
  });
const batch = (body: unknown) =>
  send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": own.testKey, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));

/** The refusal, and its bytes as echoed and as stored. */
async function refused(response: Response): Promise<{ error: Json; echoed: number; stored: number }> {
  const text = await response.text();
  expect(response.status).toBe(400);
  await api.requests.flush();
  const { requests: rows } = await listRequests(api.store.read, { accountId: own.account.id, limit: 1 });
  expect(rows[0]?.id).toBe(response.headers.get("x-request-id") ?? "");
  return { error: JSON.parse(text).error, echoed: text.length, stored: JSON.stringify(rows).length };
}

for (const [name, ask] of [
  ["a field of a form whose name has 15 MB", () => upload(part("n".repeat(15 * MB)))],
  ["a form of many names of the longest kind", () => upload(part("n".repeat(40_000)).repeat(100))],
  ["a form of 100,000 fields", () => upload(part("n").repeat(100_000))],
  ["a batch with a field whose name has 3 MB", () => batch({ ["n".repeat(3 * MB)]: 1 })],
  ["a batch with 200,000 unknown fields", () => batch(many(200_000))],
  ["a body of a million open brackets", () => batch("[".repeat(MB))],
  ["a body of a million values", () => batch(`[${"1,".repeat(MB)}1]`)],
  ["a body of one endless word", () => batch(`[${"n".repeat(3 * MB)}`)],
  [
    "a query of 1,500 unknown parameters",
    () =>
      send(api, `/v1/images?${new URLSearchParams(Object.keys(many(1_500)).map((name) => [name, ""]))}`, {
        headers: { "X-API-Key": own.testKey },
      }),
  ],
] as const)
  test(`${name} is refused in few words, which are all that is stored`, async () => {
    const { error, echoed, stored } = await refused(await ask());
    expect(error.code).toBe("INVALID_REQUEST");
    expect(error.details.length).toBeLessThanOrEqual(100);
    expect(echoed).toBeLessThan(40_000);
    expect(stored).toBeLessThan(40_000);
  });

test("what is sent counts for the day's bytes also when it is no photo", async () => {
  const before = await api.sourceBytes.spent(own.account.id);
  const body = new FormData();
  body.set("file", new File(["no photo"], "player.jpg"));
  const headers = { "X-API-Key": own.testKey };
  expect((await send(api, "/v1/photos", { method: "POST", headers, body })).status).toBe(422);
  expect(await api.sourceBytes.spent(own.account.id)).toBe(before + 8);
});
