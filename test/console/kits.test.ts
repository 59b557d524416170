import { afterAll, beforeAll, expect, test } from "bun:test";
import { listKits } from "../../src/store/people/brand-kits.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
} from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;
const NO_FILE = new File([], "");

beforeAll(async () => {
  server = await testServer({ renders: false });
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
});
afterAll(() => server.close());

const kits = () => listKits(server.service.store.read, own.account.id);
const STYLE = {
  name: "Home",
  preset: "club_card",
  composition: "photo",
  background_theme: "ice",
  primary_color: "red",
  secondary_color: "#00ff00",
};

test("a kit is saved with its badge, fills in a squad list and the playground, is changed and deleted", async () => {
  const badge = new File([await Bun.file("test/photos/logo.png").bytes()], "badge.png");
  const saved = await ana.upload("/console/kits", badge, STYLE);
  expect([saved.status, saved.headers.get("location")]).toEqual([303, "/console/kits"]);
  const page = await (await ana.get("/console/kits")).text();
  expect(page).toContain("The kit Home is saved.");
  const [kit] = await kits();
  expect(kit).toMatchObject({ name: "Home", composition: "photo", secondaryColor: "#00FF00" });
  expect(kit?.primaryColor).toMatch(/^#[0-9A-F]{6}$/i);
  const picture = await ana.get(`/console/kits/${kit?.id}/badge`);
  expect(picture.headers.get("content-type")).toBe("image/webp");
  const list = (await ana.upload("/console/lists", new File(["id,name\n1,Bo"], "a.csv"))).headers.get(
    "location",
  );
  const columns = await (await ana.get(`${list}?kit=${kit?.id}`)).text();
  expect(columns).toMatch(/name="all_primary_color"[^>]*value="#[0-9A-F]{6}"/i);
  expect(columns).toMatch(/name="all_composition".*?<option value="photo" selected>Within the photo/s);
  expect(columns).toMatch(/name="all_club_badge_url"[^>]*value="[^"]+\/v1\/photos\/pho_/);
  const playground = await (await ana.get(`/console/playground?kit=${kit?.id}`)).text();
  expect(playground).toContain('value="#00FF00"');
  // It is kept longer than other uploads are.
  const { db, t } = server.service.store.read;
  const [upload] = await db.select().from(t.photos);
  expect((upload?.expiresAt ?? 0) - (upload?.createdAt ?? 0)).toBeGreaterThan(365 * 86_400_000);
  await ana.upload(`/console/kits/${kit?.id}`, NO_FILE, { ...STYLE, name: "Away", badge_url: "" });
  expect(await kits()).toEqual([expect.objectContaining({ id: kit?.id, name: "Away", badgeUrl: "" })]);
  // Nobody needs the badge any more.
  const [left] = await db.select().from(t.photos);
  expect(left?.expiresAt).toBeLessThanOrEqual(server.service.clock.now());
  await ana.post(`/console/kits/${kit?.id}/delete`);
  expect(await kits()).toEqual([]);
});

test("the badge of a kit that is refused waits in the form, and is kept with the kit once that is saved", async () => {
  const { db, t } = server.service.store.read;
  const left = async (id = "") => {
    const all = await db.select().from(t.photos);
    const { expiresAt = 0, createdAt = 0 } = all.find((one) => one.id === id) ?? {};
    return expiresAt - createdAt;
  };
  const badge = new File([await Bun.file("test/photos/logo.png").bytes()], "badge.png");
  const refused = await ana.upload("/console/kits", badge, { ...STYLE, primary_color: "reddish" });
  const form = await refused.text();
  expect(refused.status).toBe(422);
  const [, badge_url = "", id] = /name="badge_url"[^>]*value="([^"]+\/(pho_\w+))"/.exec(form) ?? [];
  // Of no kit yet, it goes as other uploads do.
  expect(await left(id)).toBeLessThan(30 * 86_400_000);
  expect((await ana.get(`/console/make/photos/${id}/thumb`)).status).toBe(200);
  await ana.upload("/console/kits", NO_FILE, { ...STYLE, primary_color: "Dunkelgrün", badge_url });
  expect(await left(id)).toBeGreaterThan(365 * 86_400_000);
  const [kit] = await kits();
  expect(kit).toMatchObject({ primaryColor: "#006400", badgeUrl: badge_url });
  await ana.post(`/console/kits/${kit?.id}/delete`);
});

test("a list keeps the kit that was chosen, through a corrected file and a set, and takes the only one by itself", async () => {
  await ana.upload("/console/kits", NO_FILE, { ...STYLE, name: "Only" });
  const [kit] = await kits();
  const file = (name: string) => new File([`id,${name}\n1,Bo`], "a.csv");
  const list = (await ana.upload("/console/lists", file("name"))).headers.get("location") ?? "";
  const isChosen = async (of: { id: string } | undefined) =>
    (await (await ana.get(list)).text()).includes(`value="${of?.id}" selected`);
  expect(await isChosen(kit)).toBe(true);
  expect(await (await ana.get(list)).text()).toMatch(/name="all_primary_color"[^>]*value="#FF0000"/);
  await ana.upload("/console/kits", NO_FILE, { ...STYLE, name: "Two", primary_color: "blau" });
  const two = (await kits()).find(({ name }) => name === "Two");
  const form = {
    shown_preset: "club_card",
    preset: "club_card",
    shown_kit: kit?.id ?? "",
    kit: two?.id ?? "",
  };
  await ana.post(list, form);
  await ana.upload(`${list}/file`, file("player"));
  expect(await isChosen(two)).toBe(true);
  expect(await (await ana.get(list)).text()).toMatch(/name="all_primary_color"[^>]*value="#0000FF"/);
  for (const one of await kits()) await ana.post(`/console/kits/${one.id}/delete`);
});

