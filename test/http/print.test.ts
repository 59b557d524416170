import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { printedBatch, printFile } from "../../src/app/print/print-file.ts";
import { readPrintProfile } from "../../src/app/print/print-profile.ts";
import { consoleAnswer } from "../../src/console/answer.ts";
import { listen } from "../../src/http/server.ts";
import { encodePng } from "../../src/render/card/formats/encode.ts";
import { packedPlate, withFoilPlate } from "../../src/render/card/formats/foil-plate.ts";
import { findBatch } from "../../src/store/images/batches.ts";
import { pressProfile } from "../app/print/press-profile.ts";
import { runCommandWith } from "../cli/run.ts";
import { client, testMember } from "../console/sessions.ts";
import { get, imageRequest, type TestAccount, testAccount, testFolder } from "../harness.ts";
import { expectError, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

/** A press that prints every colour in black alone: the darker, the more. */
const PROFILE = pressProfile(([l]) => [0, 0, 0, 1 - l / 100], { name: "Black & alone" });

let api: TestApi;
let pages: ReturnType<typeof listen>;
const folder = testFolder();
beforeAll(async () => {
  const profile = join(folder.dir, "press.icc");
  await Bun.write(profile, PROFILE);
  api = await testApi({ env: { CARDPRESS_PRINT_PROFILE: profile } });
  // Its cookies come over plain HTTP.
  const deps = { ...api, config: { ...api.config, baseUrl: "http://localhost" } };
  const own = { ...deps, pages: consoleAnswer(deps), isDraining: () => false };
  pages = listen(own, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await pages.stop();
  await api.close();
  await folder.remove();
});

const sent = (key: string, path: string, body: unknown) =>
  send(api, path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify(body),
  });
const print = (own: TestAccount, batch: string, body: unknown) =>
  sent(own.liveKey, `/v1/batches/${batch}/print`, body);

const COLOURS = [
  [200, 30, 30],
  [30, 160, 60],
  [30, 60, 200],
] as const;
const [CARD_PX, BACK] = [{ width: 815, height: 1110 }, [240, 220, 20]] as const;

/** A picture of one colour. */
function plain({ width, height }: { width: number; height: number }, colour: readonly number[]): Uint8Array {
  const rgba = new Uint8Array(width * height * 4);
  for (let k = 0; k < rgba.length; k += 4) rgba.set([...colour, 255], k);
  return encodePng({ rgba, width, height });
}

let batches = 0;

/** A batch of cards that are being made, of players of its own. */
async function batchOf(own: TestAccount, count: number): Promise<string> {
  const batch = ++batches;
  const cards = Array.from({ length: count }, (_, n) =>
    imageRequest({
      player: { external_id: `p${batch}.${n}`, source_image_url: api.photos.url("yoga.jpg") },
    }),
  );
  const answer = await sent(own.liveKey, "/v1/batches", { name: "Łódź (A)", cards });
  const { data } = (await answer.json()) as Json;
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (let more = true; more; ) {
    more = false;
    await fetcher.fetchNext(new AbortController().signal, () => {
      more = true;
    });
  }
  return data.batch_id;
}

/** Finishes the next card with a picture of this colour and size. */
async function finish(colour: readonly number[], px: { width: number; height: number } = CARD_PX) {
  const image = await claimImage(api, "live");
  if (!image) throw new Error("nothing waits");
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  const [name, bytes] = [`${image.id}-0secret.png`, plain(px, colour)];
  await api.blobs.put("picture", name, bytes);
  const output = { ...px, name, contentType: "image/png", bytes: bytes.length, composition: "cutout" };
  await finishImage(api, lease, { kind: "completed", output: { ...output, composition: "cutout" } });
  return image.id;
}

async function giveBack(imageId: string): Promise<void> {
  const name = `${imageId}-0back.png`;
  await api.blobs.put("picture", name, plain(CARD_PX, BACK));
  await api.store.write("give a back", ({ db, t }) =>
    db.update(t.images).set({ backOutputName: name, backOutputBytes: 1 }).where(eq(t.images.id, imageId)),
  );
}

test("a video is refused before the file begins, which would break off", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 1);
  const image = await finish(COLOURS[0]);
  await api.store.write("film it", ({ db, t }) =>
    db.update(t.images).set({ outputContentType: "video/webm" }).where(eq(t.images.id, image)),
  );
  const { details } = await expectError(await print(own, id, {}), "INVALID_REQUEST");
  expect(details).toEqual([{ field: "batch_id", message: expect.stringContaining(image) }]);
});

