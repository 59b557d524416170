import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makeSet } from "../../../src/app/sets/manage-sets.ts";
import { albumPages, checklistPages, type SetPagesDeps } from "../../../src/app/sets/set-pages.ts";
import { createRenderPool } from "../../../src/render/pool.ts";
import { rendererOptions } from "../../../src/service/renderer-options.ts";
import { workerCommand } from "../../../src/service/system.ts";
import type { CardSet } from "../../../src/store/sets/card-sets.ts";
import { openDataFolder } from "../../../src/system/data-folder.ts";
import {
  seededRandom,
  silentLog,
  type TestFolder,
  testAccount,
  testConfig,
  testFolder,
} from "../../harness.ts";
import { type TestApi, testApi } from "../../http/api.ts";

let folder: TestFolder;
let api: TestApi;
let deps: SetPagesDeps;
let set: CardSet;
const NAMES = [
  "Eileen Collins",
  "محمد صلاح",
  "손흥민",
  "三笘 薫",
  "<b>Robert</b> & Söhne",
  "ชนาธิป",
  "Wolfeschlegelsteinhausenbergerdorff von und zu Hohenlohe-Langenburg",
];

beforeAll(async () => {
  folder = testFolder();
  const dataFolder = openDataFolder(folder.dir);
  const random = seededRandom();
  const renderer = await rendererOptions(testConfig(folder.dir), dataFolder);
  const pool = createRenderPool({ workers: 1, command: workerCommand(), renderer, random, log: silentLog });
  api = await testApi();
  const { account } = await testAccount(api, {});
  const players = Array.from({ length: 40 }, (_, at) => ({
    externalId: `player-${at}`,
    name: NAMES[at % NAMES.length] ?? "",
    number: at + 1,
  }));
  const parallels = [
    { name: "base", size: null },
    { name: "gold", size: 50 },
  ];
  const wish = { name: "Rovers & Friends", season: "2026/27", parallels, players };
  const scope = { accountId: account.id, environment: "live" } as const;
  ({ set } = await makeSet(api, scope, wish, { idempotencyKey: null }));
  deps = { store: api.store, random, pool, folder: dataFolder };
  // What is free of charge waits half a minute for a worker, which a busy machine may need to start the
  // first.
  (await pool.acquire()).release();
});
afterAll(async () => {
  await deps?.pool.close();
  await api?.close();
  await folder?.remove();
});

/** How many pages a PDF has, and their sizes in points. */
function pagesOf(pdf: Uint8Array): { pages: number; sizes: string[] } {
  const text = Buffer.from(pdf).toString("latin1");
  const boxes = [...text.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)];
  return {
    pages: [...text.matchAll(/\/Type \/Page\b/g)].length,
    sizes: [
      ...new Set(
        boxes.map(([, width, height]) => `${Math.round(Number(width))}x${Math.round(Number(height))}`),
      ),
    ],
  };
}

test("a checklist has all players on as many pages as they need", async () => {
  expect(pagesOf(await checklistPages(deps, set, { sheet: "a4" }))).toEqual({ pages: 2, sizes: ["595x842"] });
});

test("an album has as many places of the cards' size on a page as fit", async () => {
  const album = async (...[sheet, size]: [sheet: "a4" | "letter", size: "63x88" | "49x65"]) =>
    pagesOf(await albumPages(deps, set, { sheet, size }));
  expect(await album("a4", "63x88")).toEqual({ pages: 7, sizes: ["595x842"] });
  expect(await album("letter", "49x65")).toEqual({ pages: 5, sizes: ["612x792"] });
});

test("an account waits for no more files than it may have written at a time, and gets its places back", async () => {
  const asked = Array.from({ length: 4 }, () => checklistPages(deps, set, { sheet: "a4" }));
  const answers = await Promise.allSettled(asked);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  const refused = answers.find((answer) => answer.status === "rejected");
  expect(refused?.reason).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  expect(pagesOf(await checklistPages(deps, set, { sheet: "a4" })).pages).toBe(2);
});

describe.skipIf(!Bun.which("pdftotext") || !Bun.which("pdffonts"))("read by another program", () => {
  const run = (...command: string[]) => Bun.spawnSync(command).stdout.toString();

  test("names are as they were sent, with numbers and fonts embedded", async () => {
    const path = join(folder.dir, "album.pdf");
    await Bun.write(path, await albumPages(deps, set, { sheet: "a4", size: "63x88" }));
    const text = run("pdftotext", "-f", "1", "-l", "1", path, "-").normalize("NFKC").replaceAll(" ", "");
    for (const name of [...NAMES.slice(2, 6), "Rovers & Friends", "2026/27", "1 / 7"])
      expect(text).toContain(name.replaceAll(" ", ""));
    const fonts = run("pdffonts", path).trimEnd().split("\n").slice(2);
    expect(fonts.length).toBeGreaterThan(0);
    for (const font of fonts) expect(font.trimEnd().split(/\s+/).at(-5)).toBe("yes");
  });
});
