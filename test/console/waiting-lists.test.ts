import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { type Draft, listStore } from "../../src/console/batches/list-store.ts";
import { OperatorError } from "../../src/core/errors.ts";
import { MAX_LISTS_KEPT, MAX_LISTS_PER_ACCOUNT } from "../../src/core/list-limits.ts";
import { memoryState } from "../../src/state/memory-state.ts";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
const photo = await Bun.file("test/photos/yoga.jpg").bytes();

beforeAll(async () => {
  server = await testServer({ renders: false });
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
    "You have 4 squad lists that wait. Continue or discard one of them under Squads",
  );
  for (const list of kept) expect((await cem.get(list)).status).toBe(200);
  next(await cem.post(`${kept[1]}/discard`));
  const list = await upload(cem, "U23");
  expect(kept).not.toContain(list);
  // What stood in its place is not found under the old address.
  expect((await cem.get(kept[1] ?? "")).status).toBe(404);
});

test("test cards keep the list and its photos, each change is tried once, and a tried list gives way first", async () => {
  const ida = await member("ida");
  const lists: string[] = [];
  for (const name of ["U15", "U17", "U19", "U21"]) lists.push(await upload(ida, name));
  const [list = "", ...others] = lists;
  const photos = next(await ida.post(list, chosen));
  for (const id of ["p-1", "p-2", "p-3"]) await ida.upload(photos, new File([photo], `${id}.jpg`));
  const make = (environment: string) =>
    ida.post(`${list}/make`, { environment, name: "U15", leave_out: "yes" });
  const first = next(await make("test"));
  expect(await (await ida.get(first)).text()).toMatch(
    new RegExp(`The list waits for you.*?U15.*?href="${list}/check"`, "s"),
  );
  expect(await (await ida.get(photos)).text()).toContain("All 3 players have a photo");
  expect(next(await make("test"))).toBe(first);
  // A change of the list makes another batch of it, and only one.
  const { all_background_theme: _, ...plain } = chosen;
  next(await ida.post(list, { ...plain, all_background_theme: "ice" }));
  expect(await (await ida.get("/console/batches")).text()).toMatch(/U15.*?Changed after.*?test cards/s);
  const second = next(await make("test"));
  expect(second).not.toBe(first);
  expect(next(await make("test"))).toBe(second);
  expect(await (await ida.get("/console/batches")).text()).toMatch(/U15.*?Tried with.*?test cards/s);

  const newest = await upload(ida, "U23");
  expect(await (await ida.get(newest)).text()).toContain("this one takes the place of U15, whose test cards");
  expect((await ida.get(list)).status).toBe(404);
  expect(await (await ida.get(second)).text()).not.toContain("The list waits for you");
  for (const other of others) expect((await ida.get(other)).status).toBe(200);
  // Live cards are the end of a list.
  next(await ida.post(newest, chosen));
  await ida.upload(`${newest}/photos`, new File([photo], "p-1.jpg"));
  const live = { environment: "live", name: "U23", leave_out: "yes" };
  expect(next(await ida.post(`${newest}/make`, live))).toStartWith("/console/batches/");
  expect((await ida.get(newest)).status).toBe(404);
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

test("a photo that is sent while another file for the list is being read stays", async () => {
  const eva = await member("eva");
  const list = await upload(eva, "First team");
  const file = eva.upload(`${list}/file`, new File([LIST], "First team 2.csv"));
  // Reading a file takes a process of its own; the photo is here long before.
  await eva.upload(`${list}/photos`, new File([photo], "p-1.jpg"));
  next(await file);
  expect(await (await eva.get(`${list}/photos`)).text()).toContain("1 of 3 players have a photo");
});

test("a word that is no known position is said once for all rows that have it, and holds for a newer file", async () => {
  const gil = await member("gil");
  const words = LIST.replace("ST", "Zauberer").replace("GK", "Zauberer");
  const list = await upload(gil, "First team", words);
  next(await gil.post(list, chosen));
  const check = async () => (await gil.get(`${list}/check`)).text();
  const before = await check();
  expect(before).toMatch(/One position is not known.*?>Zauberer<.*?2 rows/s);
  next(await gil.post(`${list}/positions`, { word: "Zauberer", position: "CB" }));
  const after = await check();
  expect(after).not.toContain("position is not known");
  expect(after).not.toContain("Zauberer");
  next(await gil.upload(`${list}/file`, new File([words], "First team 2.csv")));
  expect(await check()).not.toContain("position is not known");
});

test("columns that were recognised are folded, and only what is needed and not known is open", async () => {
  const hal = await member("hal");
  const list = await upload(hal, "First team", LIST.replace("pos;", "wo;"));
  const page = await (await hal.get(list)).text();
  const [open = "", known = "", more = ""] = page.split('<details class="card fold">');
  const keys = (part: string) => [...part.matchAll(/<select id="col_(\w+)"/g)].map(([, key]) => key);
  expect(keys(open)).toEqual(["position"]);
  expect(known).toContain("4 columns recognised");
  expect(keys(known)).toEqual(["external_id", "name", "number", "skill_level"]);
  expect(keys(more)).toContain("primary_color");
});

test("a list whose template is gone costs no page, and says what to do", async () => {
  const fay = await member("fay");
  const list = await upload(fay, "First team");
  const { templates } = server.service;
  const { current, has } = templates;
  const [, preset = ""] = /name="shown_preset" value="(\w+)"/.exec(await (await fay.get(list)).text()) ?? [];
  // As a server started since, which never had the template, that takes this list from the shared state.
  const gone = spyOn(templates, "current").mockImplementation(async (name) => {
    if (name === preset) throw new OperatorError(`There is no template ${name}.`);
    return current(name);
  });
  const known = spyOn(templates, "has").mockImplementation(async (name) => name !== preset && has(name));
  const listed = spyOn(templates, "listed").mockResolvedValue(
    (await templates.all()).flatMap(({ name, problem }) =>
      name === preset || problem !== null ? [] : [name],
    ),
  );
  try {
    const batches = await fay.get("/console/batches");
    expect(batches.status).toBe(200);
    const says = `template ${preset} cannot be used any more. Open the list&#39;s columns and choose another.`;
    expect((await batches.text()).replaceAll("'", "&#39;")).toContain(says);
    const photos = await fay.get(`${list}/photos`);
    expect(photos.status).toBe(400);
    expect((await photos.text()).replaceAll("'", "&#39;")).toContain(says);
    const columns = await fay.get(list);
    expect(columns.status).toBe(200);
    expect(await columns.text()).toContain(`The template ${preset} is not there any more.`);
    next(await fay.post(list, { ...chosen, shown_preset: (await templates.listed())[0] ?? "" }));
    expect((await fay.get(`${list}/photos`)).status).toBe(200);
  } finally {
    for (const spy of [gone, known, listed]) spy.mockRestore();
  }
});

/** A list of this person, in a store of its own. */
const owner = (user: string, id = "", account = "acc_1") => ({
  account: { id: account },
  user: { id: user },
  now: 0,
  params: { id },
});
const draft: Omit<Draft, "changedAt"> = {
  id: "lst_a",
  name: "First team",
  list: { columns: [], rows: [] },
  mapping: { columns: {}, all: {} },
  style: { preset: "any" },
};

test("dropping a list leaves the one that has taken its place since", async () => {
  const lists = listStore(memoryState(() => 0));
  const { draft: first } = await lists.put(owner("ana"), draft);
  await lists.drop(owner("ana", first.id));
  const { draft: second } = await lists.put(owner("ana"), { ...draft, id: "lst_b" });
  await lists.drop(owner("ana", first.id));
  expect(await lists.get(owner("ana", second.id))).toEqual(second);
});

test("where a service holds as many lists as it can, one more is refused and no one else's goes", async () => {
  const lists = listStore(memoryState(() => 0));
  const of = (n: number, id = "") => owner(`user ${n}`, id, `acc_${n % 10}`);
  const { draft: first } = await lists.put(of(0), draft);
  for (let n = 1; n < MAX_LISTS_KEPT; n++) await lists.put(of(n), draft);
  await expect(lists.put(owner("one more", "", "acc_more"), draft)).rejects.toThrow("upload this one later");
  expect(await lists.get(of(0, first.id))).toEqual(first);
  await lists.drop(of(0, first.id));
  expect(await lists.put(owner("one more", "", "acc_more"), draft)).toMatchObject({
    draft: { name: "First team" },
  });
});

test("an account has its share of the waiting lists, which changes and discarded lists leave right", async () => {
  const lists = listStore(memoryState(() => 0));
  const kept: Draft[] = [];
  for (let n = 0; n < MAX_LISTS_PER_ACCOUNT; n++)
    kept.push((await lists.put(owner(`user ${n}`), draft)).draft);
  await expect(lists.put(owner("one more"), draft)).rejects.toThrow("The members of your account have 20");
  expect(await lists.put(owner("one more", "", "acc_2"), draft)).toMatchObject({ draft: { share: 0 } });
  const [first] = kept;
  await lists.change(owner("user 0", first?.id), (list) => ({ ...list, name: "Women" }));
  await expect(lists.put(owner("one more"), draft)).rejects.toThrow("The members of your account have 20");
  // Not even a tried list of somebody else gives way.
  await lists.noteTried(owner("user 0", first?.id), { batch: "bat_1", version: 1 });
  await expect(lists.put(owner("one more"), draft)).rejects.toThrow("The members of your account have 20");
  await lists.drop(owner("user 0", first?.id));
  expect(await lists.put(owner("one more"), draft)).toMatchObject({ draft: { name: "First team" } });
  await expect(lists.put(owner("another"), draft)).rejects.toThrow("The members of your account have 20");
});