test("a batch comes as one PDF, the same bytes each time, at no cost", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 3);
  for (const colour of COLOURS) await finish(colour);
  const answer = await print(own, id, {});
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${id}.pdf"`);
  const bytes = await answer.bytes();
  expect(new TextDecoder("latin1").decode(bytes.subarray(0, 8))).toBe("%PDF-1.6");
  expect(await (await print(own, id, undefined)).bytes()).toEqual(bytes);
  const usage = (await (
    await get(api.baseUrl, own.liveKey, "/v1/usage?period=current_month")
  ).json()) as Json;
  expect(usage.data.credits_remaining).toBe(2);
});

test("what cannot be printed is refused with what to do", async () => {
  const own = await testAccount(api, { credits: 9 });
  const id = await batchOf(own, 2);
  await finish(COLOURS[0]);
  await finishNext(api, "refused");
  const missing = await expectError(await print(own, id, {}), "INVALID_REQUEST");
  expect(missing.details).toEqual([
    {
      field: "incomplete",
      // By an id that is nobody's: refusals are logged, and a deleted player's must not stay there.
      message: expect.stringMatching(
        /^must be true to print without 1 of 2 cards, which have no picture: img_\w+ \(failed\)\.$/,
      ),
    },
  ]);
  expect((await print(own, id, { incomplete: true })).status).toBe(200);
  for (const body of [{ sheet: "a5" }, { marks: 1 }, { order: "back" }, { size: "63x88" }])
    await expectError(await print(own, id, body), "INVALID_REQUEST");

  const mixed = await batchOf(own, 2);
  await finish(COLOURS[0]);
  await finish(COLOURS[0], { width: 650, height: 839 });
  const sizes = await expectError(await print(own, mixed, {}), "INVALID_REQUEST");
  expect(sizes.details[0].message).toContain("815x1110, 650x839 pixels");
  const screen = await batchOf(own, 1);
  await finish(COLOURS[0], { width: 1024, height: 1280 });
  const large = await expectError(await print(own, screen, {}), "INVALID_REQUEST");
  expect(large.details[0].message).toContain("of 815x1110 (63 x 88 mm)");

  const stranger = await testAccount(api);
  await expectError(await print(stranger, id, {}), "NOT_FOUND");
});

test("one card is printed as a batch is, by its own account and once it has a picture with bleed", async () => {
  const own = await testAccount(api, { credits: 5 });
  const batch = await batchOf(own, 3);
  const printCard = (image: string, body: unknown, key = own.liveKey) =>
    sent(key, `/v1/images/${image}/print`, body);
  const image = await finish(COLOURS[0]);
  const screen = await finish(COLOURS[1], { width: 1024, height: 1280 });
  await giveBack(image);
  const answer = await printCard(image, { marks: true });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${image}.pdf"`);
  const file = await answer.text();
  expect(file.match(/\/Type \/Page /g)).toHaveLength(2);
  expect(await (await printCard(image, { marks: true })).text()).toBe(file);
  expect(await (await printCard(image, { colour: "cmyk" })).text()).toContain("PDF/X-4");

  const { data } = (await (await get(api.baseUrl, own.liveKey, `/v1/batches/${batch}`)).json()) as Json;
  const waiting = data.images.find((one: Json) => one.status === "processing").image_id;
  for (const [id, message] of [
    [screen, "is of an image whose picture has 1024x1280 pixels. A print file needs a size with bleed"],
    [waiting, "is of an image without a picture: it is processing."],
  ])
    for (const body of [{}, { incomplete: true }])
      expect((await expectError(await printCard(id, body), "INVALID_REQUEST")).details).toEqual([
        { field: "image_id", message: expect.stringContaining(message) },
      ]);
  await expectError(await printCard(image, { sheet: "a5" }), "INVALID_REQUEST");
  const stranger = await testAccount(api);
  await expectError(await printCard(image, {}, stranger.liveKey), "IMAGE_NOT_FOUND");
  await finishNext(api, "refused");
});

