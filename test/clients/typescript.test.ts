import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { type Loop, startLoop } from "../../src/app/loop.ts";
import { webhookHeaders } from "../../src/core/webhook-signature.ts";
import { VERSION } from "../../src/version.ts";
import { testAccount } from "../harness.ts";
import { type Json, type TestApi, testApi } from "../http/api.ts";
import { pathOfHost } from "./path-of-host.ts";

// The TypeScript client as its users have it: installed from the service into a separate project, and run
// against it.

const ROOT = join(import.meta.dir, "../..");

let api: TestApi;
/** The service under a path of a host, which the client may not drop. */
let host: ReturnType<typeof pathOfHost>;
let dir: string;
let key: string;
let liveKey: string;
let loop: Loop;
/** The installed package. */
let client: Json;
beforeAll(async () => {
  api = await testApi({
    env: {
      CARDPRESS_BASE_URL: "https://cards.example.org/club/cards",
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9",
    },
  });
  host = pathOfHost(api.baseUrl, "/club/cards");
  dir = await mkdtemp(join(tmpdir(), "cardpress-ts-client-"));
  ({ testKey: key, liveKey } = await testAccount(api));
  // The loop that serves test images, as the running service has it.
  loop = startLoop({
    name: "mock",
    concurrency: 1,
    pollMs: 5,
    runOne: (signal, more) => renderNextTestImage(api, signal, more),
    log: api.log,
  });
  await Bun.write(join(dir, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  const address = `${api.baseUrl}/docs/clients/cardpress-client-${VERSION}.tgz`;
  // Clients that could not be packed once, as on a full disk, are packed for the next who asks.
  const { TMPDIR = "/tmp" } = process.env;
  process.env.TMPDIR = join(dir, "missing");
  expect((await fetch(address)).status).toBe(500);
  process.env.TMPDIR = TMPDIR;
  await run([process.execPath, "add", address]);
  client = await import(join(dir, "node_modules/cardpress-client/dist/index.js"));
});
afterAll(async () => {
  await Promise.all([loop.stop(), host.stop()]);
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: dir,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(out + err);
  return out;
}

const card = (externalId: string) => ({
  player: {
    external_id: externalId,
    name: "Maya Okafor",
    position: "ST",
    number: 9,
    skill_level: 87,
    source_image_url: "https://images.example.org/players/10442.jpg",
  },
  style: { preset: "club_card", width: 512, height: 640 },
});

/** The client with pauses that are noted instead of waited for, and whatever is changed. */
function connect(options: object = {}) {
  const pauses: number[] = [];
  let now = 0;
  const sleep = async (ms: number) => {
    pauses.push(ms);
    now += ms;
    // The loop that makes images gets its turn.
    await Bun.sleep(1);
  };
  const cards = client.cardpress({
    baseUrl: `${host.baseUrl}/`,
    apiKey: key,
    sleep,
    now: () => now,
    ...options,
  });
  return { cards, pauses };
}

/** A fetch that sends everything, and gives `answers` in place of the first answers. */
function answering(...answers: (() => Response)[]) {
  const sent: RequestInit[] = [];
  return {
    sent,
    fetch: async (url: string, init: RequestInit) => {
      sent.push(init);
      const real = await fetch(url, init);
      return answers.shift()?.() ?? real;
    },
  };
}

const PROGRAM = `
import { cardpress, ImageFailedError, type WebhookEvent } from "cardpress-client";
const cards = cardpress({ baseUrl: process.env.BASE ?? "", apiKey: process.env.KEY ?? "" });
const image = await cards.images.createAndWait(${JSON.stringify(card("player-1"))});
const width: number = image.result.width;
const listed: string[] = [];
for await (const item of cards.images.list({ status: "completed", limit: 1 })) listed.push(item.image_id);
const failed: string = await cards.images
  .createAndWait(${JSON.stringify(card("test_fail_no_player"))})
  .then(() => "made", (error: unknown) => (error instanceof ImageFailedError ? error.image.failure.code : String(error)));
const { images_completed } = await cards.usage("current_month");
for await (const item of cards.images.list({ "metadata.none": "x", external_id: "player-1", created_after: "2026-01-01T00:00:00Z" }))
  throw new Error(item.external_id);
const types: string[] = [];
for await (const { event_id, type } of cards.events.list({ limit: 1 })) types.push((await cards.events.get(event_id)).type + (type.length > 0));
const noEndpoints: number = (await cards.webhookEndpoints.list()).length;
if (types.length < 2 || noEndpoints !== 0) throw new Error(String(types));
const squad = await cards.batches.create({ name: "Squad", cards: [${JSON.stringify(card("player-1"))}] });
const { progress } = await cards.batches.wait(squad.batch_id);
let zipped = 0;
for await (const bytes of await cards.batches.pictures(squad.batch_id)) zipped += bytes.length;
const numbered = await cards.images.create(${JSON.stringify(card("player-1"))}, { wait: 5 });
if (numbered.status === "completed" && numbered.replayed) console.error(numbered.result.image_url);
if (numbered.status === "failed") await cards.batches.print((await cards.sets.list().next()).value?.set_id ?? "", { marks: true });
const event = {} as WebhookEvent;
if (event.type === "image.completed") console.error(event.data.result.image_url);
if (event.type === "batch.completed") console.error(event.data.batch_id);
if (event.type === "player.recalled") console.error(event.data.external_id);
if (event.type === "usage.alert") console.error(event.data);
console.log(JSON.stringify({ url: image.result.image_url, width, listed: listed.length, failed, images_completed, progress, isZipped: zipped > width }));
`;

/** The compiler's complaints about a program that uses the package, none when it is right. */
async function complaints(program: string): Promise<string> {
  const name = `program-${Bun.hash(program)}.ts`;
  await Bun.write(join(dir, name), program);
  const compilerOptions = {
    target: "ES2022",
    module: "NodeNext",
    lib: ["ES2022", "DOM"],
    types: ["bun-types"],
    typeRoots: [join(ROOT, "node_modules")],
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
  };
  await Bun.write(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [name] }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return run([process.execPath, "--bun", tsc, "-p", "."]).then(
    () => "",
    (error: Error) => error.message,
  );
}

test("a program that uses the package compiles, and its mistakes do not", async () => {
  expect(await complaints(PROGRAM)).toBe("");
  const mistakes: [string, string, string][] = [
    ['"number":9', '"number":"9"', "number"],
    ['"position":"ST"', '"position":"STRIKER"', "STRIKER"],
    ['"skill_level"', '"skillLevel"', "skillLevel"],
    ['usage("current_month")', 'usage("today")', "today"],
    ["image.result.width", "image.result.widht", "widht"],
    ['name: "Squad"', 'nmae: "Squad"', "nmae"],
    ["event.data.batch_id", "event.data.image_id", "image_id"],
  ];
  for (const [right, wrong, named] of mistakes) {
    expect(PROGRAM).toContain(right);
    expect(await complaints(PROGRAM.replace(right, wrong))).toContain(named);
  }
});

const RUNTIMES: [string, string[]][] = [
  ["Bun", [process.execPath]],
  ["Node", ["node"]],
];
for (const [name, [program = ""]] of RUNTIMES)
  (Bun.which(program) ? test : test.skip)(`cards are made, listed and counted on ${name}`, async () => {
    const file = join(dir, `${name}.mjs`);
    await Bun.write(file, new Bun.Transpiler({ loader: "ts" }).transformSync(PROGRAM));
    const before = await connect().cards.usage("current_month");
    const out: Json = JSON.parse(await run([program, file], { BASE: api.baseUrl, KEY: key }));
    expect(out).toEqual({
      url: expect.stringMatching(/\/cdn\/img_/),
      width: 512,
      listed: before.images_completed + 1,
      failed: "IMAGE_PROCESSING_FAILED",
      images_completed: before.images_completed + 1,
      progress: 1,
      isZipped: true,
    });
  });

test("a create whose answer was lost is sent again with the same key, and makes one card", async () => {
  const cut = answering(() => {
    throw new TypeError("connection reset");
  });
  const { cards, pauses } = connect({ fetch: cut.fetch });
  const accepted = await cards.images.create(card("player-lost"));
  const keys = cut.sent.map(({ headers }) => (headers as Record<string, string>)["Idempotency-Key"]);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
  expect(pauses).toHaveLength(1);
  expect(await cards.deletePlayer("player-lost")).toMatchObject({ images_deleted: 1 });
  expect(accepted.image_id).toMatch(/^img_/);
});

test("a create and a look wait for the card when asked to, and say whether they are an earlier answer", async () => {
  const through = answering();
  const { cards } = connect({ fetch: through.fetch });
  const options = { wait: 5, idempotencyKey: "waited-for" };
  const made = await cards.images.create(card("player-waited"), options);
  expect(made).toMatchObject({ status: "completed", replayed: false });
  expect((through.sent[0] as Json).headers.Prefer).toBe("wait=5");
  expect(await cards.images.create(card("player-waited"), options)).toEqual({ ...made, replayed: true });
  const again = await cards.images.createAndWait(card("player-waited"), { idempotencyKey: "waited-for" });
  expect(again).toEqual({ ...made, replayed: true });
  const changed = await cards.images.remake(
    made.image_id,
    { style: { background_theme: "ice" } },
    { wait: 5 },
  );
  expect(changed).toMatchObject({ status: "completed", replayed: false });
  const { replayed: _, ...image } = made;
  expect(await cards.images.get(made.image_id, { wait: 5 })).toEqual(image);
  const squad = { name: "", cards: [card("player-waited-2")] };
  const [first, second] = [
    await cards.batches.create(squad, { idempotencyKey: "waited-squad" }),
    await cards.batches.create(squad, { idempotencyKey: "waited-squad" }),
  ];
  expect([first.replayed, second.replayed]).toEqual([false, true]);
});

test("a wait has the service wait, counts the time of its calls, and ends within an attempt's limit", async () => {
  let now = 0;
  const preferred: string[] = [];
  const busy = async (_: string, { headers }: RequestInit) => {
    const prefer = (headers as Record<string, string>).Prefer ?? "";
    preferred.push(prefer);
    now += Number(/\d+/.exec(prefer)?.[0] ?? 0) * 1000;
    return Response.json({ success: true, data: { image_id: "img_1", status: "processing" }, error: null });
  };
  const slow = (more: object) =>
    client.cardpress({ baseUrl: "x", apiKey: key, fetch: busy, now: () => now, ...more });
  const paused: number[] = [];
  const sleep = async (ms: number) => void paused.push(ms);
  const tired = await slow({ sleep })
    .images.wait("img_1", { waitMs: 40_000 })
    .catch((error: Json) => error);
  expect(tired).toBeInstanceOf(client.NoAnswerError);
  expect([preferred, now]).toEqual([["wait=15", "wait=15", "wait=10"], 40_000]);
  expect(paused).toEqual([0, 0]);
  preferred.length = 0;
  const hasty = slow({ sleep, timeoutMs: 8_000 }).images.wait("img_1", { waitMs: 4_000 });
  expect(await hasty.catch((error: Json) => error)).toBeInstanceOf(client.NoAnswerError);
  expect(preferred).toEqual(["wait=4"]);
});

test("a set is made, its cards have numbers, and it is read, listed and deleted; a batch is printed", async () => {
  const { cards } = connect();
  const players = [{ external_id: "player-set", name: "Maya Okafor" }];
  const season = { name: "Season", parallels: [{ name: "gold", size: 2 }], players };
  const cut = answering(() => {
    throw new TypeError("connection reset");
  });
  const set = await connect({ fetch: cut.fetch }).cards.sets.create(season, { idempotencyKey: "season" });
  expect(set.replayed).toBe(true);
  const order = { ...card("player-set"), set: { id: set.set_id, parallel: "gold" } };
  const made = await cards.images.createAndWait(order);
  expect(made.set).toMatchObject({ serial: 1, size: 2 });
  const checklist = await cards.sets.checklist(set.set_id);
  expect(checklist.players[0].parallels[0]).toMatchObject({ name: "gold", made: 1 });
  expect(await new Response(await cards.sets.manifest(set.set_id)).text()).toContain("Maya Okafor");
  const packs = await cards.sets.packs(set.set_id, { seed: "2:1", packs: 1, cards: 1 });
  expect(packs).toMatchObject({ set_id: set.set_id, cards_in_pool: 1 });
  const spare = await cards.sets.create({
    name: "Spare",
    parallels: [{ name: "base", size: null }],
    players,
  });
  const listed: string[] = [];
  for await (const { set_id } of cards.sets.list()) listed.push(set_id);
  expect(listed).toEqual([spare.set_id, set.set_id]);
  const { gallery_url } = await cards.sets.change(spare.set_id, { gallery: true });
  expect(gallery_url).toContain("/gallery/gal_");
  expect((await cards.sets.change(spare.set_id, { gallery: false })).gallery_url).toBeNull();
  expect({ ...(await cards.sets.delete(spare.set_id)), replayed: false }).toEqual(spare);
  expect((await cards.sets.get(spare.set_id).catch((error: Json) => error)).code).toBe("NOT_FOUND");

  const sized = { ...card("player-print"), style: { preset: "club_card", width: 815, height: 1110 } };
  const { batch_id } = await cards.batches.create({ cards: [sized] });
  const [printed] = (await cards.batches.wait(batch_id)).images;
  for (const pdf of [
    await cards.batches.print(batch_id, { sheet: "a4" }),
    await cards.images.print(printed?.image_id ?? ""),
  ])
    expect((await new Response(pdf).text()).slice(0, 5)).toBe("%PDF-");
});

test("what may succeed later is tried again after Retry-After, and given up after four times", async () => {
  const { cards, pauses } = connect();
  const refused = await cards.images.create(card("test_rate_limited")).catch((error: Json) => error);
  expect(refused).toBeInstanceOf(client.CardpressError);
  expect(refused).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", status: 429 });
  expect(pauses).toHaveLength(4);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
});

test("what needs a change first is refused at once, with its fields, id and page", async () => {
  const { cards, pauses } = connect();
  const wrong = { ...card("player-2"), style: { preset: "club_card", width: 3 } };
  const refused = await cards.images.create(wrong).catch((error: Json) => error);
  expect(refused).toMatchObject({ code: "INVALID_REQUEST", details: [{ field: "style.width" }] });
  expect(refused.requestId).toMatch(/^req_/);
  expect(refused.docsUrl).toEndWith("/docs/errors/INVALID_REQUEST");
  const broke = await cards.images.create(card("test_insufficient_credits")).catch((error: Json) => error);
  expect(broke.code).toBe("INSUFFICIENT_CREDITS");
  expect(broke.credits).toEqual({ needed: 1, remaining: 0, renews_at: expect.stringMatching(/-01T00:00/) });
  const stranger = connect({ apiKey: "sk_test_wrong" });
  expect((await stranger.cards.presets().catch((error: Json) => error)).code).toBe("INVALID_API_KEY");
  expect([...pauses, ...stranger.pauses]).toEqual([]);
});

test("another server at the address is not taken for the service, and a day's pause is not waited for", async () => {
  const page = answering(
    ...Array.from({ length: 9 }, () => () => new Response("<h1>502</h1>", { status: 502 })),
  );
  const error = await connect({ fetch: page.fetch })
    .cards.presets()
    .catch((cause: Json) => cause);
  expect(error).toBeInstanceOf(client.NoAnswerError);
  expect(error.message).toContain("502");
  const spent = () =>
    new Response(
      JSON.stringify({ success: false, data: null, error: { code: "RATE_LIMIT_EXCEEDED", message: "x" } }),
      {
        status: 429,
        headers: { "Retry-After": "3600" },
      },
    );
  const tomorrow = connect({ fetch: answering(spent).fetch });
  const refused = await tomorrow.cards.presets().catch((cause: Json) => cause);
  expect([refused.code, refused.retryAfter]).toEqual(["RATE_LIMIT_EXCEEDED", 3600]);
  expect(tomorrow.pauses).toEqual([]);
});

test("a photo that is hosted nowhere is sent, and a card made of it", async () => {
  const { cards } = connect();
  const file = Bun.file(join(ROOT, "test/photos/unsplash_man.jpg"));
  const photo = await cards.photos.upload(file);
  expect(photo).toMatchObject({ content_type: "image/jpeg", bytes: file.size });
  const request = card("player-photo");
  const made = await cards.images.createAndWait({
    ...request,
    player: { ...request.player, source_image_url: photo.url },
  });
  expect(made.status).toBe("completed");
});

const squadOf = (...externalIds: string[]) => ({ name: "First team", cards: externalIds.map(card) });

test("a batch is made, watched to its end and read as a ZIP; a card that failed says why and throws nothing", async () => {
  const { cards, pauses } = connect();
  const squad = squadOf("squad-1", "squad-2", "test_fail_no_player");
  const accepted = await cards.batches.create(squad);
  expect(accepted).toMatchObject({ total: 3, name: "First team" });
  const updates: Json[] = [];
  const ended = await cards.batches.wait(accepted.batch_id, {
    onProgress: (batch: Json) => updates.push(batch),
  });
  expect(ended).toMatchObject({ status: "completed", completed: 2, failed: 1, progress: 1 });
  expect(ended.images.map(({ failure }: Json) => failure?.code)).toEqual([
    undefined,
    undefined,
    "IMAGE_PROCESSING_FAILED",
  ]);
  expect(updates.at(-1)).toEqual(ended);
  expect(updates).toHaveLength(pauses.length + 1);
  const zip = unzipSync(await new Response(await cards.batches.pictures(accepted.batch_id)).bytes());
  expect(Object.keys(zip)).toEqual(["squad-1.png", "squad-2.png", "cards.csv"]);
  const listed: string[] = [];
  for await (const { batch_id } of cards.batches.list()) listed.push(batch_id);
  expect(listed[0]).toBe(accepted.batch_id);
});

test("a batch whose answer was lost is made once, and one with a fault not at all", async () => {
  const cut = answering(() => {
    throw new TypeError("connection reset");
  });
  const { cards } = connect({ fetch: cut.fetch });
  const { batch_id } = await cards.batches.create(squadOf("lost-1", "lost-2"));
  const ids: string[] = [];
  for await (const batch of cards.batches.list()) ids.push(batch.batch_id);
  expect(ids.indexOf(batch_id)).toBe(0);
  await cards.batches.wait(batch_id);
  const faulty = squadOf("lost-3", "lost-4");
  Object.assign(faulty.cards[1]?.player ?? {}, { number: 100 });
  const refused = await cards.batches.create(faulty).catch((error: Json) => error);
  expect(refused).toMatchObject({ code: "INVALID_REQUEST", details: [{ field: "cards[1].player.number" }] });
  expect((await cards.batches.list().next()).value.batch_id).toBe(batch_id);
});

test("an archive is asked for again after a fault and read as it comes, and anything else in its place is refused", async () => {
  const { cards } = connect();
  const { batch_id } = await cards.batches.create(squadOf("zip-1"));
  await cards.batches.wait(batch_id);
  let sendRest = () => {};
  const slowly = () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array([80]));
        sendRest = () => {
          controller.enqueue(new Uint8Array([75]));
          controller.close();
        };
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/zip" } });
  };
  const busy = () => new Response("<h1>502</h1>", { status: 502 });
  const patient = connect({ fetch: answering(busy, slowly).fetch });
  const timers = spyOn(globalThis, "setTimeout");
  const archive = new Response(await patient.cards.batches.pictures(batch_id));
  // It may wait for others to be written.
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(240_000);
  timers.mockRestore();
  sendRest();
  expect(await archive.text()).toBe("PK");
  expect(patient.pauses).toHaveLength(1);
  const none = await cards.batches.pictures("bat_none").catch((error: Json) => error);
  expect(none).toMatchObject({ code: "NOT_FOUND", status: 404 });
  const page = answering(() => new Response("<h1>sign in</h1>"));
  const portal = connect({ fetch: page.fetch }).cards.batches.pictures(batch_id);
  expect(await portal.catch((error: Json) => error)).toBeInstanceOf(client.NoAnswerError);
});

test("a card is made again with what is otherwise, once for each call however often it is sent", async () => {
  const lost = answering(() => {
    throw new TypeError("connection reset");
  });
  const { cards } = connect();
  const made = await cards.images.createAndWait(card("player-again"));
  const retrying = connect({ fetch: lost.fetch });
  const accepted = await retrying.cards.images.remake(made.image_id, { style: { background_theme: "ice" } });
  const again = await cards.images.wait(accepted.image_id);
  expect(again.image_id).not.toBe(made.image_id);
  expect(again.result.width).toBe(made.result.width);
  expect((await cards.deletePlayer("player-again")).images_deleted).toBe(2);
  const none = await cards.images.remake("img_none").catch((error: Json) => error);
  expect(none.code).toBe("IMAGE_NOT_FOUND");
});

test("what a player agrees to is recorded and read, shortens a card, and its withdrawal recalls the player", async () => {
  const { cards } = connect();
  const live = connect({ apiKey: liveKey }).cards;
  const terms = await live.consents.record("player-minor", { full_name: false, until: "2099-06-30" });
  expect(terms).toMatchObject({ status: "given", full_name: false });
  expect(await cards.consents.get("player-minor")).toEqual(terms);
  const listed: unknown[] = [];
  for await (const consent of cards.consents.list()) listed.push(consent);
  expect(listed).toContainEqual(terms);
  const made = await cards.images.createAndWait(card("player-minor"));
  expect(made.name).toMatch(/^\S+ \p{L}\.$/u);
  expect(await live.consents.withdraw("player-minor")).toMatchObject({
    status: "withdrawn",
    images_deleted: 1,
  });
  const refused = await cards.images.create(card("player-minor")).catch((error: Json) => error);
  expect(refused.code).toBe("INVALID_REQUEST");
});

test("an image and a player are deleted, and a wait can be ended", async () => {
  const { cards } = connect();
  const made = await cards.images.createAndWait(card("player-gone"));
  expect((await cards.images.delete(made.image_id)).image_id).toBe(made.image_id);
  expect((await cards.deletePlayer("player-gone")).images_deleted).toBe(0);
  const stop = new AbortController();
  const slow = client.cardpress({ baseUrl: api.baseUrl, apiKey: key });
  const { image_id } = await slow.images.create(card("test_slow"));
  const waiting = slow.images.wait(image_id, { signal: stop.signal }).catch((cause: Json) => cause);
  stop.abort(new Error("enough"));
  expect((await waiting).message).toBe("enough");
});

test("a webhook is read when the service signed it, and refused otherwise", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const old = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  const now = Date.UTC(2026, 10, 21);
  const body = JSON.stringify({ type: "webhook.test", data: { message: "Zoë" } });
  const headers = (secrets: string[]) => webhookHeaders({ id: "evt_1", timestampMs: now, body }, secrets);
  const read = (given: object) =>
    client.readWebhook(secret, { headers: headers([secret]), body, now, ...given });
  expect((await read({})).data.message).toBe("Zoë");
  expect((await read({ body: Buffer.from(body), headers: new Headers(headers([old, secret])) })).type).toBe(
    "webhook.test",
  );
  for (const wrong of [
    { headers: headers([old]) },
    { body: body.replace("Zoë", "Zoe") },
    { now: now + 301_000 },
    { headers: {} },
    { headers: { ...headers([secret]), "webhook-signature": "v1,%%%" } },
  ])
    expect(await read(wrong).catch((error: Json) => error)).toBeInstanceOf(client.WebhookSignatureError);
});

