import { afterAll, beforeAll, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { pictureName } from "../../src/app/batches/batch-zip.ts";
import { consoleAnswer } from "../../src/console/answer.ts";
import { timeLeft } from "../../src/console/batches/batch.tsx";
import { foldedName } from "../../src/core/name.ts";
import { MINUTE_MS } from "../../src/core/time.ts";
import { listen } from "../../src/http/server.ts";
import type { Image } from "../../src/store/images/images.ts";
import { Breakable, counted } from "../../src/web/elements.tsx";
import { imageRequest, post, testAccount } from "../harness.ts";
import { type TestApi, testApi } from "../http/api.ts";
import { type Client, client, testMember } from "./sessions.ts";

// Pages that need no renderer: what is written on them, and what may be written into their forms.

let api: TestApi;
let own: Awaited<ReturnType<typeof testAccount>>;
let ana: Client;
let pages: ReturnType<typeof listen>;
beforeAll(async () => {
  api = await testApi({ env: { CARDPRESS_BASE_URL: "http://localhost" } });
  own = await testAccount(api, { credits: 10 });
  pages = listen(
    { ...api, pages: consoleAnswer(api), isDraining: () => false },
    { host: "127.0.0.1", port: 0 },
  );
  ana = await client(
    api,
    `http://127.0.0.1:${pages.port}`,
    await testMember(api, own.account.id, "ana@rovers.example"),
  );
});
afterAll(async () => {
  await pages?.stop();
  await api?.close();
});

const next = (answer: Response) => answer.headers.get("location") ?? "";
const text = async (path: string) => (await ana.get(path)).text();

test("names of fields and addresses break at their own marks, and words nowhere", () => {
  const shown = (words: string) => renderToString(Breakable({ text: words }));
  expect(shown("player.source_image_url")).toBe("player.<wbr/>source_<wbr/>image_<wbr/>url");
  expect(shown("see https://example.com/a.png.")).toBe(
    "see https:<wbr/>/<wbr/>/<wbr/>example.<wbr/>com/<wbr/>a.<wbr/>png.",
  );
  expect(shown("must be text; got 100.")).toBe("must be text; got 100.");
  expect(shown(`id ${"x".repeat(60)} here`)).toBe(`id <span class="anywhere">${"x".repeat(60)}</span> here`);
});

test("a refused request has the colour of a warning, not that of a queued card, and its fields break at their marks", async () => {
  const player = { external_id: "wrong", source_image_url: "nonsense" };
  expect((await post(api.baseUrl, own.testKey, imageRequest({ player }))).status).toBe(400);
  await api.requests.flush();
  const page = await text("/console/requests?search=wrong");
  expect(page).toContain('<span class="badge badge-warn">400</span>');
  const [, one = ""] = /href="(\/console\/requests\/req_\w+)"/.exec(page) ?? [];
  expect(await text(one)).toContain("<code>player.<wbr/>source_<wbr/>image_<wbr/>url</code>");
});

test("one of a kind is counted in the singular", async () => {
  expect([counted(1, "image"), counted(1204, "image"), counted(0, "day")]).toEqual([
    "1 image",
    "1,204 images",
    "0 days",
  ]);
  const player = { external_id: "gone-1", source_image_url: api.photo };
  expect((await post(api.baseUrl, own.testKey, imageRequest({ player }))).status).toBe(202);
  const deleted = await ana.post("/console/data/player", { external_id: "gone-1", sure: "yes" });
  expect(await text(next(deleted))).toContain("Deleted: 1 image of one player.");
});

test("players are found without their accents and apostrophes, and nobody by a sign alone", async () => {
  const players = ["Müller", "Conor O'Brien", "Ørjan Nyland", "Łukasz Fabiański", "Jean-Luc Ébouée"];
  for (const [at, name] of players.entries()) {
    const player = { external_id: `s-${at}`, name, source_image_url: api.photo };
    expect((await post(api.baseUrl, own.testKey, imageRequest({ player }))).status).toBe(202);
  }
  const found = async (search: string) => {
    const page = await text(`/console/images?${new URLSearchParams({ environment: "test", search })}`);
    return players.filter(
      (_, at) =>
        page.includes(`>${players[at]?.replace("'", "&#39;")}<`) || page.includes(`>${players[at]}<`),
    );
  };
  expect(await found("muller")).toEqual(["Müller"]);
  expect(await found("MÜLLER")).toEqual(["Müller"]);
  expect(await found("mueller")).toEqual(["Müller"]);
  expect(await found("oerjan")).toEqual(["Ørjan Nyland"]);
  expect(await found("obrien")).toEqual(["Conor O'Brien"]);
  expect(await found("o’brien")).toEqual(["Conor O'Brien"]);
  expect(await found("orjan")).toEqual(["Ørjan Nyland"]);
  expect(await found("lukasz fabianski")).toEqual(["Łukasz Fabiański"]);
  expect(await found("jean luc eb")).toEqual(["Jean-Luc Ébouée"]);
  expect(await found("'")).toEqual([]);
  expect(foldedName("Weiß ÆSIR İlkay")).toBe("weiss aesir ilkay");
});

test("an account's pictures cannot be promised for longer than everything personal is kept", async () => {
  const save = (retention_days: string, forget_after_days: string) =>
    ana.post("/console/data/retention", { retention_days, forget_after_days });
  const refused = await save("14", "7");
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining("Serve pictures for 7 at most, or delete after 14 at the earliest."),
  ]);
  // Without days of its own the account has the service's, which are 30.
  expect(await (await save("", "7")).text()).toContain("30 days, as the service is set,");
  expect((await save("7", "7")).status).toBe(303);
  expect((await save("", "30")).status).toBe(303);
  expect((await save("14", "")).status).toBe(303);
});

