import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { unzipSync } from "fflate";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { imagesOfBatch, listBatches } from "../../src/store/images/batches.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { listActivity } from "../../src/store/people/activity.ts";
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
let bob: Client;

beforeAll(async () => {
  server = await testServer({ knowsPhotos: true });
  own = await testAccount(server.service, { credits: 10 });
  const owner = await testMember(server.service, own.account.id, "ana@rovers.example");
  const other = await testMember(server.service, own.account.id, "bob@rovers.example");
  ana = await client(server.service, server.baseUrl, owner);
  bob = await client(server.service, server.baseUrl, other);
  // A connection over which nothing comes is closed; on a busy machine the first worker takes as long as
  // that.
  while (server.service.pool.health().ready === 0) await Bun.sleep(25);
});
afterAll(() => server.close());

const squad = (rows: string[]) =>
  new File([`\ufeffid;name;pos;no;ovr;photo\r\n${rows.join("\r\n")}\r\n`], "First team.csv");
const row = (id: string, more: { no?: string; photo?: string } = {}) =>
  `${id};Player ${id};Striker;${more.no ?? "9"};87;${server.photos.url(more.photo ?? "yoga.jpg")}`;

/** A card of a list, once it is drawn or found to be none. */
async function drawn(path: string): Promise<string> {
  for (;;) {
    const part = await (await ana.get(path)).text();
    if (!part.includes("Being drawn")) return part;
    await Bun.sleep(25);
  }
}

/** Where an answer leads to. */
const next = (answer: Response) => {
  expect(answer.status).toBe(303);
  return answer.headers.get("location") ?? "";
};
/** Uploads a list and takes the columns as they were guessed; the address of its check. */
async function checked(rows: string[], who = ana): Promise<string> {
  const list = next(await who.upload("/console/lists", squad(rows)));
  const page = await (await who.get(list)).text();
  const fields = Object.fromEntries(
    [...page.matchAll(/<select id="(col_\w+)"(.*?)<\/select>/gs)].map(([, name, options]) => [
      name ?? "",
      /<option value="(\d+)" selected/.exec(options ?? "")?.[1] ?? "",
    ]),
  );
  return next(
    await who.post(list, { ...fields, size: "1024x1280", format: "webp", all_background_theme: "fire" }),
  );
}
const credits = async () => {
  const { db, t } = server.service.store.read;
  const rows = await db.select().from(t.accounts);
  const { creditsPlan, creditsHeld } = rows.find(({ id }) => id === own.account.id) ?? {};
  return { creditsPlan, creditsHeld };
};
const batches = (environment: "live" | "test") =>
  listBatches(server.service.store.read, { accountId: own.account.id, environment, limit: 50 });

/** The batch that the first test made. */
let firstTeam = "";