test.each(["", "whsec_", "whsec_c2hvcnQ=", Buffer.alloc(32, 7).toString("base64"), "whsec_%%%"])(
  "no webhook is read with %p for a secret, even when it signed it",
  async (secret) => {
    const [body, timestampMs] = ["{}", Date.now()];
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const signature = new Bun.CryptoHasher("sha256", key)
      .update(`evt_1.${Math.floor(timestampMs / 1000)}.${body}`)
      .digest("base64");
    const headers = {
      ...webhookHeaders({ id: "evt_1", timestampMs, body }, []),
      "webhook-signature": `v1,${signature}`,
    };
    const error = await client.readWebhook(secret, { headers, body }).catch((thrown: Json) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("begins with whsec_");
  },
);

test("a canceled batch ends what nobody has begun, and a wait for it ends too", async () => {
  await loop.stop();
  const { cards, pauses } = connect();
  const { batch_id } = await cards.batches.create(squadOf("stopped-1", "stopped-2"));
  expect(await cards.batches.cancel(batch_id)).toMatchObject({ status: "canceled", failed: 2 });
  expect(await cards.batches.wait(batch_id)).toMatchObject({ status: "canceled", processing: 0 });
  expect(pauses).toEqual([]);
  const open = await cards.batches.create(squadOf("stopped-3"));
  const tired = await cards.batches.wait(open.batch_id, { waitMs: 2_000 }).catch((error: Json) => error);
  expect(tired).toBeInstanceOf(client.NoAnswerError);
  expect(pauses).toEqual([1_000, 1_000]);
});

test("an endpoint is made, tested, rotated and deleted; what would be done twice is sent once", async () => {
  const { cards } = connect();
  const url = "http://127.0.0.1:9/hook";
  const made = await cards.webhookEndpoints.create({ url, events: ["image.failed"] });
  expect(made.secret).toStartWith("whsec_");
  const sent = await cards.webhookEndpoints.test(made.endpoint_id);
  expect((await cards.events.redeliver(sent.event_id, { endpointId: made.endpoint_id })).event_id).toBe(
    sent.event_id,
  );
  const rotated = await cards.webhookEndpoints.rotateSecret(made.endpoint_id);
  expect(rotated.secret).not.toBe(made.secret);
  expect(await cards.webhookEndpoints.get(made.endpoint_id)).toMatchObject({ url });
  await cards.webhookEndpoints.delete(made.endpoint_id);
  expect(await cards.webhookEndpoints.list()).toEqual([]);
  const broken = answering(() => new Response("", { status: 503 }));
  const { cards: once } = connect({ fetch: broken.fetch });
  await expect(once.webhookEndpoints.create({ url })).rejects.toThrow();
  expect(broken.sent).toHaveLength(1);
});

test("the service has the packages of the other languages too, and Composer's index names its own", async () => {
  const at = (name: string) => fetch(`${api.baseUrl}/docs/clients/${name}`);
  const wheel = unzipSync(await (await at(`cardpress_client-${VERSION}-py3-none-any.whl`)).bytes());
  expect(Object.keys(wheel)).toContain("cardpress_client/operations.py");
  const index: Json = await (await at("packages.json")).json();
  const { dist, autoload } = index.packages["cardpress/client"][VERSION];
  expect(dist.url).toBe(
    `https://cards.example.org/club/cards/docs/clients/cardpress-client-php-${VERSION}.zip`,
  );
  const zip = await (await at(dist.url.split("/").pop() ?? "")).bytes();
  expect(new Bun.CryptoHasher("sha1").update(zip).digest("hex")).toBe(dist.shasum);
  expect(Object.keys(unzipSync(zip))).toContain(`${autoload["psr-4"]["Cardpress\\"]}Client.php`);
  expect((await at("cardpress-client-0.0.1.tgz")).status).toBe(404);
  expect((await at("")).status).toBe(200);
});
