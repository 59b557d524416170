import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { ElementHandle } from "puppeteer-core";
import { publicationAt } from "../../src/console/cards/publish-field.tsx";
import { type CreateImageRequest, storedRequest } from "../../src/core/image-request.ts";
import { DAY_MS, isoTime } from "../../src/core/time.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
} from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    testServer({ env: { CARDPRESS_PRESETS: "club_card,action_card" }, knowsPhotos: true }),
    testBrowser(),
  ]);
  own = await testAccount(server.service, { credits: 10, name: "Rovers FC" });
  const member = await testMember(server.service, own.account.id, "ana@rovers.example");
  ana = await client(server.service, server.baseUrl, member);
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

const images = async () => {
  const { db, t } = server.service.store.read;
  return db.select().from(t.images);
};
const PLAYER = { name: "Zoë Okafor", number: "9", skill_level: "80", position: "ST" };
const LOOK = { preset: "club_card", size: "1024x1280", format: "png", composition: "auto" };
const NO_FILE = new File([], "");
const photo = async () => new File([await Bun.file("test/photos/yoga.jpg").bytes()], "IMG_0001.jpg");

test("somebody who is no developer chooses a photo, sees the card while writing, and makes, changes and repeats it", async () => {
  const { page, complaints } = await browser.open();
  const value = (id: string) => page.$eval(id, (input) => (input as HTMLInputElement).value);
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await submit(page, 'main a[href="/console/make"]');
  expect(await textOf(page)).not.toMatch(/curl|player-10442|test_fail|Idempotency/);
  expect(await value("#name")).toBe("");
  const file = (await page.$("#file")) as ElementHandle<HTMLInputElement>;
  await file.uploadFile("test/photos/yoga.jpg");
  await page.waitForSelector(".make-photo");
  // The photo alone shows the card already, and says what it still needs.
  await page.waitForSelector("#preview img");
  expect(await textOf(page, "#preview-caption")).toBe("Still missing: name, shirt number, rating, position.");
  const width = await page.$eval("#preview img", async (img) => {
    await (img as HTMLImageElement).decode();
    return (img as HTMLImageElement).naturalWidth;
  });
  expect(width).toBe(400);
  // A form at rest asks for nothing: what a preview says beside the inputs does not ask for the next.
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(request.url()));
  await page.waitForNetworkIdle({ idleTime: 1_000 });
  expect(asked).toEqual([]);
  await page.type("#name", PLAYER.name);
  // What is wrong is seen, where it is folded away and where no input has a place for it.
  await page.$eval("#format", (select) => {
    (select as HTMLSelectElement).value = "webm";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.click("[name=back]");
  await page.waitForSelector("#preview-caption li");
  expect(await textOf(page, "#preview-caption")).toStartWith("Back ");
  await page.click("[name=back]");
  await page.waitForSelector("#preview-caption:not(:has(li))");
  await page.$eval("#size", (select) => {
    (select as HTMLSelectElement).value = "815x1110";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await page.waitForSelector("#format-problem:not(:empty)", { visible: true });
  // Foil is offered for what is printed alone.
  await page.waitForSelector("#foil", { hidden: true });
  await page.select("#format", "png");
  await page.waitForSelector("#foil", { visible: true });
  // Only the end is read out, not each step of the drawing.
  expect(await page.$("[aria-live] #preview")).toBeNull();
  expect(await page.$('#preview-caption[aria-live="polite"]')).not.toBeNull();
  await page.select("#size", "1024x1280");
  // Enter costs nothing by accident.
  await page.keyboard.press("Enter");
  await page.type("#number", "999");
  await page.waitForSelector("#number-problem:not(:empty)");
  for (let n = 0; n < 2; n++) await page.keyboard.press("Backspace");
  await page.type("#skill_level", PLAYER.skill_level);
  await page.select("#position", PLAYER.position);
  expect(await images()).toEqual([]);
  await submit(page, '.make-buttons button[value="test"]');
  expect(page.url()).toContain("/console/make/img_");
  await page.waitForSelector("#made a[download]");
  expect(await textOf(page)).toContain("grey stand-in");
  const [made] = await images();
  expect(made).toMatchObject({ environment: "test", externalId: PLAYER.name });
  await submit(page, '.made a[href*="?from="]');
  expect([await value("#name"), await value("#number"), await value("#external_id")]).toEqual([
    PLAYER.name,
    PLAYER.number,
    PLAYER.name,
  ]);
  expect(await page.$(".make-photo")).not.toBeNull();
  // The photo to click on stays with another template, and a photo taken anew has nobody's point.
  const canvasShown = () => page.waitForSelector(".focus-photo:not([hidden]) canvas");
  await canvasShown();
  await page.click(".more summary");
  await page.type("#focus", "0.5 0.2");
  await page.click('[name="preset"][value="action_card"]');
  await page.waitForSelector("#fields-club");
  await canvasShown();
  expect(await value("#focus")).toBe("0.5 0.2");
  const camera = (await page.$(".camera input")) as ElementHandle<HTMLInputElement>;
  await camera.uploadFile("test/photos/unsplash_man.jpg");
  await page.waitForFunction(
    () => (document.querySelector("#focus") as HTMLInputElement | null)?.value === "",
  );
  await canvasShown();
  await page.goto(`${server.baseUrl}/console/make?like=${made?.id}`);
  expect([await value("#name"), await value("#external_id")]).toEqual(["", ""]);
  expect(await page.$(".make-photo")).toBeNull();
  // A request that the next one replaces is no fault.
  expect(complaints.filter((one) => !/afterRequest|sendAbort/.test(one))).toEqual([]);
});

test("a card that is not complete says beside each field what is missing, and keeps the photo", async () => {
  const sent = { ...LOOK, ...PLAYER, number: "", environment: "live" };
  const before = (await images()).length;
  const refused = await ana.upload("/console/make", await photo(), sent);
  const page = await refused.text();
  expect(refused.status).toBe(400);
  expect(page).toContain("Still missing: shirt number.");
  expect(page).toMatch(/id="number-problem">Needed for the card\./);
  const address = /name="source_image_url" value="([^"]+\/v1\/photos\/pho_\w+)"/.exec(page)?.[1] ?? "";
  expect(page).toContain(`/console/make/photos/${address.split("/").pop()}/thumb`);
  const thumb = await ana.get(`/console/make/photos/${address.split("/").pop()}/thumb`);
  expect(thumb.headers.get("content-type")).toBe("image/webp");
  const broken = await ana.upload("/console/make/photo", new File(["no photo"], "a.jpg"), {
    source_image_url: address,
  });
  expect(await broken.text()).toMatch(/file-problem">[^<]*not a JPEG, PNG or WebP/);
  expect((await images()).length).toBe(before);

  const made = await ana.upload("/console/make", NO_FILE, {
    ...sent,
    number: "9",
    source_image_url: address,
  });
  expect([made.status, made.headers.get("location")]).toEqual([
    303,
    expect.stringContaining("/console/make/img_"),
  ]);
  const account = await findAccount(server.service.store.read, own.account.id);
  expect((account?.creditsPlan ?? 0) - (account?.creditsHeld ?? 0)).toBeLessThan(10);
});

test("a card is changed in the format and the motion that it has", async () => {
  const film = {
    ...LOOK,
    ...PLAYER,
    external_id: "film",
    size: "815x1110",
    format: "pdf",
    environment: "test",
  };
  const made = await ana.upload("/console/make", await photo(), film);
  const id = made.headers.get("location")?.split("/").pop() ?? "";
  const form = async () => (await ana.get(`/console/make?from=${id}`)).text();
  expect(await form()).toContain('<option value="pdf" selected');
  await server.service.store.write("film it", async ({ db, t }) => {
    const [image] = await db.select().from(t.images).where(eq(t.images.id, id));
    const { style, ...request } = (image?.request ?? {}) as CreateImageRequest;
    const moving = { ...request, style: { ...style, format: "webm", motion: "reveal" } };
    await db.update(t.images).set({ request: moving }).where(eq(t.images.id, id));
  });
  expect(await form()).toMatch(/<option value="webm" selected.*<option value="reveal" selected/s);
});

test("layers and foil are asked for where template, size and format have them, and given up again", async () => {
  const styleOf = async (path: string) => {
    const id = path.split("/").pop() ?? "";
    const { style } = storedRequest((await images()).find((image) => image.id === id)?.request);
    return [style.layers, style.foil, style.format];
  };
  const sent = {
    ...LOOK,
    ...PLAYER,
    external_id: "extras",
    environment: "test",
    foil: "true",
    layers: "true",
  };
  const refused = await ana.upload("/console/make", await photo(), sent);
  expect(await refused.text()).toMatch(/id="layers-problem">[^<]*only pictures of the format webp/);
  const made = async (change: object) => {
    const { headers } = await ana.upload("/console/make", await photo(), { ...sent, ...change });
    return headers.get("location") ?? "";
  };
  // What the size has no choice for is not sent, and neither is what the template has not.
  const layered = await made({ format: "webp" });
  expect(await styleOf(layered)).toEqual([true, undefined, "webp"]);
  const printed = await made({ size: "815x1110", layers: "" });
  expect(await styleOf(printed)).toEqual([undefined, true, "png"]);
  expect(await styleOf(await made({ preset: "action_card" }))).toEqual([undefined, undefined, "png"]);

  const id = printed.split("/").pop();
  const form = await (await ana.get(`/console/images/${id}/again`)).text();
  expect(form).toMatch(/<input[^>]*name="foil"[^>]*checked/);
  const play = await (await ana.get(`/console/playground?from=${id}`)).text();
  expect(play).toMatch(/<input[^>]*name="foil"[^>]*checked/);
  expect(await (await ana.get("/console/playground")).text()).not.toContain('name="foil"');
  const again = await ana.upload(`/console/images/${id}/again`, NO_FILE, { foil: "", name: "Zoë" });
  expect(await styleOf(again.headers.get("location") ?? "")).toEqual([undefined, false, "png"]);
});

test("a card is published when the clocks of a zone say so, which lists and the form show", async () => {
  for (const [publish_on, publish_zone, at] of [
    ["2026-07-01T18:00", "Europe/Madrid", "2026-07-01T16:00:00.000Z"],
    // The clocks went forward an hour and a half before.
    ["2026-03-29T03:30", "Europe/Madrid", "2026-03-29T01:30:00.000Z"],
    ["2026-12-06T18:00", "", "2026-12-06T18:00:00.000Z"],
    ["2026-12-06T18:00", "Nowhere/At all", "2026-12-06T18:00:00.000Z"],
    ["soon", "Europe/Madrid", "soon"],
  ] as const)
    expect(publicationAt({ publish_on, publish_zone })).toBe(at);

  const day = isoTime(Date.now() + 5 * DAY_MS).slice(0, 10);
  const when = { publish_on: `${day}T18:00`, publish_zone: "Asia/Kolkata" };
  const sent = { ...LOOK, ...PLAYER, external_id: "later", environment: "test", ...when };
  const idOf = (answer: Response) => /img_\w+/.exec(answer.headers.get("location") ?? "")?.[0] ?? "";
  const id = idOf(await ana.upload("/console/make", await photo(), sent));
  const match = { player: id, preset: "club_card", environment: "test", nonce: "later", ...when };
  const still = idOf(await ana.upload("/console/match", NO_FILE, match));
  const address = "https://cdn.example/p.jpg";
  const fields = { ...sent, source_image_url: address, width: "1024", height: "1280" };
  const played = idOf(await ana.upload("/console/playground/send", NO_FILE, fields));
  for (const made of [id, still, played])
    expect((await images()).find((image) => image.id === made)?.publishAt).toBe(
      Date.parse(`${day}T12:30:00Z`),
    );
  const list = await (await ana.get("/console/images?environment=test")).text();
  expect(list).toContain(`To be published on <time datetime="${day}T12:30:00.000Z"`);
  expect(await (await ana.get(`/console/make?from=${id}`)).text()).toContain(`value="${day}T12:30"`);
  const far = { ...sent, publish_on: "2999-01-01T00:00" };
  const refused = await ana.upload("/console/make", await photo(), far);
  expect(await refused.text()).toMatch(/id="publish_on-problem">[^<]*days ahead/);
});

test("a kit and a template fill in their look without losing what was written", async () => {
  const style = { name: "Home", preset: "club_card", composition: "photo", background_theme: "ice" };
  await ana.upload("/console/kits", NO_FILE, {
    ...style,
    primary_color: "#1b3fab",
    secondary_color: "#f2c14e",
  });
  const page = await (await ana.get("/console/make")).text();
  // The only kit there is needs no choosing.
  expect(page).toMatch(/<option value="kit_\w+" selected/);
  expect(page).toContain('value="#1B3FAB"');
  const other = {
    ...LOOK,
    ...PLAYER,
    preset: "action_card",
    kit: "",
    shown_kit: "",
    primary_color: "#112233",
  };
  const whole = await (await ana.upload("/console/make/look", NO_FILE, other)).text();
  expect(whole).toContain(`value="${PLAYER.name}"`);
  expect(whole).toContain('value="#112233"');
  expect(whole).toMatch(/name="fields\.club"[^>]*value="Rovers FC"/);
});

test("a preview of a template that was just chosen says nothing beside inputs that the form does not have yet", async () => {
  const sent = { ...LOOK, ...PLAYER, preset: "action_card" };
  const preview = async (shown_look: string) =>
    (await ana.post("/console/make/preview", { ...sent, shown_look })).text();
  expect(await preview("club_card")).not.toContain("-problem");
  const form = await (await ana.upload("/console/make/look", NO_FILE, sent)).text();
  const [, shown = ""] = /name="shown_look" value="([^"]+)"/.exec(form) ?? [];
  expect(await preview(shown)).toContain('id="fields-club-problem"');
});