test("in CMYK it is a PDF/X-4 file in the inks of the press, the same bytes each time", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 1);
  await finish(COLOURS[1]);
  const bytes = await (await print(own, id, { colour: "cmyk" })).bytes();
  expect(await (await print(own, id, { colour: "cmyk" })).bytes()).toEqual(bytes);
  const file = Buffer.from(bytes).toString("latin1");
  expect(Buffer.from(bytes).indexOf(PROFILE)).toBeGreaterThan(0);
  const named = `<feff${Buffer.from("Black & alone", "utf16le").swap16().toString("hex")}>`;
  expect(file).toContain(`/S /GTS_PDFX /OutputConditionIdentifier ${named}`);
  expect(file).toContain("<pdfxid:GTS_PDFXVersion>PDF/X-4</pdfxid:GTS_PDFXVersion>");
  // What the metadata says, Info says too.
  const [, created = ""] = /<xmp:CreateDate>([^<]+)</.exec(file) ?? [];
  expect(file).toContain(`/CreationDate (D:${created.replace(/[-:T]/g, "")})`);
  expect(file).toContain("/Trapped /False");
  expect(file).not.toContain("/ICCBased");
  expect(file).toContain("/ColorSpace /DeviceCMYK");

  const rgb = await (await print(own, id, { colour: "rgb" })).text();
  expect(rgb).not.toContain("GTS_PDFX");
  expect(rgb).toContain("/ICCBased");
  const older = await (await print(own, id, { colour: "cmyk", standard: "pdfx_1a" })).text();
  expect(older).toStartWith("%PDF-1.3");
  expect(older).toContain("/GTS_PDFXVersion (PDF/X-1a:2003)");
  expect(older).not.toContain("PDF/X-4");
  const plain = await expectError(await print(own, id, { standard: "pdfx_4" }), "INVALID_REQUEST");
  expect(plain.details).toEqual([
    { field: "standard", message: expect.stringContaining("together with `colour` `cmyk`") },
  ]);
  for (const body of [
    { colour: "spot" },
    { standard: "pdfx_3" },
    { ink_limit: 100 },
    { ink_limit: 401 },
    { ink_limit: 240.5 },
  ])
    await expectError(await print(own, id, { colour: "cmyk", ...body }), "INVALID_REQUEST");
});

test("without a press CMYK is refused, and a profile that is none is named when the service starts", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 1);
  await finish(COLOURS[1]);
  const batch = await findBatch(api.store.read, { accountId: own.account.id, environment: "live", id });
  if (!batch) throw new Error("no batch");
  const refused = printFile({ ...api, press: undefined }, await printedBatch(api, batch), { colour: "cmyk" });
  await expect(refused).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    details: [{ field: "colour", message: expect.stringContaining("CARDPRESS_PRINT_PROFILE") }],
  });
  // PDF/X-1a is older than version 4 of profiles.
  const newer = PROFILE.slice();
  newer[8] = 4;
  const press = { profile: newer, use: () => Promise.reject(new Error("not needed")) };
  const asked = { colour: "cmyk", standard: "pdfx_1a" } as const;
  await expect(printFile({ ...api, press }, await printedBatch(api, batch), asked)).rejects.toMatchObject({
    details: [{ field: "standard", message: expect.stringContaining("ICC version 4") }],
  });
  const noProfile = join(folder.dir, "text.icc");
  await Bun.write(noProfile, "not a profile");
  for (const [path, fault] of [
    [noProfile, "is not an ICC profile"],
    [join(folder.dir, "nowhere.icc"), "cannot be read"],
  ] as const)
    expect(() => readPrintProfile(path)).toThrow(`CARDPRESS_PRINT_PROFILE: ${path} ${fault}`);
});

