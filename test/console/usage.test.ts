import { afterAll, beforeAll, expect, test } from "bun:test";
import { dayOf, USAGE_PERIODS } from "../../src/core/time.ts";
import {
  get,
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let partner: TestAccount;
let member: Client;
const ids: Record<string, string> = {};

beforeAll(async () => {
  server = await testServer({ renders: false });
  const { service, baseUrl } = server;
  partner = await testAccount(service);
  for (const external_id of ["striker-1", "striker-2", "keeper-1", "test_fail_no_player"]) {
    const accepted = await post(baseUrl, partner.testKey, imageRequest({ player: { external_id } }), {
      "Idempotency-Key": `usage-${external_id}`,
    });
    const { data } = (await accepted.json()) as { data: { image_id: string } };
    await untilEnded(baseUrl, partner.testKey, data.image_id);
    ids[external_id] = data.image_id;
  }
  member = await client(service, baseUrl, await testMember(service, partner.account.id, "ana@usage.example"));
});
afterAll(() => server.close());

test("the file of usage says what the API says, day by day, live and test apart", async () => {
  for (const period of USAGE_PERIODS) {
    for (const environment of ["live", "test"] as const) {
      const answer = await member.get(`/console/usage.csv?period=${period}&environment=${environment}`);
      expect(answer.headers.get("content-disposition")).toContain(
        `cardpress-usage-${environment}-${period}-`,
      );
      const [head, ...lines] = (await answer.text()).trim().split("\r\n");
      expect(head).toBe(
        "day,environment,images_requested,images_completed,images_failed,credits_used,images_canceled",
      );
      const rows = lines.map((line) => line.split(","));
      const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0);
      const key = environment === "live" ? partner.liveKey : partner.testKey;
      const usage = (await (await get(server.baseUrl, key, `/v1/usage?period=${period}`)).json()) as {
        data: Record<string, number>;
      };
      expect([sum(2), sum(3), sum(4), sum(5)]).toEqual(
        ["images_requested", "images_completed", "images_failed", "credits_used"].map(
          (name) => usage.data[name] ?? -1,
        ),
      );
      // Every day once, the quiet ones too, none beyond today.
      const days = rows.map(([day]) => day ?? "");
      expect(days).toEqual([...new Set(days)].toSorted());
      expect(days.every((day) => day <= dayOf(Date.now()))).toBe(true);
      if (period === "last_30_days") expect(days).toHaveLength(30);
    }
  }
});

test("images are found by status, by the beginning of an external id, and by their own id", async () => {
  const shown = async (query: string) => {
    const page = await (await member.get(`/console/images?environment=test&${query}`)).text();
    return Object.keys(ids).filter((name) => page.includes(`href="/console/images/${ids[name]}"`));
  };
  for (const view of ["", "&view=table"]) {
    expect(await shown(view)).toHaveLength(4);
    expect(await shown(`status=failed${view}`)).toEqual(["test_fail_no_player"]);
    expect(await shown(`status=processing${view}`)).toEqual([]);
    expect(await shown(`search=striker${view}`)).toEqual(["striker-1", "striker-2"]);
    expect(await shown(`search=${ids["keeper-1"]}${view}`)).toEqual(["keeper-1"]);
    expect(await shown(`search=striker&status=failed${view}`)).toEqual([]);
  }
  const live = await (await member.get("/console/images?environment=live")).text();
  expect(live).toContain("No live images yet");
});

test("an image's page has what was asked, what is answered, what happened and why it failed", async () => {
  const failed = await (await member.get(`/console/images/${ids.test_fail_no_player}`)).text();
  for (const text of [
    "IMAGE_PROCESSING_FAILED",
    "/docs/errors/IMAGE_PROCESSING_FAILED",
    "Accepted",
    "usage-test_fail_no_player",
  ])
    expect(failed).toContain(text);
  const answer = (await (
    await get(server.baseUrl, partner.testKey, `/v1/images/${ids["striker-1"]}`)
  ).json()) as {
    data: { result: { image_url: string } };
  };
  const page = await (await member.get(`/console/images/${ids["striker-1"]}`)).text();
  expect(page).toContain(answer.data.result.image_url);
  expect(page).toContain("striker-1");
  const thumb = await member.get(`/console/images/${ids["striker-1"]}/thumb`);
  expect(await new Bun.Image(await thumb.bytes()).metadata()).toMatchObject({ format: "webp", width: 360 });
});

test("an owner sets the budget on the page of usage; a developer sees it and may not change it", async () => {
  const { service, baseUrl } = server;
  const developer = await client(
    service,
    baseUrl,
    await testMember(service, partner.account.id, "dev@usage.example", "developer"),
  );
  expect(await (await developer.get("/console/usage")).text()).toContain("There is no budget.");
  const set = (by: Client, budget: string, alerts: string) =>
    by.post("/console/usage/budget", { budget, alerts });
  expect((await set(developer, "1000", "50")).status).toBe(403);

  const saved = await set(member, "1,000", "80 %; 50, 100");
  expect([saved.status, saved.headers.get("location")]).toEqual([303, "/console/usage"]);
  for (const one of [member, developer]) {
    const page = await (await one.get("/console/usage")).text();
    expect(page).toContain("<strong>0 of 1,000</strong> credits of the budget are used");
    for (const mark of ["500 credits", "800 credits", "1,000 credits"]) expect(page).toContain(mark);
  }
  const refused = await set(member, "1000", "half");
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("whole percentages")]);
  expect((await set(member, "", "50")).status).toBe(303);
  expect(await (await developer.get("/console/usage")).text()).toContain("There is no budget.");
});

test("the page counts failed cards by reason and says what helps, of the environment it shows", async () => {
  const page = async (environment: string) =>
    (await member.get(`/console/usage?period=current_month&environment=${environment}`)).text();
  const test = await page("test");
  expect(test).toMatch(/title="no_player">Nobody found in the photo<.*?not a drawing.*?>1<\/td>/s);
  expect(await page("live")).not.toContain("no_player");
});