test("rows that share an id are listed beside their other faults, and colours may be named", async () => {
  const rows = ["id,name,position,number,rating,photo,colour"];
  for (const [id, number, colour] of [
    ["p1", 9, "red"],
    ["p2", 200, "#0B3D91"],
    ["p2", 201, "rebeccapurple"],
    ["p3", 9, "reddish"],
  ])
    rows.push(`${id},Ana,ST,${number},80,${api.photo},${colour}`);
  const list = next(await ana.upload("/console/lists", new File([rows.join("\n")], "squad.csv")));
  const form = Object.fromEntries(
    [...(await text(list)).matchAll(/<select[^>]*name="(col_\w+)"(.*?)<\/select>/gs)].map(
      ([, name, rest]) => [
        name,
        /value="(\d+)" selected/.exec(rest ?? "")?.[1] ??
          /selected value="(\d+)"/.exec(rest ?? "")?.[1] ??
          "",
      ],
    ),
  );
  expect(await text(list)).toContain('data-writes="all_primary_color"');
  const check = next(
    await ana.post(list, { ...form, preset: "club_card", size: "1024x1280", format: "png" }),
  );
  const page = (await text(check)).replaceAll("<wbr/>", "");
  expect(page).toContain("is the same as that of row 3.");
  expect(page).toContain("must be a whole number from 1 to 99; got 200.");
  expect(page).toContain("got &quot;reddish&quot;");
  expect(page).not.toContain("rebeccapurple");
  expect(page).toContain("1 player is complete, 3 have a fault.");
});

test("the playground has a picker for colours, and takes their names", async () => {
  expect(await text("/console/playground")).toContain('data-writes="primary_color"');
  const preview = await ana.post("/console/playground/preview", {
    ...{ name: "Ana", position: "ST", number: "9", skill_level: "87", external_id: "p-1" },
    ...{ source_image_url: api.photo, preset: "club_card", primary_color: "red", secondary_color: "" },
  });
  expect(await preview.text()).toContain("#FF0000");
});

test("a batch says how long the rest will take at its pace so far", () => {
  const left = (completed: number, minutes: number, total = 100) =>
    timeLeft({ total, completed, failed: 0, createdAt: 0 }, minutes * MINUTE_MS);
  expect(left(0, 5)).toBeNull();
  expect(left(50, 1)).toBe("about 1 minute left");
  expect(left(99, 5)).toBe("less than a minute left");
  expect(left(10, 2)).toBe("about 18 minutes left");
  expect(left(10, 60)).toBe("about 9 hours left");
});

test("a picture's file is named by number and player, composed and without marks of the writing direction", () => {
  const named = (name: string) => {
    const image = { id: "img_1", externalId: "p-7", outputName: "img_1.png", setPlace: null };
    return pictureName({ ...image, request: { player: { name, number: 7 } } } as unknown as Image);
  };
  expect(named("Zoe\u0308 O/Brien")).toBe("07 Zo\u00eb O_Brien.png");
  expect(named("\u202egnp.\u2067Bo\u2069\u200f")).toBe("07 gnp.Bo.png");
});