test("a squad list becomes cards: columns guessed, faults named, three cards seen, then paid, watched and downloaded", async () => {
  const check = await checked([
    row("p1"),
    row("p2"),
    row("p3", { no: "100" }),
    row("p4", { photo: "brick.png" }),
  ]);
  const page = await (await ana.get(check)).text();
  expect(page).toContain("3 players are complete, 1 has a fault");
  expect(page).toMatch(/<div>4 Player p3<\/div>.*?no.*?must be a whole number from 1 to 99; got 100\./s);
  const parts = [...page.matchAll(/hx-get="([^"]+\/cards\/\d)"/g)].map(([, path]) => path ?? "");
  expect(parts).toHaveLength(3);
  // A card that takes longer than a connection is kept waits on the page, which asks until it is there.
  const asked = await Promise.all(parts.map(async (path) => (await ana.get(path)).text()));
  expect(asked.map((part) => part.includes("Being drawn"))).toEqual([true, true, true]);
  const previews = await Promise.all(parts.map(drawn));
  // The last photo shows no person, which is reported before a credit is spent.
  expect(previews[1]).toContain("No player was found");
  const picture = /src="([^"]+)"/.exec(previews[0] ?? "")?.[1] ?? "";
  const shown = await ana.get(picture);
  expect(shown.headers.get("content-type")).toBe("image/webp");
  expect(await new Bun.Image(await shown.bytes()).metadata()).toMatchObject({ width: 512, height: 640 });
  // Nobody else sees it, and no other card is drawn for free.
  expect((await bob.get(picture)).status).toBe(404);
  expect((await ana.get(parts[0]?.replace(/\d$/, "7") ?? "")).status).toBe(404);
  expect(await credits()).toEqual({ creditsPlan: 10, creditsHeld: 0 });
  expect(await batches("live")).toEqual([]);

  const refused = await ana.post(check.replace("/check", "/make"), {
    environment: "live",
    name: "First team",
  });
  expect(next(refused)).toBe(check);
  expect(await (await ana.get(check)).text()).toContain("Some rows have faults");
  const made = { environment: "live", name: "First team", leave_out: "yes" };
  const batch = next(await ana.post(check.replace("/check", "/make"), made));
  for (let text = ""; !text.includes('name="img"') && !text.includes("1 failed"); )
    text = await (await ana.get(batch)).text();
  const sheet = await (await ana.get(`${batch}?show=completed`)).text();
  expect(sheet).toMatch(/tile-name[^>]*>Player p1</);
  expect(sheet).not.toMatch(/tile-name[^>]*>Player p4</);
  expect(await credits()).toEqual({ creditsPlan: 8, creditsHeld: 0 });
  const zip = await ana.get(`${batch}/pictures.zip`);
  expect(zip.headers.get("content-disposition")).toContain('filename="First team.zip"');
  // Called as people call the players; the table has the ids.
  const files = unzipSync(await zip.bytes());
  expect(Object.keys(files).sort()).toEqual(["09 Player p1.webp", "09 Player p2.webp", "cards.csv"]);
  expect(new TextDecoder().decode(files["cards.csv"])).toMatch(
    /^p1,img_\w+,completed,09 Player p1.webp,.*,Player p1,9\r$/m,
  );
  firstTeam = batch;
  // The list has done its work.
  expect((await ana.get(check)).status).toBe(404);
  expect((await audit(server.service.store, Date.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
  const log = await listActivity(server.service.store.read, { accountId: own.account.id, limit: 10 });
  expect(log.map(({ entry }) => entry.action)).toContain("batch.created");
});

test("a corrected list costs what is new in it: uploaded a second time, a third time, and in another order", async () => {
  const { account } = await testAccount(server.service, { credits: 10 });
  const cem = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, account.id, "cem@united.example"),
  );
  const credits = async () => (await findAccount(server.service.store.read, account.id))?.creditsPlan ?? 0;
  const order = async (list: string[]) => {
    const before = await credits();
    const check = await checked(list, cem);
    const [, price] = /Live: <strong>(\d+ credits?)</.exec(await (await cem.get(check)).text()) ?? [];
    next(await cem.post(check.replace("/check", "/make"), { environment: "live", name: "Corrected" }));
    const scope = { accountId: account.id, environment: "live", limit: 1 } as const;
    const [newest] = await listBatches(server.service.store.read, scope);
    return { price, charged: before - (await credits()), cards: newest?.total };
  };
  expect(await order([row("m1"), row("m2"), row("m3")])).toEqual({
    price: "3 credits",
    charged: 3,
    cards: 3,
  });
  const corrected = [row("m1"), row("m2", { no: "10" }), row("m3")];
  expect(await order(corrected)).toEqual({ price: "1 credit", charged: 1, cards: 3 });
  expect(await order(corrected)).toEqual({ price: "0 credits", charged: 0, cards: 3 });
  expect(await order(corrected.toReversed())).toEqual({ price: "0 credits", charged: 0, cards: 3 });
});

test("a batch of test cards is free, and one of more live cards than credits is refused and keeps the list", async () => {
  const check = await checked(Array.from({ length: 11 }, (_, n) => row(`t${n}`)));
  expect(await (await ana.get(check)).text()).toContain("Live cards would cost 11 credits, and you have 8");
  const make = check.replace("/check", "/make");
  expect(next(await ana.post(make, { environment: "live" }))).toBe(check);
  expect(await (await ana.get(check)).text()).toContain("credits");
  const before = await credits();
  const batch = next(await ana.post(make, { environment: "test", name: "" }));
  expect(await credits()).toEqual(before);
  expect(await (await ana.get(batch)).text()).toContain("Squad without a name");
  expect(await (await ana.get("/console/batches?environment=test")).text()).toContain(batch);
});