test("a badge that two kits have stays while one of them has it", async () => {
  const badge = new File([await Bun.file("test/photos/logo.png").bytes()], "badge.png");
  await ana.upload("/console/kits", badge, { ...STYLE, name: "One" });
  const [one] = await kits();
  await ana.upload("/console/kits", NO_FILE, { ...STYLE, name: "Two", badge_url: one?.badgeUrl ?? "" });
  const { db, t } = server.service.store.read;
  const expiries = async () =>
    (await db.select().from(t.photos)).map(({ expiresAt }) => expiresAt > server.service.clock.now());
  const before = await expiries();
  await ana.post(`/console/kits/${one?.id}/delete`);
  expect(await expiries()).toEqual(before);
  const [two] = await kits();
  expect(two).toMatchObject({ name: "Two", badgeUrl: one?.badgeUrl });
  await ana.post(`/console/kits/${two?.id}/delete`);
  expect(await expiries()).not.toEqual(before);
});

test("a kit keeps its badge when a card made with it is deleted", async () => {
  const badge = new File([await Bun.file("test/photos/logo.png").bytes()], "badge.png");
  await ana.upload("/console/kits", badge, { ...STYLE, name: "Kept" });
  const [kit] = await kits();
  const { baseUrl, photos } = server;
  const player = { external_id: "wears-it", source_image_url: photos.url("yoga.jpg") };
  const branding = { club_badge_url: kit?.badgeUrl ?? "" };
  const made = await post(baseUrl, own.liveKey, { ...imageRequest({ player }), branding });
  expect(made.status).toBe(202);
  const headers = { "X-API-Key": own.liveKey };
  const gone = await fetch(`${baseUrl}/v1/players/wears-it`, { method: "DELETE", headers });
  expect(gone.status).toBe(200);
  const picture = await ana.get(`/console/kits/${kit?.id}/badge`);
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/webp"]);
  await ana.post(`/console/kits/${kit?.id}/delete`);
});

test("choosing a kit or another template on the page of the columns loses nothing that was chosen there", async () => {
  await ana.upload("/console/kits", NO_FILE, { ...STYLE, name: "Filled" });
  const [kit] = await kits();
  const upload = await ana.upload("/console/lists", new File(["id,who,badge\n1,Bo,x"], "a.csv"));
  const list = upload.headers.get("location") ?? "";
  const form = { shown_preset: "club_card", preset: "club_card", shown_kit: "", kit: kit?.id ?? "" };
  const chosen = { col_external_id: "1", all_position: "GK", format: "jpeg", size: "1024x1280" };
  const answer = await ana.post(list, { ...form, ...chosen });
  expect(answer.headers.get("location")).toBe(`${list}?kit=${kit?.id}`);
  const shown = await (await ana.get(answer.headers.get("location") ?? "")).text();
  expect(shown).toMatch(/name="col_external_id".*?value="1" selected/s);
  expect(shown).toMatch(/name="all_position".*?<option value="GK" selected>Goalkeeper \(GK\)/s);
  expect(shown).toMatch(/<option[^>]*selected[^>]*>jpeg/);
  expect(shown).toMatch(/name="all_composition".*?<option value="photo" selected>Within the photo/s);
  // Sent with the same kit it goes on.
  const on = await ana.post(list, { ...form, ...chosen, shown_kit: kit?.id ?? "" });
  expect(on.status).toBe(422);
  await ana.post(`/console/kits/${kit?.id}/delete`);
});

test("what no card could have is refused by name, nothing of the form is lost, and no kit is another account's", async () => {
  const refused = await ana.upload("/console/kits", NO_FILE, {
    ...STYLE,
    name: "Bad",
    primary_color: "reddish",
  });
  expect(refused.status).toBe(422);
  const html = await refused.text();
  expect(html).toContain("Main colour must");
  expect(html).not.toContain("branding.primary_color");
  expect(html).toContain('value="reddish"');
  await ana.upload("/console/kits", NO_FILE, STYLE);
  const twice = await ana.upload("/console/kits", NO_FILE, STYLE);
  expect(await twice.text()).toContain("There is a kit called Home already.");
  const [kit] = await kits();
  const other = await testAccount(server.service);
  const eve = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, other.account.id, "eve@united.example"),
  );
  expect((await eve.get(`/console/kits/${kit?.id}`)).status).toBe(404);
  expect((await eve.post(`/console/kits/${kit?.id}/delete`)).status).toBe(404);
  expect(await (await eve.get(`/console/playground?kit=${kit?.id}`)).text()).not.toContain("#00FF00");
  expect(await kits()).toHaveLength(1);
});
