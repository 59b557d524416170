import { afterAll, beforeAll, expect, test } from "bun:test";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { makeSet } from "../../src/app/sets/manage-sets.ts";
import { imagesOfBatch, listBatches } from "../../src/store/images/batches.ts";
import type { CardSet } from "../../src/store/sets/card-sets.ts";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;
let set: CardSet;
beforeAll(async () => {
  server = await testServer({ renders: false });
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
  const scope = { accountId: own.account.id, environment: "test" } as const;
  const players = ["p1", "p2"].map((externalId) => ({ externalId, name: "", number: null }));
  const parallels = [
    { name: "base", size: null },
    { name: "gold", size: 3 },
  ];
  ({ set } = await makeSet(server.service, scope, { name: "Rovers", season: "2026/27", parallels, players }));
});
afterAll(() => server.close());

const next = (answer: Response) => {
  expect(answer.status).toBe(303);
  return answer.headers.get("location") ?? "";
};
const text = async (path: string) => (await ana.get(path)).text();
const chosen = (page: string, name: string) =>
  new RegExp(`<select[^>]* name="${name}".*?<option value="([^"]*)" selected.*?</select>`, "s").exec(
    page,
  )?.[1];

/** Uploads a list, chooses the set, and takes the columns as they are guessed then, with these changes. */
async function checked(file: string, more: Record<string, string>): Promise<string> {
  const list = next(await ana.upload("/console/lists", new File([file], "Gold run.csv")));
  const before = await text(list);
  expect(before).not.toContain("Cards of each");
  const fields = {
    ...Object.fromEntries(COLUMNS.map((key) => [`col_${key}`, chosen(before, `col_${key}`) ?? ""])),
    size: "1024x1280",
    format: "webp",
    set: set.id,
  };
  expect(next(await ana.post(list, { ...fields, shown_set: "" }))).toStartWith(list);
  const page = await text(list);
  expect(chosen(page, "set")).toBe(set.id);
  expect(chosen(page, "col_name")).toBe("1");
  const parallel = { col_set_parallel: chosen(page, "col_set_parallel") ?? "" };
  return next(await ana.post(list, { ...fields, shown_set: set.id, ...parallel, ...more }));
}
const COLUMNS = ["external_id", "name", "position", "number", "skill_level", "source_image_url"];
const row = (id: string, rating: number, parallel = "") =>
  `${id},Player ${id},ST,9,${rating},${server.photos.url("yoga.jpg")},${parallel}`;
const HEAD = "id,name,position,number,rating,photo,parallel";
const made = async () => {
  const { read } = server.service.store;
  const scope = { accountId: own.account.id, environment: "test" } as const;
  const [batch] = await listBatches(read, { ...scope, limit: 1 });
  return imagesOfBatch(read, batch?.id ?? "");
};
const places = async () =>
  (await made()).map(({ externalId, setPlace }) => {
    const { parallel, serial } = JSON.parse(setPlace ?? "{}");
    return `${externalId} ${parallel} ${serial}`;
  });

test("the cards of a squad list belong to a set: one parallel for all or one a row, and several of each", async () => {
  const file = [HEAD, row("p1", 80), row("p2", 80, "base"), row("p9", 80)].join("\r\n");
  const check = await checked(file, { all_set_parallel: "gold" });
  const page = await text(check);
  expect(page).toMatch(/<div>4 .*?<\/div>.*?is not on the checklist of the set/s);
  expect(page).toContain(`href="/console/sets/${set.id}"`);
  // A set of test cards has no live ones.
  expect(page).not.toContain('value="live"');
  const make = check.replace("/check", "/make");
  next(await ana.post(make, { environment: "live", name: "Mixed", leave_out: "yes" }));
  expect(await places()).toEqual(["p1 gold 1", "p2 base null"]);

  const run = [HEAD.replace(",parallel", ""), row("p1", 81).slice(0, -1), row("p2", 81).slice(0, -1)];
  const two = await checked(run.join("\r\n"), { all_set_parallel: "gold", all_set_count: "2" });
  expect(await text(two)).toContain("Make 4 cards");
  next(await ana.post(two.replace("/check", "/make"), { environment: "test", name: "Run" }));
  expect(await places()).toEqual(["p1 gold 2", "p1 gold 3", "p2 gold 1", "p2 gold 2"]);

  // Nothing of the same list is new, whatever room there is; of another there is not enough.
  const again = await checked(run.join("\r\n"), { all_set_parallel: "gold", all_set_count: "2" });
  expect(await text(again)).toContain("Make 4 cards");
  const other = run.map((line) => line.replace(",81,", ",82,")).join("\r\n");
  const full = await text(await checked(other, { all_set_parallel: "gold", all_set_count: "2" }));
  expect(full).toMatch(/<div>2 .*?<\/div>.*?the player has all 3 cards of/s);
  expect(full).toMatch(/<div>3 .*?<\/div>.*?has 1 left, and 2 are asked for/s);
  const findings = (await audit(server.service.store, Date.now())).findings;
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("an empty set leads to its cards by one button, and a list without ids finds its players by their names", async () => {
  const scope = { accountId: own.account.id, environment: "test" } as const;
  const players = [
    { externalId: "player-7", name: "Zoë Okafor", number: 7 },
    { externalId: "player-8", name: "Kim Lee", number: 8 },
  ];
  const parallels = [{ name: "base", size: null }];
  const { set: fresh } = await makeSet(server.service, scope, {
    name: "New",
    season: "",
    parallels,
    players,
  });
  const page = await text(`/console/sets/${fresh.id}`);
  expect(page).not.toContain("<code>");
  expect(page).toMatch(new RegExp(`href="/console/lists/new\\?set=${fresh.id}"[^>]*>\\s*Make the cards`));
  expect(await text(`/console/lists/new?set=${fresh.id}`)).toContain(`name="set" value="${fresh.id}"`);
  const squad = await text(`/console/sets/${fresh.id}/squad.csv`);
  expect(squad).toContain("player-7,Zoë Okafor,,7,,\r\n");
  const file = `name,position,number,rating,photo\r\nzoë okafor,ST,7,80,${server.photos.url("yoga.jpg")}\r\n`;
  const list = next(await ana.upload("/console/lists", new File([file], "New.csv"), { set: fresh.id }));
  const columns = await text(list);
  expect(chosen(columns, "set")).toBe(fresh.id);
  expect(columns).toContain("each player's name is the id");
  const keys = ["name", "position", "number", "skill_level", "source_image_url", "external_id"];
  const fields = Object.fromEntries(keys.map((key) => [`col_${key}`, chosen(columns, `col_${key}`) ?? ""]));
  const more = {
    set: fresh.id,
    shown_set: fresh.id,
    all_set_parallel: "base",
    size: "1024x1280",
    format: "webp",
  };
  const check = next(await ana.post(list, { ...fields, ...more }));
  expect(await text(check)).toContain("The one row has what a card needs.");
  next(await ana.post(check.replace("/check", "/make"), { environment: "test" }));
  expect(await places()).toEqual(["player-7 base null"]);
});