test("a batch is canceled from its page, and what was not begun comes back", async () => {
  const check = await checked(["a", "b", "c"].map((id) => row(id, { photo: "unsplash_man.jpg" })));
  const before = await credits();
  const batch = next(
    await ana.post(check.replace("/check", "/make"), { environment: "live", name: "Youth" }),
  );
  expect(next(await ana.post(`${batch}/cancel`))).toBe(batch);
  for (let text = ""; !text.includes("Canceled"); ) text = await (await ana.get(batch)).text();
  const [newest] = await batches("live");
  expect(newest?.canceledAt).not.toBeNull();
  const { creditsPlan = 0, creditsHeld } = await credits();
  expect({ creditsHeld, used: (before.creditsPlan ?? 0) - creditsPlan }).toEqual({
    creditsHeld: 0,
    used: newest?.completed ?? -1,
  });
  // Nobody reads that what was called off went wrong.
  expect(newest?.canceled).toBe(newest?.failed ?? -1);
  expect(newest?.canceled).toBeGreaterThan(0);
  const sheet = await (await ana.get(`${batch}?show=canceled`)).text();
  expect(sheet).toMatch(/<span class="badge badge-neutral">Canceled<\/span>/);
  expect(sheet).not.toContain("badge-bad");
  expect(sheet).toMatch(/class="key-failed">0</);
  const image = await (
    await ana.get(/href="(\/console\/images\/img_\w+\?batch=\w+)"/.exec(sheet)?.[1] ?? "")
  ).text();
  expect(image).toContain("The batch was canceled before this card was made.");
  expect(image).not.toContain("Failed");
  const usage = await (await ana.get("/console/usage")).text();
  expect(usage).toMatch(new RegExp(`, ${newest?.canceled} canceled of `));
});

test("a column that every card needs is asked for by its name, and what was chosen is kept", async () => {
  const list = next(await ana.upload("/console/lists", squad([row("x")])));
  const answer = await ana.post(list, { col_external_id: "0", col_name: "1", all_skill_level: "70" });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain("Every card needs Position, Shirt number.");
  const page = await (await ana.get(list)).text();
  expect(page).toMatch(/name="all_skill_level"[^>]*value="70"/);
});

test("no file, a file of something else, and one too large are refused on the page they came from", async () => {
  const { cookie } = ana;
  const refused = async (file: File) => {
    const answer = await ana.upload("/console/lists", file);
    return answer.status === 303 ? "back" : `${answer.status} ${await answer.text()}`;
  };
  expect(await refused(new File([], ""))).toContain("422");
  expect(await refused(new File(["%PDF\0"], "squad.pdf"))).toContain(
    "Choose a CSV file or an Excel workbook",
  );
  expect(await refused(new File(["x".repeat(5 * 1024 * 1024)], "a.csv"))).toContain("5.0 MB, and may have 4");
  expect(await refused(new File(["x".repeat(17 * 1024 * 1024)], "a.csv"))).toStartWith("413");
  const anyone = await fetch(`${server.baseUrl}/console/lists`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: server.baseUrl },
    body: new FormData(),
  });
  expect(next(anyone)).toStartWith("/console/sign-in");
  const forged = new FormData();
  forged.append("file", squad([row("x")]));
  const without = await fetch(`${server.baseUrl}/console/lists`, {
    method: "POST",
    headers: { origin: server.baseUrl, cookie },
    body: forged,
  });
  expect(without.status).toBe(403);
});

