import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let ana: Client;

beforeAll(async () => {
  server = await testServer({ renders: false });
  const own = await testAccount(server.service);
  const user = await testMember(server.service, own.account.id, "ana@rovers.example");
  ana = await client(server.service, server.baseUrl, user);
});
afterAll(() => server.close());

const next = (answer: Response) => answer.headers.get("location") ?? "";

test("columns of a list that nobody knows are named with their values, and what one is said to mean is taken from it", async () => {
  const text = "Name;Pos;Leibchen;OVR;Schuhe\r\nMaya Okafor;ST;9;87;38\r\nKim Li;GK;1;80;41\r\n";
  const list = next(await ana.upload("/console/lists", new File([text], "a.csv")));
  const page = await (await ana.get(list)).text();
  expect(page).toContain("2 columns are not used");
  expect(page).toMatch(/for="meaning_2"[^>]*>Leibchen: 9, 1</);
  expect(page).toMatch(/for="meaning_4"[^>]*>Schuhe: 38, 41</);
  const offered = /<select id="meaning_2".*?<\/select>/s.exec(page)?.[0] ?? "";
  expect([...offered.matchAll(/value="(\w+)"/g)].map(([, key]) => key)).toContain("number");
  // What has a column is not offered for a second one.
  expect(offered).not.toContain('value="position"');
  const sent = {
    col_external_id: "0",
    col_name: "0",
    col_position: "1",
    col_number: "",
    col_skill_level: "3",
    meaning_2: "number",
    size: "1024x1280",
    format: "webp",
  };
  expect(next(await ana.post(list, sent))).toEndWith("/photos");
  const photos = await (await ana.get(`${list}/photos`)).text();
  expect(photos).toMatch(/Maya Okafor.*data-label="Number"[^>]*>9</s);
  const again = await (await ana.get(list)).text();
  expect(again).toContain("One column is not used");
});