test("a form that is sent twice makes one card; drawn anew or with something else in it, another", async () => {
  const count = async () => (await images()).length;
  const nonceOf = async (path: string) =>
    /name="nonce" value="(\w+)"/.exec(await (await ana.get(path)).text())?.[1] ?? "";
  const before = await count();
  const sent = { ...LOOK, ...PLAYER, environment: "live", nonce: await nonceOf("/console/make") };
  const file = await photo();
  // At once, as browsers without scripts do it.
  const twice = await Promise.all([1, 2].map(() => ana.upload("/console/make", file, sent)));
  const [first, second] = twice.map(({ headers }) => headers.get("location") ?? "");
  expect(first).toContain("/console/make/img_");
  expect(second).toBe(first as string);
  expect((await ana.upload("/console/make", file, sent)).headers.get("location")).toBe(first as string);
  expect(await count()).toBe(before + 1);
  for (const change of [{ number: "10" }, { nonce: await nonceOf("/console/make") }]) {
    const made = await ana.upload("/console/make", file, { ...sent, ...change });
    expect(made.headers.get("location")).toContain("/console/make/img_");
    expect(made.headers.get("location")).not.toBe(first as string);
  }

  const image = `/console/images/${first?.split("/").pop()}`;
  const again = { name: "Zoë O", nonce: await nonceOf(`${image}/again`) };
  const changed = await Promise.all([1, 2].map(() => ana.upload(`${image}/again`, file, again)));
  expect(new Set(changed.map(({ headers }) => headers.get("location"))).size).toBe(1);
  expect(await count()).toBe(before + 4);

  const nonce = await nonceOf("/console/playground");
  const fields = { ...sent, external_id: "p1", width: "1024", height: "1280", nonce };
  const played = await Promise.all([1, 2].map(() => ana.upload("/console/playground/send", file, fields)));
  expect(new Set(played.map(({ headers }) => headers.get("location"))).size).toBe(1);
  expect(await count()).toBe(before + 5);
});