test("a card is made again from its page with another photo and style, and stands beside the one before", async () => {
  const accepted = await post(
    server.baseUrl,
    own.liveKey,
    imageRequest({
      player: { external_id: "again", source_image_url: server.photos.url("yoga.jpg") },
      metadata: { kept: "yes" },
    }),
  );
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  await untilEnded(server.baseUrl, own.liveKey, data.image_id);
  const page = `/console/images/${data.image_id}`;
  const first = await (await ana.get(page)).text();
  expect(first).toMatch(/href="\/cdn\/[^"]+" download="09 Maya Okafor\.png"/);
  expect(first).not.toContain("Compared with the one before");
  const form = `${page}/again`;
  expect(await (await ana.get(form)).text()).toContain("yoga.jpg");
  // Nothing is lost of what was typed into a form that is refused.
  const none = new File([], "");
  const bad = await ana.upload(form, none, { background_theme: "ice", primary_color: "reddish" });
  expect(bad.status).toBe(422);
  const html = await bad.text();
  expect(html).toContain("branding.primary_color");
  expect(html).toContain('value="ice"');
  const photo = new File([await Bun.file("test/photos/unsplash_man.jpg").bytes()], "man.jpg");
  const made = next(await ana.upload(form, photo, { background_theme: "ice" }));
  await untilEnded(server.baseUrl, own.liveKey, made.split("/").pop() ?? "");
  const second = await (await ana.get(made)).text();
  expect(second).toContain("Compared with the one before");
  expect(second).toMatch(/>Background theme<\/dt><dd><del>nothing<\/del> <ins>ice/);
  expect(second).toContain("/v1/photos/pho_");
  expect(second).toContain("&quot;kept&quot;");
});

test("images are found by the days they were created in, counted by status, and named in deliveries and credits", async () => {
  const { data } = (await (
    await post(
      server.baseUrl,
      own.liveKey,
      imageRequest({
        player: { external_id: "=seen", name: "Nia Seen", source_image_url: server.photos.url("brick.png") },
      }),
    )
  ).json()) as { data: { image_id: string } };
  await untilEnded(server.baseUrl, own.liveKey, data.image_id);
  const print = await (await ana.get(`/console/images/${data.image_id}/print`)).text();
  expect(print).toContain("This card failed");
  expect(print).not.toContain("no bleed");
  const day = new Date().toISOString().slice(0, 10);
  const today = await (await ana.get(`/console/images?from=${day}&to=${day}`)).text();
  expect(today).toContain("Nia Seen");
  expect(today).toMatch(/>Failed or canceled \d+</);
  const later = await (await ana.get("/console/images?from=2099-01-01")).text();
  expect(later).toContain("No live image was created in these days");
  expect(later).toContain(">All 0<");
  expect(await (await ana.get("/console/images?search=Nia&to=2020-01-01")).text()).toContain("Nothing found");
  const page = await (await ana.get("/console/credits")).text();
  expect(page).toMatch(new RegExp(`href="/console/images/${data.image_id}"><span[^>]*>Nia Seen`));
  const csv = await (await ana.get("/console/credits.csv")).text();
  expect(csv.split("\r\n")[0]).toEndWith(",image_id,reason,external_id,player");
  expect(csv).toContain(`,${data.image_id},,'=seen,Nia Seen\r\n`);
});

