import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { DEFAULT_TEMPLATE } from "../../../src/templates/built-in.ts";
import { backOf, loadTemplate } from "../../../src/templates/load.ts";
import { cardInput, closePages, openBrowser } from "./cards.ts";

// The back of the included card, from the finished picture and the page that it was taken of.

let browser: Browser;
let page: CardPage;
beforeAll(async () => {
  browser = await openBrowser();
  page = await openCardPage(browser, backOf(await loadTemplate(DEFAULT_TEMPLATE)));
});
afterAll(closePages);

/** As wide as 300 letters of a text get. */
const BIOGRAPHY = "Wolverhampton Wanderers und Mommsen aus Åsgårdstrand ".repeat(6).slice(0, 299).concat("M");
const SEASONS = ["2025/26", "2024/25", "2023/24", "2022/23", "2021/22"].map((season) => ({
  season,
  club: "Wolverhampton Wanderers Mommse",
  matches: 99,
  goals: 99,
}));
const LINK = "https://example.org/players/10442?from=card";
const EVERYTHING = { biography: BIOGRAPHY, seasons: SEASONS, qr: LINK };

async function draw(size: { width: number; height: number }, fields?: Record<string, unknown>) {
  const card = { ...cardInput(size), ...(fields && { fields }) };
  const { bytes } = await page.render({ card, cutout: null, badge: null });
  const { data, width, height } = PNG.sync.read(Buffer.from(bytes));
  return jsqr(new Uint8ClampedArray(data), width, height)?.data;
}

/** What of these is on the card, and the whole text of each. */
const shown = (selectors: string[]) =>
  page.page.evaluate(
    (all) =>
      all.flatMap((selector) => {
        const found = [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
        return found.map((one) => (one.textContent ?? "").trim());
      }),
    selectors,
  );

test.each([
  [815, 1110],
  [650, 839],
  [1024, 1280],
  [1080, 1080],
  [1600, 900],
])(
  "on %dx%d the longest life and clubs are shown whole, and a phone reads the code",
  async (width, height) => {
    expect(await draw({ width, height }, EVERYTHING)).toBe(LINK);
    expect(await shown([".bio"])).toEqual([BIOGRAPHY]);
    expect(await shown([".rows .club"])).toEqual(SEASONS.map(({ club }) => club));
  },
);

const LIVES = Object.entries({
  Latin: BIOGRAPHY,
  Chinese: "她出身于俱乐部青训营，十七岁首次亮相，此后从未缺席任何一场德比。",
  Japanese: "アカデミー出身の彼女は十七歳でデビューし、それ以来ダービーを一度も欠場していない。",
  Korean: "아카데미 출신으로 열일곱 살에 데뷔했고 그 뒤로 더비를 한 번도 놓친 적이 없다. ",
  Thai: "เธอเติบโตจากสถาบันฝึกสอนของสโมสรและลงสนามครั้งแรกเมื่ออายุสิบเจ็ดปี ไม่เคยพลาดเกมดาร์บี้เลย ",
  Arabic: "نشأت في أكاديمية النادي وخاضت أول مباراة لها في السابعة عشرة من عمرها ولم تغب عن أي ديربي. ",
  Hindi: "वह क्लब की अकादमी से आई और सत्रह साल की उम्र में पहली बार खेली, तब से उसने कोई डर्बी नहीं छोड़ा। ",
  Burmese: "သူမသည် ကလပ်၏ အကယ်ဒမီမှ တက်လာပြီး အသက် ဆယ့်ခုနစ်နှစ်တွင် ပထမဆုံး ကစားခဲ့သည်။ ",
}).map(([script, text]) => [script, [...text.repeat(8)].slice(0, 300).join("").trim()] as const);

/** Of 300 letters of a script without spaces, on a card of 63 x 88 mm, in points. */
const READABLE_PT = 4.4;

test("a life of 300 letters is shown whole and readably on every back that has one, in any script", async () => {
  const others = await loadTemplate(join(DEFAULT_TEMPLATE, "../full_bleed"));
  const other = await openCardPage(browser, backOf(others));
  for (const { page: tab, render } of [page, other])
    for (const [script, biography] of LIVES) {
      const card = cardInput({ width: 815, height: 1110 });
      await render({ card: { ...card, fields: { ...EVERYTHING, biography } }, cutout: null, badge: null });
      const [text, px] = await tab.$eval(":is(.bio, .biography) > span", (one) => [
        one.textContent?.trim(),
        Number.parseFloat(getComputedStyle(one).fontSize),
      ]);
      expect({ script, text }).toEqual({ script, text: biography });
      expect((Number(px) / 300) * 72).toBeGreaterThan(READABLE_PT);
    }
  await other.close();
});

test("what there is nothing of leaves no trace, and the number takes its place", async () => {
  const blocks = [".bio", ".seasons", ".marks", ".set", ".hero b"];
  await draw({ width: 815, height: 1110 }, EVERYTHING);
  expect(await shown(blocks.slice(0, 4))).toHaveLength(3);
  await draw({ width: 815, height: 1110 });
  expect(await shown(blocks)).toEqual([String(cardInput().player.number)]);
});