test("the player of the match is chosen on a phone, and the card, its clip and its page follow in the last look", async () => {
  const squad = await testAccount(server.service, { name: "Athletic" });
  await testMember(server.service, squad.account.id, "kim@athletic.example");
  const style = { preset: "action_card" };
  const [maya, ines] = [
    { external_id: "maya", name: "Maya", number: 7 },
    { external_id: "ines", name: "Ines", number: 4 },
  ];
  const body = imageRequest({ player: maya, style });
  await post(server.baseUrl, squad.testKey, { ...body, fields: { nation: "Ghana" } });
  await post(server.baseUrl, squad.testKey, imageRequest({ player: ines, style }));
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "kim@athletic.example");
  await page.setViewport({ width: 390, height: 780, hasTouch: true, isMobile: true });
  await page.goto(`${server.baseUrl}/console/make`);
  await submit(page, `main a[href="/console/match"]`);
  expect(await page.$$eval(".tile-name", (names) => names.map((name) => name.textContent))).toEqual([
    "4 Ines",
    "7 Maya",
  ]);
  await submit(page, "li:nth-child(2) .tile");
  expect(await page.$eval("#fields-nation", (input) => (input as HTMLInputElement).value)).toBe("Ghana");
  await page.type("#fields-season", "2026/27");
  // Enter costs nothing by accident.
  await page.keyboard.press("Enter");
  await submit(page, 'button[value="test"]');
  expect(page.url()).toMatch(/\/console\/match\/img_\w+\?clip=img_\w+$/);
  await page.waitForFunction(() => document.querySelectorAll("#made a[download]").length === 2);
  expect(await page.$eval("#share-url", (input) => (input as HTMLInputElement).value)).toContain(
    "/share/img_",
  );
  const requests = (await images())
    .filter(({ accountId, id }) => accountId === squad.account.id && page.url().includes(id))
    .map(({ request }) => storedRequest(request));
  expect(requests.map((request) => request.style.format).sort()).toEqual(["png", "webm"]);
  for (const request of requests)
    expect(request).toMatchObject({
      player: { external_id: "maya", number: 7 },
      // Its first size is for print, which cannot move.
      style: { preset: "action_card", width: 1024, height: 1394 },
      fields: { nation: "Ghana", season: "2026/27" },
      metadata: { occasion: "player_of_the_match" },
    });
  await submit(page, '#made a[href="/console/match"]');
  await submit(page, "li:nth-child(1) .tile");
  // What is the match's and the team's stays, and what is the player's does not.
  for (const [id, value] of [
    ["season", "2026/27"],
    ["nation", ""],
  ])
    expect(await page.$eval(`#fields-${id}`, (input) => (input as HTMLInputElement).value)).toBe(value ?? "");
  expect(complaints).toEqual([]);
});

