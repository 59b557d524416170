import { afterEach, beforeEach, expect, test } from "bun:test";
import { readSession, startSession } from "../../src/app/people/sign-in.ts";
import { recordTestEvent } from "../../src/app/webhooks/webhook-events.ts";
import { consoleAnswer } from "../../src/console/answer.ts";
import type { ConsoleDeps } from "../../src/console/visit.ts";
import { Refusal } from "../../src/core/errors.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { insertEndpoint, type WebhookEndpoint } from "../../src/store/webhooks/webhooks.ts";
import { idlePool } from "../fakes.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { testMember } from "./sessions.ts";

// The console without a socket or a browser, so that what stands behind it can be made to fail.

let workspace: TestWorkspace;
let faults: object[];
beforeEach(async () => {
  workspace = await testWorkspace();
  faults = [];
});
afterEach(() => workspace.close());

/** Sends a form to a console whose images are accepted by `accept`. */
async function post(
  path: string,
  fields: Record<string, string> | FormData,
  options: { accept?: ConsoleDeps["accept"]; headers?: Record<string, string> } = {},
): Promise<Response> {
  const { config, log } = workspace;
  const answer = consoleAnswer({
    ...buildDeps(workspace, { pool: idlePool }),
    log: { ...log, error: (event, cause) => void faults.push({ event, ...cause }) },
    accept: options.accept ?? (() => Promise.reject(new Error("not asked for"))),
  });
  const request = new Request(config.baseUrl + path, {
    method: "POST",
    headers: { origin: config.baseUrl, ...options.headers },
    body: fields instanceof FormData ? fields : new URLSearchParams(fields),
  });
  const rate = { limit: 1, remaining: 1, resetAtMs: 0, exceeded: false };
  const url = new URL(request.url);
  return answer({
    request,
    url,
    basePath: "",
    route: "/console",
    requestId: "req_1",
    clientAddress: "203.0.113.9",
    rate,
  });
}

/** Sends the playground's form as a member, in the way its page does. */
async function play(refusal: Refusal): Promise<Response> {
  const { account } = await testAccount(workspace);
  const user = await testMember(workspace, account.id, "ana@example.com");
  const { token } = await startSession(workspace, user, undefined);
  const csrf = (await readSession(workspace, token))?.session.csrfToken ?? "";
  const card = { external_id: "a", name: "A", position: "ST", number: "9", skill_level: "80" };
  const style = { source_image_url: "https://a.example/a.jpg", width: "1024", height: "1280", format: "png" };
  const form = new FormData();
  const sent = { _csrf: csrf, environment: "live", ...card, ...style };
  for (const [name, value] of Object.entries(sent)) form.set(name, value);
  return post("/console/playground/send", form, {
    accept: () => Promise.reject(refusal),
    headers: { cookie: `cardpress=${token}`, "hx-request": "true" },
  });
}

test("the playground shows that the service is overloaded like any refusal, and the log has no fault", async () => {
  const full = new Refusal("SERVICE_OVERLOADED", "There is more work than can be finished soon.");
  const answer = await play(full);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain("503 SERVICE_OVERLOADED");
  expect(text).toContain(full.message);
  expect(faults).toEqual([]);
});

test("what keeps the service from storing a request is reported to the operator, not to the partner", async () => {
  const cause = new Error("SQLITE_FULL: database or disk is full");
  const answer = await play(new Refusal("SERVICE_OVERLOADED", "Try again later.", { cause }));
  expect(await answer.text()).not.toContain("SQLITE");
  expect(faults).toMatchObject([{ event: "console_failed", cause: expect.stringContaining("SQLITE_FULL") }]);
});

test("an event that cannot be sent again is shown beside the delivery, as any form's problem is", async () => {
  const { account } = await testAccount(workspace);
  const moment = { now: workspace.clock.now(), random: workspace.random };
  const endpoint: WebhookEndpoint = {
    id: "ep_1",
    accountId: account.id,
    environment: "test",
    url: "https://hooks.example/a",
    events: null,
    secret: "sealed",
    previousSecret: null,
    previousSecretExpiresAt: null,
    state: "disabled",
    disabledReason: "It answered 410.",
    disabledAt: moment.now,
    failingSince: null,
    lastSuccessAt: null,
    pausedUntil: null,
    createdAt: moment.now,
    updatedAt: moment.now,
  };
  const delivery = await workspace.store.write("send a test event", async (tx) => {
    await insertEndpoint(tx, endpoint);
    return recordTestEvent(tx, endpoint, moment);
  });
  const user = await testMember(workspace, account.id, "ana@example.com");
  const { token } = await startSession(workspace, user, undefined);
  const csrf = (await readSession(workspace, token))?.session.csrfToken ?? "";
  const page = `/console/deliveries/${delivery.id}`;
  const headers = { cookie: `cardpress=${token}`, referer: workspace.config.baseUrl + page };
  const answer = await post(`${page}/redeliver`, { _csrf: csrf }, { headers });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
  const elsewhere = await post(`${page}/redeliver`, { _csrf: csrf }, { headers: { cookie: headers.cookie } });
  expect(elsewhere.status).toBe(422);
  expect(await elsewhere.text()).toContain(
    "The endpoint ep_1 is disabled: It answered 410. Enable it first.",
  );
  expect(faults).toEqual([]);
});

test.each(["", "{", "null", "1", '"text"'])(
  "the passkey %p is refused as the browser's mistake",
  async (response) => {
    const answer = await post("/console/sign-in/passkey", { response });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain("The browser sent no passkey");
    expect(faults).toEqual([]);
  },
);