test("the console's address of a print file obeys each choice in it, or refuses it", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 1);
  const image = await finish(COLOURS[1]);
  const ana = await client(
    api,
    `http://127.0.0.1:${pages.port}`,
    await testMember(api, own.account.id, "ana@rovers.example"),
  );
  const page = `/console/batches/${id}/print`;
  const fileOf = async (choices: string) => (await ana.get(`${page}.pdf?${choices}`)).text();
  expect(await fileOf("colour=cmyk")).toContain("PDF/X-4");
  expect(await fileOf("sheet=&marks=&order=front_first&colour=pdfx_1a&foil=")).toContain("PDF/X-1a:2003");
  expect(await fileOf("colour=rgb")).not.toContain("GTS_PDFX");
  expect(await fileOf("printer=home&colour=cmyk")).toContain("/MediaBox [0 0 595.276 841.89]");
  for (const [choices, field] of [
    ["colour=spot", "colour must be"],
    ["sheet=a5", "sheet must be"],
    ["marks=maybe", "marks must be"],
    ["printer=nobody", "printer must be"],
    ["printer=home&foil=a/b", "foil must"],
  ] as const) {
    const refused = await ana.get(`${page}.pdf?${choices}`);
    expect([choices, refused.status]).toEqual([choices, 400]);
    expect(await refused.text()).toContain(field);
  }

  // A request for the head alone takes no place among the files that are written.
  for (let n = 0; n < 4; n++) {
    const head = await fetch(`http://127.0.0.1:${pages.port}${page}.pdf?colour=cmyk`, {
      method: "HEAD",
      headers: { cookie: ana.cookie },
    });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  }
  expect(await fileOf("colour=rgb")).toStartWith("%PDF");

  // The same of one card, to which its page leads.
  const card = `/console/images/${image}`;
  expect(await (await ana.get(card)).text()).toContain(`href="${card}/print"`);
  expect(await (await ana.get(`${card}/print`)).text()).toContain(`action="${card}/print.pdf"`);
  const one = await ana.get(`${card}/print.pdf?sheet=&marks=yes&colour=pdfx_4`);
  expect([one.status, one.headers.get("content-type")]).toEqual([200, "application/pdf"]);

  // Foil can be chosen where there is some.
  expect(await (await ana.get(page)).text()).not.toContain('name="foil"');
  const plate = packedPlate(new Uint8Array(CARD_PX.width * CARD_PX.height).fill(255), 815, 1110);
  if (!plate) throw new Error("no plate");
  await api.blobs.put("picture", `${image}-0secret.png`, withFoilPlate(plain(CARD_PX, COLOURS[1]), plate));
  expect(await (await ana.get(page)).text()).toContain('name="foil"');
  expect(await fileOf("printer=home&foil=Gold")).toContain("/Separation /Gold");
});

test("files are written at a time only so many, and a reader who goes gives back all that was taken", async () => {
  const [own, other, third] = await Promise.all([1, 2, 3].map(() => testAccount(api, { credits: 5 })));
  if (!own || !other || !third) throw new Error("no accounts");
  const decks = new Map<TestAccount, string>();
  for (const one of [own, other, third]) {
    decks.set(one, await batchOf(one, 2));
    for (const colour of COLOURS.slice(1)) await finish(colour);
  }
  let inUse = 0;
  const face = { width: CARD_PX.width, height: CARD_PX.height, jpeg: new Uint8Array(9) };
  const use = async () => {
    inUse += 1;
    const close = () => {
      inUse -= 1;
    };
    return { name: "counted", convert: async () => face, close };
  };
  const opened = async (one: TestAccount) => {
    const scope = { accountId: one.account.id, environment: "live" as const, id: decks.get(one) ?? "" };
    const batch = await findBatch(api.store.read, scope);
    if (!batch) throw new Error("no batch");
    const press = { profile: PROFILE, use };
    return printFile({ ...api, press }, await printedBatch(api, batch), { colour: "cmyk" });
  };
  const printed = (one: TestAccount) => print(one, decks.get(one) ?? "", {});

  const files = [await opened(own), await opened(own), await opened(own)];
  // Nothing is taken before somebody reads.
  expect(inUse).toBe(0);
  const [first, second, last] = files.map((file) => file.getReader());
  expect((await first?.read())?.done).toBe(false);
  await second?.read();
  expect(inUse).toBe(2);
  const refused = await printed(own);
  expect(refused.headers.get("retry-after")).toBe("15");
  expect((await expectError(refused, "RATE_LIMIT_EXCEEDED")).message).toContain("3 at a time");
  // Others are not held up, until there are eight.
  const others = [await opened(other), await opened(other), await opened(other)];
  expect((await (await printed(third)).bytes()).length).toBeGreaterThan(1000);
  // The place of a file that was read to its end is given back a moment after its reader has it.
  for (let more = 0; more < 2; ) {
    const file = await opened(third).catch((error) => {
      if (error.code !== "SERVICE_OVERLOADED") throw error;
    });
    if (file) more = others.push(file) - 3;
    else await Bun.sleep(5);
  }
  await expectError(await printed(third), "SERVICE_OVERLOADED");

  await first?.cancel();
  expect(inUse).toBe(1);
  expect((await (await printed(third)).bytes()).length).toBeGreaterThan(1000);
  // In the middle of a picture too, and before the first piece.
  await Promise.all([second?.read(), second?.cancel()]);
  await Promise.all([last, ...others].map((file) => file?.cancel()));
  expect(inUse).toBe(0);
  expect(api.lines.join()).not.toContain("print_cut_off");
});