test("cards without bleed are made for print beside their batch, whose ZIP and cards stay", async () => {
  const page = await (await ana.get(`${firstTeam}/print`)).text();
  expect(page).toContain("These cards have no bleed");
  expect(page).toContain("Make 2 cards for print");
  expect(page).toContain("Making them again costs up to 2 credits; the print file itself is free.");
  expect(page).toContain("59 x 91 mm, as MeinSpiel takes it");
  expect(page).toContain('name="foil" type="checkbox"');
  expect(page).not.toContain("costs nothing");
  const before = (await credits()).creditsPlan ?? 0;
  expect((await ana.post(`${firstTeam}/for-print`, { size: "a5" })).status).toBe(404);
  const zip = async () =>
    Object.entries(unzipSync(await (await ana.get(`${firstTeam}/pictures.zip`)).bytes())).map(
      ([name, bytes]) => [name, Bun.hash(bytes)],
    );
  const forScreens = await zip();
  const wanted = { size: "63x88", foil: "true" };
  const forPrint = next(await ana.post(`${firstTeam}/for-print`, wanted));
  expect(forPrint).not.toBe(firstTeam);
  expect(await (await ana.get(forPrint)).text()).toMatch(
    new RegExp(`First team, for print 63 x 88 mm.*?for screens are in.*?href="${firstTeam}"`, "s"),
  );
  // Pressed twice it makes and charges nothing more.
  expect(next(await ana.post(`${firstTeam}/for-print`, wanted))).toBe(forPrint);
  for (const path of [firstTeam, `${firstTeam}/print`])
    expect(await (await ana.get(path)).text()).toContain(`href="${forPrint}"`);
  for (let text = ""; !text.includes("2 cards of 63 x 88 mm"); )
    text = await (await ana.get(`${forPrint}/print`)).text();
  expect(await zip()).toEqual(forScreens);
  const form = await (await ana.get(`${forPrint}/print`)).text();
  expect(form).toContain('id="foil" name="foil"');
  expect(form).toContain("DriveThruCards takes 2.5 x 3.5 in");
  // What a printer's rules settle stands together, and goes once one is chosen.
  expect(form).toMatch(/name="printer".*class="form own-rules".*name="sheet".*name="marks"/s);
  const [style = ""] = /\/console\/assets\/console\.css[^"]*/.exec(form) ?? [];
  expect(await (await ana.get(style)).text()).toMatch(
    /name="?printer"?\]:checked[^{]*\.own-rules\s*\{\s*display: ?none/,
  );
  const pdf = await ana.get(`${forPrint}/print.pdf`);
  expect(Buffer.from(await pdf.bytes()).toString("latin1")).toStartWith("%PDF-");
  for (let held = 1; held > 0; ) held = (await credits()).creditsHeld ?? 0;
  expect((await credits()).creditsPlan).toBe(before - 2);
});

test("a card that moves becomes a still for print, on its own and in its batch", async () => {
  const card = imageRequest({ player: { external_id: "film" } });
  const made = await fetch(`${server.baseUrl}/v1/batches`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.testKey },
    body: JSON.stringify({ name: "Films", cards: [card] }),
  });
  const { data } = (await made.json()) as { data: { batch_id: string } };
  const [film] = await imagesOfBatch(server.service.store.read, data.batch_id);
  await untilEnded(server.baseUrl, own.testKey, film?.id ?? "");
  // Only what was asked for counts here, and a real one takes long to draw.
  const request = imageRequest({ ...card, style: { format: "webm", motion: "reveal" } });
  await server.service.store.write("film it", ({ db, t }) =>
    db
      .update(t.images)
      .set({ request })
      .where(eq(t.images.id, film?.id ?? "")),
  );
  const page = await (await ana.get(`/console/images/${film?.id}/print`)).text();
  expect(page).toContain(`action="/console/images/${film?.id}/again"`);
  expect(page).toContain('name="print"');
  const again = await (await ana.get(`/console/images/${film?.id}/again?print=63x88`)).text();
  expect(again).toMatch(/name="width"[^>]*value="815"/);
  expect(again).toMatch(/value="png" selected/);

  const batch = `/console/batches/${data.batch_id}`;
  expect(next(await ana.post(`${batch}/for-print`, { size: "63x88" }))).toStartWith("/console/batches/");
  const { db, t } = server.service.store.read;
  const films = await db.select().from(t.images).where(eq(t.images.externalId, "film"));
  const still = films.find(({ id }) => id !== film?.id)?.request as ReturnType<typeof imageRequest>;
  expect(still?.style).toMatchObject({ format: "png", width: 815, height: 1110 });
});

test("whoever has made only test batches finds them at once", async () => {
  const { account, testKey } = await testAccount(server.service);
  const member = await testMember(server.service, account.id, "new@united.example");
  const newcomer = await client(server.service, server.baseUrl, member);
  const response = await fetch(`${server.baseUrl}/v1/batches`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": testKey },
    body: JSON.stringify({ name: "Trial", cards: [imageRequest()] }),
  });
  expect(response.status).toBe(202);
  expect(await (await newcomer.get("/console/batches")).text()).toContain("Trial");
  expect(await (await newcomer.get("/console/batches?environment=live")).text()).not.toContain("Trial");
});
