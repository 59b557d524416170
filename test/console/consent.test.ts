import { afterAll, beforeAll, expect, test } from "bun:test";
import {
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
let own: TestAccount;
let ana: Client;

beforeAll(async () => {
  server = await testServer();
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
});
afterAll(() => server.close());

/** What the form that shows a player's record sends back of it. */
const seenOf = async (id: string) =>
  /name="seen" value="(\d+)"/.exec(await (await ana.get(`/console/consent?search=${id}`)).text())?.[1] ?? "";

const next = (answer: Response) => answer.headers.get("location") ?? "";

test("a consent is recorded, found, exported and withdrawn in the console, and a squad list obeys it before it is paid for", async () => {
  await ana.post("/console/consent", { external_id: "p1", no_full_name: "yes", until: "2099-06-30" });
  await ana.post("/console/consent", { external_id: "=p2", no_photo: "yes" });
  const page = await (await ana.get("/console/consent")).text();
  expect(page).toMatch(/=p2.*?No photo.*?No end.*?p1.*?No full name.*?2099-06-30/s);
  const found = await (await ana.get("/console/consent?search=p1")).text();
  expect(found).not.toContain("=p2");
  const csv = (await (await ana.get("/console/consent.csv")).text()).replace("\ufeff", "").split("\r\n");
  expect(csv[0]).toBe("external_id,status,photo,full_name,until,withdrawn_at,recalled_at,updated_at");
  expect(csv[1]).toStartWith("'=p2,given,no,yes,,,");
  expect(csv[2]).toStartWith("p1,given,yes,no,2099-06-30T23:59:59.999Z,,");

  const photo = server.photos.url("yoga.jpg");
  const rows = ["p1;Maya Okafor", "=p2;Sam Unseen"].map((row) => `${row};ST;9;80;${photo}`);
  const list = next(
    await ana.upload(
      "/console/lists",
      new File([`id;name;pos;no;ovr;photo\r\n${rows.join("\r\n")}`], "a.csv"),
    ),
  );
  const keys = ["external_id", "name", "position", "number", "skill_level", "source_image_url"];
  const columns = Object.fromEntries(keys.map((key, at) => [`col_${key}`, String(at)]));
  const check = next(await ana.post(list, { ...columns, size: "1024x1280", format: "webp" }));
  const html = await (await ana.get(check)).text();
  expect(html).toMatch(/<div>3 .*?<\/div>.*?no photo of this player may be shown/s);
  expect(html).toContain("Maya O.");
  expect(html).not.toContain("Maya Okafor");

  const accepted = await post(server.baseUrl, own.testKey, imageRequest({ player: { external_id: "p1" } }));
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  await ana.post("/console/consent/withdraw", { external_id: "p1" });
  const after = await (await ana.get("/console/consent")).text();
  expect(after).toContain("The consent of p1 is withdrawn; 1 image was deleted.");
  expect(after).toContain("Withdrawn");
  expect((await ana.get(`/console/images/${data.image_id}`)).status).toBe(404);
});

test("whoever may not delete players records what a card may show, and neither an end nor a withdrawal", async () => {
  const dev = await testMember(server.service, own.account.id, "dev@rovers.example", "developer");
  const tom = await client(server.service, server.baseUrl, dev);
  expect((await tom.post("/console/consent", { external_id: "p9", no_photo: "yes" })).status).toBe(303);
  expect((await tom.post("/console/consent", { external_id: "p9", until: "2099-06-30" })).status).toBe(403);
  expect((await tom.post("/console/consent/withdraw", { external_id: "p9" })).status).toBe(403);
  const page = await (await tom.get("/console/consent?search=p9")).text();
  expect(page).toContain("No photo");
  expect(page).not.toMatch(/data-opens="withdraw-|name="until"/);
});

test("whoever may not delete players takes neither an end nor a withdrawal away", async () => {
  const dev = await testMember(server.service, own.account.id, "kim@rovers.example", "developer");
  const kim = await client(server.service, server.baseUrl, dev);
  await ana.post("/console/consent", { external_id: "p10", until: "2099-06-30" });
  await kim.post("/console/consent", { external_id: "p10", no_full_name: "yes", seen: await seenOf("p10") });
  const csv = await (await ana.get("/console/consent.csv")).text();
  expect(csv).toContain("p10,given,yes,no,2099-06-30T23:59:59.999Z");
  await ana.post("/console/consent/withdraw", { external_id: "p10" });
  const again = { external_id: "p10", seen: await seenOf("p10") };
  expect((await kim.post("/console/consent", again)).status).toBe(403);
  expect((await ana.post("/console/consent", again)).status).toBe(303);
  expect(await (await ana.get("/console/consent?search=p10")).text()).toContain("Everything");
});

test("what is recorded of a player is shown, with who recorded it, before it is changed, and never overwritten unseen", async () => {
  await ana.post("/console/consent", { external_id: "p11", no_photo: "yes", until: "2099-06-30" });
  const blind = await ana.post("/console/consent", { external_id: "p11" });
  expect(next(blind)).toBe("/console/consent?search=p11");
  const shown = await (await ana.get(next(blind))).text();
  expect(shown).toContain("Of p11 there is a record already.");
  expect(shown).toContain("by ana@rovers.example");
  expect(shown).toMatch(/name="no_photo"[^>]* checked/);
  expect(shown).not.toMatch(/name="no_full_name"[^>]* checked/);
  expect(shown).toMatch(/name="until"[^>]*value="2099-06-30"/);
  const seen = await seenOf("p11");
  await ana.post("/console/consent", { external_id: "p11", no_full_name: "yes", seen });
  // Another member's form of before.
  await ana.post("/console/consent", { external_id: "p11", seen });
  const csv = await (await ana.get("/console/consent.csv")).text();
  expect(csv).toContain("p11,given,yes,no,,");
});

test("what no consent can be is refused, and nobody sees another account's", async () => {
  for (const [fields, expected] of [
    [{ external_id: "p3", until: "2020-01-01" }, "must be in the future"],
    [{ external_id: "p3", until: "2031-02-31" }, "Write the last day as 2027-06-30."],
    [{ external_id: "" }, "Write your id of the player"],
  ] as const) {
    const answer = await ana.post("/console/consent", fields);
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(expected)]);
  }
  const other = await testAccount(server.service);
  const eve = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, other.account.id, "eve@united.example"),
  );
  expect(await (await eve.get("/console/consent")).text()).toContain("No consents yet");
  expect(await (await eve.get("/console/consent?search=p1")).text()).not.toContain("Withdrawn");
  expect(await (await eve.get("/console/consent.csv")).text()).not.toContain("p1,");
});

test("a name that was typed for an id is recorded with a warning that offers the ids of players so named", async () => {
  const made = imageRequest({ player: { external_id: "p20", name: "Zoë Lindqvist" } });
  const accepted = await post(server.baseUrl, own.testKey, made);
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  const warned = next(await ana.post("/console/consent", { external_id: "zoe lindqvist", no_photo: "yes" }));
  const page = await (await ana.get(warned)).text();
  expect(page).toContain("No card of an id zoe lindqvist has been made yet");
  expect(page).toMatch(/Did you mean.*?<a href="\/console\/consent\?search=p20">p20<\/a>: Zoë Lindqvist/s);
  // Before the first card of a player the warning offers nobody.
  const early = next(await ana.post("/console/consent", { external_id: "p21", no_photo: "yes" }));
  const html = await (await ana.get(early)).text();
  expect(html).toContain("No card of an id p21 has been made yet");
  expect(html).not.toContain("Did you mean");
  const known = next(await ana.post("/console/consent", { external_id: "p20", no_photo: "yes" }));
  expect(await (await ana.get(known)).text()).not.toContain("has been made yet");
  expect(await (await ana.get("/console/consent?search=p20")).text()).not.toContain("has been made yet");
});