test("a card that goes while its file is written breaks the connection, so that no file is short unnoticed", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 2);
  await finish(COLOURS[1]);
  const gone = await finish(COLOURS[0]);
  await api.blobs.remove("picture", `${gone}-0secret.png`);
  // As often as an account may have files at a time, and once more: each gives its place back.
  for (let n = 0; n < 4; n++) {
    const answer = await print(own, id, { colour: "cmyk" });
    expect(answer.status).toBe(200);
    await expect(answer.bytes()).rejects.toThrow();
  }
  const lines = api.lines.filter((line) => line.includes("print_cut_off"));
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain(id);

  // Once it is deleted, or its time is over, the file says that it is missing.
  const deleted = await send(api, `/v1/images/${gone}`, {
    method: "DELETE",
    headers: { "X-API-Key": own.liveKey },
  });
  expect(deleted.status).toBe(200);
  const { details } = await expectError(await print(own, id, {}), "INVALID_REQUEST");
  expect(details[0].message).toContain("without 1 of 2 cards");
  expect((await (await print(own, id, { incomplete: true })).bytes()).length).toBeGreaterThan(1000);
});

test("the command line writes the same file, whole or not at all, and says how far it is", async () => {
  const own = await testAccount(api, { credits: 5 });
  const id = await batchOf(own, 2);
  const image = await finish(COLOURS[1]);
  await giveBack(image);
  await finishNext(api, "refused");
  const out = join(folder.dir, "own.pdf");
  const env = { CARDPRESS_ALLOW_ROOT: "1", CARDPRESS_PRINT_PROFILE: join(folder.dir, "press.icc") };
  const run = (...args: string[]) => runCommandWith(env, api.dataDir, "print", ...args, "--out", out);

  const short = await run(id, "--printer", "home");
  expect([short.code, short.err]).toEqual([
    1,
    expect.stringContaining("--incomplete must be true to print without 1 of 2 cards"),
  ]);
  expect(existsSync(out)).toBe(false);
  const made = await run(id, "--printer", "home", "--incomplete", "--json");
  expect([made.code, made.err]).toEqual([0, "2 of 2 pictures\n"]);
  const wanted = await (await print(own, id, { printer: "home", incomplete: true })).bytes();
  expect(made.json()).toEqual({ file: out, bytes: wanted.length, cards: 1 });
  expect(await Bun.file(out).bytes()).toEqual(wanted);

  const unmarked = await run(id, "--printer", "home", "--no-marks", "--incomplete", "--json");
  expect(unmarked.code).toBe(0);
  expect((await Bun.file(out).bytes()).length).toBeLessThan(wanted.length);

  const one = await run(image, "--colour", "cmyk", "--standard", "pdfx_1a", "--ink-limit", "240");
  expect([one.code, one.out]).toEqual([0, expect.stringMatching(/own\.pdf: 1 card, [\d.]+ \w+\.\n$/)]);
  const asked = { colour: "cmyk", standard: "pdfx_1a", ink_limit: 240 };
  const same = await sent(own.liveKey, `/v1/images/${image}/print`, asked);
  expect(await Bun.file(out).bytes()).toEqual(await same.bytes());

  // What is refused leaves the earlier file as it is.
  const before = await Bun.file(out).bytes();
  for (const [args, code, message] of [
    [[image, "--standard", "pdfx_4"], 1, "--standard must be left out"],
    [[image, "--foil", "a/b"], 1, "--foil must"],
    [[image, "--printer", "nobody"], 2, "drivethru, meinspiel, pps, home"],
    [["bat_none"], 1, "There is no batch and no image bat_none."],
    [[id], 1, "--incomplete must be true"],
  ] as const) {
    const refused = await run(...args);
    expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(message)]);
  }
  expect(await Bun.file(out).bytes()).toEqual(before);
  const nowhere = await runCommandWith(env, api.dataDir, "print", image, "--out", join(out, "a.pdf"));
  expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining("cannot be written")]);
  expect((await readdir(folder.dir)).filter((name) => name.includes("own.pdf"))).toEqual(["own.pdf"]);
});

