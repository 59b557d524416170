import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
const photo = await Bun.file("test/photos/yoga.jpg").bytes();

beforeAll(async () => {
  server = await testServer();
  own = await testAccount(server.service, { credits: 10 });
});
afterAll(() => server?.close());

const member = async (name: string): Promise<Client> =>
  client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, `${name}@rovers.example`),
  );
const next = (answer: Response) => {
  expect(answer.status).toBe(303);
  return answer.headers.get("location") ?? "";
};
const LIST =
  "id;name;pos;no;ovr\r\np-1;Eileen Collins;ST;9;87\r\np-2;María Núñez;GK;1;82\r\np-3;Kim Andersson;LW;11;74\r\n";
const upload = async (who: Client, name: string, text = LIST) =>
  next(await who.upload("/console/lists", new File([text], `${name}.csv`)));
const chosen = {
  col_external_id: "0",
  col_name: "1",
  col_position: "2",
  col_number: "3",
  col_skill_level: "4",
  all_background_theme: "fire",
  size: "1024x1280",
  format: "webp",
};

test("uploaded lists are found again until they are discarded, and a second ends no first", async () => {
  const [ana, bob] = [await member("ana"), await member("bob")];
  const first = await upload(ana, "First team");
  await ana.upload(`${first}/photos`, new File([photo], "p-1.jpg"));
  const second = await upload(ana, "Women");
  const page = await (await ana.get("/console/batches")).text();
  expect(page).toMatch(/Women.*?>3<.*?>0<.*?Continue.*?Discard.*?First team.*?>3<.*?>1<.*?Continue/s);
  expect(page).toContain(`href="${second}"`);
  expect(page).toContain(`href="${first}/photos"`);
  expect(await (await bob.get("/console/batches")).text()).not.toContain("First team");
  expect((await bob.post(`${first}/discard`)).status).toBe(404);
  expect(next(await ana.post(`${second}/discard`))).toBe("/console/batches");
  const after = await (await ana.get("/console/batches")).text();
  expect(after).toContain("Women is discarded.");
  expect(after).not.toContain(`href="${second}"`);
  expect((await ana.get(`${first}/photos`)).status).toBe(200);
});

test("a list too many is refused with what to do, and none of the others goes", async () => {
  const cem = await member("cem");
  const kept: string[] = [];
  for (const name of ["U15", "U17", "U19", "U21"]) kept.push(await upload(cem, name));
  const refused = await cem.upload("/console/lists", new File([LIST], "U23.csv"));
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain(
    "You have 4 squad lists that are not started. Continue or discard one of them under Batches",
  );
  for (const list of kept) expect((await cem.get(list)).status).toBe(200);
  next(await cem.post(`${kept[1]}/discard`));
  const list = await upload(cem, "U23");
  expect(kept).not.toContain(list);
  // What stood in its place is not found under the old address.
  expect((await cem.get(kept[1] ?? "")).status).toBe(404);
});

test("another file keeps the photos, whose they are, and the columns whose headings are the same", async () => {
  const dan = await member("dan");
  const list = await upload(dan, "First team");
  const photos = next(await dan.post(list, { ...chosen, col_skill_level: "", all_skill_level: "75" }));
  await dan.upload(photos, new File([photo], "p-1.jpg"));
  await dan.upload(photos, new File([photo], "IMG_7.jpg"), { row: "2" });
  expect(await (await dan.get(list)).text()).toContain(`href="${list}/file"`);
  expect(await (await dan.get(`${list}/file`)).text()).toContain("its 2 photos stay");
  // Rows in another order, one player more, and other columns.
  const newer =
    "Rating;name;no;pos;id;ovr\r\n80;Kim Andersson;11;LW;p-3;74\r\n81;Ola Nordmann;5;CB;p-4;70\r\n82;Eileen Collins;9;ST;p-1;87\r\n";
  expect(next(await dan.upload(`${list}/file`, new File([newer], "First team 2.csv")))).toBe(list);
  const page = await (await dan.get(list)).text();
  const column = (key: string) =>
    /<option value="(\d+)" selected/.exec(
      new RegExp(`<select id="col_${key}".*?</select>`, "s").exec(page)?.[0] ?? "",
    )?.[1];
  expect(["external_id", "name", "position", "number"].map(column)).toEqual(["4", "1", "3", "2"]);
  // The old heading was left out on purpose; the new one is guessed.
  expect(column("skill_level")).toBe("0");
  expect(page).toContain('value="fire"');
  const table = await (await dan.get(photos)).text();
  expect(table).toMatch(/Kim Andersson.*?Chosen by hand.*?Ola Nordmann.*?Missing.*?Eileen Collins.*?By id/s);
  // It is still one list.
  const page2 = await (await dan.get("/console/batches")).text();
  expect(page2.match(/>Continue</g)).toHaveLength(1);
});