test("the same form of a player of the match makes one card and one clip, and neither without credits for both", async () => {
  const squad = await testAccount(server.service, { credits: 1 });
  const kim = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, squad.account.id, "lee@athletic.example"),
  );
  const accepted = await post(server.baseUrl, squad.testKey, imageRequest());
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  const sent = { player: data.image_id, nonce: "form_1", preset: "club_card", environment: "test" };
  const ownImages = async () =>
    (await images()).filter(({ accountId }) => accountId === squad.account.id).length;
  const first = await kim.upload("/console/match", NO_FILE, sent);
  const again = await kim.upload("/console/match", NO_FILE, sent);
  expect(again.headers.get("location")).toBe(first.headers.get("location") ?? "");
  expect(await ownImages()).toBe(3);
  const other = await kim.upload("/console/match", NO_FILE, { ...sent, nonce: "form_2" });
  expect(other.headers.get("location")).not.toBe(first.headers.get("location"));
  const live = await kim.upload("/console/match", NO_FILE, { ...sent, environment: "live" });
  expect([live.status, await live.text()]).toEqual([
    402,
    expect.stringContaining("need 2 credits and the account has 1"),
  ]);
  const faulty = await kim.upload("/console/match", new File(["no photo"], "a.jpg"), sent);
  expect(await faulty.text()).toMatch(/file-problem">[^<]*not a JPEG, PNG or WebP/);
  expect(await ownImages()).toBe(5);
});