// Programs of other people say whether it is a PDF: poppler and qpdf.
describe.skipIf(!Bun.which("pdftoppm") || !Bun.which("qpdf"))("read by other programs", () => {
  let own: TestAccount;
  let id: string;
  beforeAll(async () => {
    own = await testAccount(api, { credits: 5 });
    id = await batchOf(own, 3);
    for (const [n, colour] of COLOURS.entries()) {
      const image = await finish(colour);
      if (n < 2) await giveBack(image);
    }
  });

  async function printed(body: object): Promise<string> {
    const path = join(folder.dir, `${crypto.randomUUID()}.pdf`);
    await Bun.write(path, await (await print(own, id, body)).bytes());
    return path;
  }
  const run = (...command: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(command);
    expect([command[0], exitCode, stderr.toString()]).toEqual([command[0], 0, ""]);
    return stdout;
  };
  /** How much black and foil Ghostscript puts on its plates, at a height of 100 points; 255 is all. */
  function platesOf(path: string, foil: string) {
    const out = `${path}-%d.tif`;
    const gs = ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=tiffsep", "-sCompression=none", "-r72"];
    run(...gs, `-sOutputFile=${out}`, path);
    const plateAt = (page: number, ink: string, x: number) => {
      const file = readFileSync(`${path}-${page}(${ink}).tif`);
      const first = file.readUInt32LE(4);
      const tag = (wanted: number): number => {
        for (let at = first + 2; ; at += 12) {
          if (file.readUInt16LE(at) !== wanted) continue;
          const isShort = file.readUInt16LE(at + 2) === 3;
          return isShort ? file.readUInt16LE(at + 8) : file.readUInt32LE(at + 8);
        }
      };
      const [width, rows, strips] = [tag(256), tag(278), tag(273)];
      const isOneStrip = rows >= tag(257);
      const strip = isOneStrip ? strips : file.readUInt32LE(strips + 4 * Math.floor(100 / rows));
      return 255 - Number(file[strip + (isOneStrip ? 100 : 100 % rows) * width + x]);
    };
    return (page: number, x: number) => ({
      // A page on which nothing is foiled has no such plate.
      foil: existsSync(`${path}-${page}(${foil}).tif`) ? plateAt(page, foil, x) : null,
      black: plateAt(page, "Black", x),
    });
  }
  /** The colour of a page's pixel, the place in millimetres from the upper left corner. */
  function colourAt(path: string, page: number, x: number, y: number): number[] {
    const spot = [x, y].map((mm) => String(Math.round((mm / 25.4) * 254)));
    const [left = "", top = ""] = spot;
    const cut = ["-x", left, "-y", top, "-W", "1", "-H", "1"];
    const picture = run("pdftoppm", "-r", "254", "-f", `${page}`, "-l", `${page}`, ...cut, path);
    return [...picture.subarray(-3)];
  }
  const isNear = (found: number[], wanted: readonly number[]) =>
    found.every((value, n) => Math.abs(value - Number(wanted[n])) <= 3);

  test.each([
    [{}, 5, "69 94 mm"],
    [{ marks: true }, 5, "81 106 mm"],
    [{ sheet: "a4", marks: true }, 2, "210 297 mm"],
    [{ sheet: "letter" }, 2, "215.9 279.4 mm"],
    [{ colour: "cmyk", marks: true }, 5, "81 106 mm"],
  ])("%j is valid, and its pages have the size of %p pages of %s", async (body, pages, size) => {
    const path = await printed(body);
    run("qpdf", "--check", path);
    const info = run("pdfinfo", path).toString();
    expect(info).toContain("Title:           Łódź (A)");
    expect(info).toMatch(new RegExp(`Pages: +${pages}\n`));
    const [width, height] = size.split(" ").map((mm) => (Number(mm) / 25.4) * 72);
    const found = /Page size: +([\d.]+) x ([\d.]+) pts/.exec(info);
    expect(Math.abs(Number(found?.[1]) - Number(width))).toBeLessThan(0.01);
    expect(Math.abs(Number(found?.[2]) - Number(height))).toBeLessThan(0.01);
  });

  test("each card's back follows its front, or comes first", async () => {
    const first = await printed({});
    const last = await printed({ order: "back_first" });
    const wanted = [COLOURS[0], BACK, COLOURS[1], BACK, COLOURS[2]];
    for (const [at, colour] of wanted.entries())
      expect([at, isNear(colourAt(first, at + 1, 30, 30), colour)]).toEqual([at, true]);
    expect(isNear(colourAt(last, 1, 30, 30), BACK)).toBe(true);
    expect(isNear(colourAt(last, 2, 30, 30), COLOURS[0])).toBe(true);
  });

  test("in CMYK the inks are those of the profile's table", async () => {
    const path = await printed({ colour: "cmyk" });
    // The lightness of the green card is 58, of the blue one 33. Poppler shows full black ink as 33 of 255.
    for (const [page, lightness] of [
      [3, 58],
      [5, 33],
    ] as const)
      for (const value of colourAt(path, page, 30, 30))
        expect(Math.abs(value - (33 + (lightness / 100) * (255 - 33)))).toBeLessThan(5);
  });

  test.skipIf(!Bun.which("gs"))("foil is a plate of its own, over inks that stay as they are", async () => {
    const foiled = await testAccount(api, { credits: 5 });
    const batch = await batchOf(foiled, 2);
    const image = await finish(COLOURS[0]);
    await finish(COLOURS[1]);
    // The left half of the first card.
    const half = new Uint8Array(CARD_PX.width * CARD_PX.height);
    for (let at = 0; at < half.length; at++) half[at] = at % CARD_PX.width < CARD_PX.width / 2 ? 255 : 0;
    const none = await expectError(await print(foiled, batch, { foil: "Foil" }), "INVALID_REQUEST");
    expect(none.details).toEqual([{ field: "foil", message: expect.stringContaining("`style.foil`") }]);
    const plate = packedPlate(half, CARD_PX.width, CARD_PX.height);
    if (!plate) throw new Error("no plate");
    const picture = withFoilPlate(plain(CARD_PX, COLOURS[0]), plate);
    await api.blobs.put("picture", `${image}-0secret.png`, picture);

    for (const [standard, name] of [
      ["pdfx_4", "Foil"],
      ["pdfx_1a", "Hot Foil_1"],
    ] as const) {
      const asked = { colour: "cmyk", standard, foil: name };
      const path = join(folder.dir, `foil-${standard}.pdf`);
      await Bun.write(path, await (await print(foiled, batch, asked)).bytes());
      run("qpdf", "--check", path);
      const inksAt = platesOf(path, name);
      // Left, right of the first card, and the second card, whose picture has no plate.
      expect([inksAt(1, 30), inksAt(1, 150), inksAt(2, 30)].map((inks) => inks.foil)).toEqual([255, 0, null]);
      expect(inksAt(1, 30).black).toBe(inksAt(1, 150).black);
      expect(inksAt(1, 30).black).toBeGreaterThan(50);
    }
    const plainFile = await (await print(foiled, batch, { colour: "cmyk" })).text();
    expect(plainFile).not.toContain("/Separation");
    const odd = await expectError(await print(foiled, batch, { foil: "Foil/Gold" }), "INVALID_REQUEST");
    expect(odd.details).toEqual([
      { field: "foil", message: expect.stringContaining("1 to 31 letters, digits, spaces") },
    ]);
  });

  test("on a sheet the backs are mirrored, and a card without one leaves its place white", async () => {
    const path = await printed({ sheet: "a4" });
    // Three columns of 63 mm in the middle of 210 mm, three rows of 88 mm in the middle of 297 mm.
    const column = (n: number) => 10.5 + 63 * n + 31;
    const y = 16.5 + 44;
    for (const [n, colour] of COLOURS.entries())
      expect(isNear(colourAt(path, 1, column(n), y), colour)).toBe(true);
    for (const [n, colour] of [[255, 255, 255], BACK, BACK].entries())
      expect([n, isNear(colourAt(path, 2, column(n), y), colour)]).toEqual([n, true]);
  });
});
