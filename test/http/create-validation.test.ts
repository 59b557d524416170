import { afterAll, beforeAll, expect, test } from "bun:test";
import { POSITIONS } from "../../src/core/card.ts";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { queueDepth } from "../../src/store/images/queue-depth.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import { expectError, expectSuccess, type Json, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await testApi();
  key = (await testAccount(api)).testKey;
});
afterAll(() => api.close());

const DELETE = Symbol("delete");

/** The least valid body, with one field set or deleted. */
function body(path: string, value: unknown): Json {
  const whole: Json = imageRequest({ branding: {}, metadata: {} });
  const parts = path.split(".");
  const last = parts.pop() ?? "";
  let target = whole;
  for (const part of parts) target = target[part];
  if (value === DELETE) delete target[last];
  else target[last] = value;
  return whole;
}

const texts = (max: number) => ({
  good: ["x", "x".repeat(max), "😀".repeat(max), "Ætna Ñandú 日本 عربى"],
  bad: ["", "x".repeat(max + 1), "😀".repeat(max + 1), 1, true, ["x"], { x: 1 }, "a\u0000b", "\ud800"],
});
const wholes = (min: number, max: number) => ({
  good: [min, max],
  bad: [min - 1, max + 1, min + 0.5, `${min}`, true, -1, 1e300, [], {}],
});
const choices = (...values: readonly string[]) => ({
  good: [...values],
  bad: [
    "",
    "nonsense",
    values[0]?.toUpperCase() === values[0] ? values[0]?.toLowerCase() : "X",
    1,
    true,
    [values[0]],
    {},
  ],
});
const addresses = {
  good: [
    "https://images.example.org/a.jpg",
    "https://images.example.org:8443/a%20b.jpg?x=1#y",
    "HTTPS://images.example.org/a",
  ],
  bad: [
    "",
    "images.example.org/a.jpg",
    "/a.jpg",
    "http://images.example.org/a.jpg",
    "ftp://images.example.org/a.jpg",
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    "javascript:1",
    "https://",
    "https://user:pass@images.example.org/a.jpg",
    " https://images.example.org/a.jpg",
    "https://images.example.org/a b.jpg",
    "https://images.exam\nple.org/a.jpg",
    "https://images.example.org\\a.jpg",
    "https:images.example.org/a.jpg",
    `https://images.example.org/${"a".repeat(2048)}`,
    1,
    true,
    [],
    {},
  ],
};
const colours = {
  good: ["#000000", "#C8102E", "#c8102e"],
  bad: ["", "C8102E", "#C8102", "#C8102E0", "#GGGGGG", "#fff", "red", "#C8102E\n", 1, true, [], {}],
};

interface Field {
  required: boolean;
  good: unknown[];
  bad: unknown[];
}

const FIELDS: Record<string, Field> = {
  type: { required: true, ...choices("player_card") },
  player: { required: true, good: [], bad: [{}, [], "x", 1, true] },
  "player.external_id": { required: true, ...texts(255) },
  "player.name": {
    required: true,
    good: texts(100).good,
    bad: [...texts(100).bad, " ", "\u200b", "\u3164", "\u2800"],
  },
  "player.position": { required: true, ...choices(...POSITIONS) },
  "player.number": { required: true, ...wholes(1, 99) },
  "player.skill_level": { required: true, ...wholes(1, 99) },
  "player.source_image_url": { required: true, ...addresses },
  "player.focus": {
    required: false,
    good: [
      { x: 0, y: 1 },
      { x: 0.25, y: 0.4 },
    ],
    bad: [{}, [], "0.5 0.5", 1, true, { x: 0.5 }, { x: -0.1, y: 0 }, { x: 0, y: 1.01 }, { x: "0", y: 0 }],
  },
  style: { required: true, good: [{ preset: "club_card" }], bad: [{}, [], "x", 1, true] },
  "style.preset": { required: true, ...choices("club_card") },
  "style.width": { required: false, ...wholes(512, 2048) },
  "style.height": { required: false, ...wholes(512, 2048) },
  "style.background_theme": {
    required: false,
    good: ["", "stadium night", "日本", "x".repeat(5000)],
    bad: [1, true, [], {}, "a\u0000b", "\ud800"],
  },
  "style.format": { required: false, ...choices("png", "webp", "jpeg", "webp-animated", "webm") },
  "style.composition": { required: false, ...choices("auto", "cutout") },
  branding: { required: false, good: [{}], bad: [[], "x", 1, true] },
  "branding.club_badge_url": { required: false, ...addresses },
  "branding.primary_color": { required: false, ...colours },
  "branding.secondary_color": { required: false, ...colours },
  metadata: {
    required: false,
    good: [
      {},
      Object.fromEntries([...Array(10)].map((_, i) => [`k${i}`, "x".repeat(256)])),
      { "": "x" },
      { "a\nb": "x" },
    ],
    bad: [
      Object.fromEntries([...Array(11)].map((_, i) => [`k${i}`, "x"])),
      [],
      "x",
      1,
      true,
      { a: 1 },
      { a: null },
      { a: true },
      { a: {} },
      { a: ["x"] },
      { a: "x".repeat(257) },
      { "a\nb": { deep: 1 } },
      { a: "\u0000" },
      { "a\u0000": "x" },
    ],
  },
};

const shown = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}... (${text.length})` : text;
};

async function refused(whole: unknown, field: string): Promise<void> {
  const error = await expectError(await post(api.baseUrl, key, whole), "INVALID_REQUEST");
  const detail = error.details?.find(
    (found: Json) => found.field === field || found.field.startsWith(`${field}.`),
  );
  if (!detail) throw new Error(`no detail names ${field}: ${JSON.stringify(error)}`);
  expect(error.message).toContain(detail.field);
  expect(detail.message).toMatch(/^(must|is) /);
}

for (const [path, { required, good, bad }] of Object.entries(FIELDS)) {
  for (const value of good) {
    test(`${path} takes ${shown(value)}`, async () => {
      await expectSuccess(await post(api.baseUrl, key, body(path, value)), 202, AcceptedImageResponse);
    });
  }
  for (const value of [...bad, null]) {
    test(`${path} refuses ${shown(value)} by name`, () => refused(body(path, value), path));
  }
  test(`${path} ${required ? "is required" : "may be left out"}`, async () => {
    if (required) await refused(body(path, DELETE), path);
    else await expectSuccess(await post(api.baseUrl, key, body(path, DELETE)), 202, AcceptedImageResponse);
  });
}

for (const path of ["extra", "player.extra", "style.extra", "branding.extra", "player.Name", "credits"]) {
  test(`the unknown field ${path} is refused by name`, () => refused(body(path, "x"), path));
}

test("every broken field is named at once", async () => {
  const whole = {
    type: "x",
    player: { name: 1, number: "9" },
    style: { preset: "club_card", width: 1 },
    extra: 1,
  };
  const error = await expectError(await post(api.baseUrl, key, whole), "INVALID_REQUEST");
  const fields = error.details.map((detail: Json) => detail.field).sort();
  expect(fields).toEqual([
    "extra",
    "player.external_id",
    "player.name",
    "player.number",
    "player.position",
    "player.skill_level",
    "player.source_image_url",
    "style.width",
    "type",
  ]);
});

test("what only the service can judge is reported beside what the schema refuses", async () => {
  const whole: Json = imageRequest({
    branding: { primary_color: "red", club_badge_url: "ftp://x/badge.png" },
  });
  Object.assign(whole.player, { name: "\u200b", number: 0, source_image_url: "http://x/photo.jpg" });
  whole.style.background_theme = "a\u0000b";
  whole.metadata = { season: "\u0000", league: 5 };
  const error = await expectError(await post(api.baseUrl, key, whole), "INVALID_REQUEST");
  expect(error.details.map(({ field }: Json) => field).sort()).toEqual([
    "branding.club_badge_url",
    "branding.primary_color",
    "metadata.league",
    "metadata.season",
    "player.name",
    "player.number",
    "player.source_image_url",
    "style.background_theme",
  ]);
  for (const odd of [
    {},
    { player: null },
    { player: "x", branding: [], metadata: "text" },
    { metadata: null },
  ])
    await expectError(await post(api.baseUrl, key, odd), "INVALID_REQUEST");
});

test("of an address that is too long the length is reported", async () => {
  const source_image_url = `https://images.example.org/${"a".repeat(2048)}`;
  const answer = await post(api.baseUrl, key, imageRequest({ player: { source_image_url } }));
  expect((await expectError(answer, "INVALID_REQUEST")).details[0].message).toStartWith(
    "must be text of at most 2048 characters; got",
  );
});

const TEXT_BODIES: Record<string, string | Uint8Array> = {
  nothing: "",
  "white space": "  \n ",
  "half an object": '{"type": ',
  "a trailing comma": '{"type":"player_card",}',
  "single quotes": "{'type':'player_card'}",
  "a comment": '{"type":"player_card"/**/}',
  "two objects": "{}{}",
  NaN: '{"type":NaN}',
  "a byte order mark of UTF-16": new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  "invalid UTF-8": new Uint8Array([...Buffer.from('{"type":"'), 0xc3, 0x28, ...Buffer.from('"}')]),
  "an overlong encoding": new Uint8Array([0x22, 0xc0, 0xaf, 0x22]),
  "a form": "type=player_card",
  "nested arrays without end": "[".repeat(60_000),
  null: "null",
  "a list": "[]",
  "a text": '"x"',
  "a number": "1",
  true: "true",
};

for (const [name, bytes] of Object.entries(TEXT_BODIES)) {
  test(`a body of ${name} is refused`, async () => {
    const error = await expectError(await rawPost(bytes), "INVALID_REQUEST");
    expect(error.details[0].field).toBe("body");
  });
}

function rawPost(bytes: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) {
  return fetch(`${api.baseUrl}/v1/images`, {
    method: "POST",
    headers: {
      "X-API-Key": key,
      "Idempotency-Key": crypto.randomUUID(),
      "Content-Type": "application/json",
      ...headers,
    },
    body: bytes as BodyInit,
  });
}

test("a name that no font can draw whole is refused before anything is charged, with the letters that are missing", async () => {
  const named = (name: string) => post(api.baseUrl, key, imageRequest({ player: { name } }));
  for (const [name, missing] of [
    ["\u{1e900}\u{1e902}\u{1e907}", "U+1E900"], // Adlam
    ["ܡܪܝܡ", "U+0721"], // Syriac
    ["Tom ބޯޯ", "U+0784"], // one word in Thaana
    ["Zoe\u{1dc0}", "U+1DC0"], // a mark
    ["𓀀𓀁", "U+13000"], // hieroglyphs
  ] as [string, string][]) {
    const error = await expectError(await named(name), "INVALID_REQUEST");
    expect(error.details).toEqual([{ field: "player.name", message: expect.stringContaining(missing) }]);
    expect(error.details[0].message).toContain("Latin, Cyrillic, Greek");
  }
  for (const name of [
    "Maya Okafor",
    "Nguyễn",
    "محمد",
    "손흥민",
    "Zoe\u200b\u2066 O’Neil-Łuk",
    "Tom \u{13430}",
  ])
    await expectSuccess(await named(name), 202, AcceptedImageResponse);
});

test("a UTF-8 byte order mark before the body is no fault", async () => {
  const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(imageRequest()))]);
  await expectSuccess(await rawPost(bytes), 202, AcceptedImageResponse);
});

for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
  test(`the field ${name} is refused and changes nothing`, async () => {
    const whole = JSON.stringify(imageRequest()).replace("{", `{"${name}":{"polluted":true},`);
    const error = await expectError(await rawPost(whole), "INVALID_REQUEST");
    expect(error.details).toEqual([{ field: name, message: expect.stringContaining("is not a field") }]);
    expect(({} as Json).polluted).toBeUndefined();
  });
  test(`the metadata key ${name} is a key like any other`, async () => {
    const whole = JSON.stringify(imageRequest()).replace("{", `{"metadata":{"${name}":"x"},`);
    await expectSuccess(await rawPost(whole), 202, AcceptedImageResponse);
    expect(({} as Json).x).toBeUndefined();
  });
}

test("of a field given twice the last counts, and is checked", async () => {
  const twice = (first: string, second: string) =>
    JSON.stringify(imageRequest()).replace('"number":9', `"number":${first},"number":${second}`);
  await expectSuccess(await rawPost(twice('"bad"', "10")), 202, AcceptedImageResponse);
  await expectError(await rawPost(twice("10", '"bad"')), "INVALID_REQUEST");
});

const TYPES: [string, boolean][] = [
  ["application/json", true],
  ["Application/JSON", true],
  ["application/json; charset=utf-8", true],
  ['application/json;charset="UTF-8"', true],
  ["application/json; charset=utf8", true],
  ["application/json; charset=latin1", false],
  ["application/json; charset=utf-16", false],
  ["text/plain", false],
  ["text/json", false],
  ["application/x-www-form-urlencoded", false],
  ["multipart/form-data; boundary=x", false],
  ["application/jsonx", false],
  ["application/problem+json", false],
  ["*/*", false],
];
for (const [type, taken] of TYPES) {
  test(`Content-Type ${type} is ${taken ? "taken" : "refused"}`, async () => {
    const response = await rawPost(JSON.stringify(imageRequest()), { "Content-Type": type });
    if (taken) return void (await expectSuccess(response, 202, AcceptedImageResponse));
    const error = await expectError(response, "UNSUPPORTED_MEDIA_TYPE");
    expect(error.details[0].field).toBe("header Content-Type");
  });
}

test("a body without a Content-Type is refused", async () => {
  const response = await fetch(`${api.baseUrl}/v1/images`, {
    method: "POST",
    headers: { "X-API-Key": key, "Idempotency-Key": "no-type" },
    body: Buffer.from(JSON.stringify(imageRequest())),
  });
  await expectError(response, "UNSUPPORTED_MEDIA_TYPE");
});

const LIMIT = 64 * 1024;

test("a body of exactly 64 KB is read, one byte more is not", async () => {
  const fits = JSON.stringify(imageRequest()).padEnd(LIMIT, " ");
  await expectSuccess(await rawPost(fits), 202, AcceptedImageResponse);
  const error = await expectError(await rawPost(`${fits} `), "PAYLOAD_TOO_LARGE");
  expect(error.message).toContain("64 KB");
});

test("a chunked body is cut off at 64 KB and not read whole", async () => {
  const CHUNK = 16 * 1024;
  let pulled = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      pulled += CHUNK;
      if (pulled > 64 * 1024 * 1024) controller.close();
      else controller.enqueue(new Uint8Array(CHUNK).fill(0x20));
    },
  });
  const response = await rawPost(endless).catch(() => null);
  // The service answers and closes; a client that is still writing may see the close before the answer.
  if (response) await expectError(response, "PAYLOAD_TOO_LARGE");
  expect(pulled).toBeLessThan(32 * 1024 * 1024);
});

test("an announced length over 64 KB is refused before the body comes", async () => {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(api.baseUrl).port),
      socket: {
        open: (socket) =>
          void socket.write(
            `POST /v1/images HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nIdempotency-Key: announced\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n{`,
          ),
        data: (_socket, data) => {
          text += data.toString();
          if (text.includes("\r\n\r\n") && text.includes("docs_url")) resolve(text);
        },
        close: () => resolve(text),
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
  expect(answer).toStartWith("HTTP/1.1 413");
  expect(answer.toLowerCase()).toContain("connection: close");
  expect(answer).toContain("PAYLOAD_TOO_LARGE");
});

const KEYS: [string, string, boolean][] = [
  ["one character", "a", true],
  ["255 characters", "k".repeat(255), true],
  ["every visible character", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", true],
  ["256 characters", "k".repeat(256), false],
  ["nothing", "", false],
  ["a space inside", "a b", false],
  ["letters beyond ASCII", "k\u00e9y", false],
  ["a tab inside", "a\tb", false],
];
for (const [name, value, taken] of KEYS) {
  test(`an Idempotency-Key of ${name} is ${taken ? "taken" : "refused"}`, async () => {
    const response = await post(api.baseUrl, key, imageRequest(), { "Idempotency-Key": value });
    if (taken) return void (await expectSuccess(response, 202, AcceptedImageResponse));
    const error = await expectError(response, "INVALID_REQUEST");
    expect(error.details[0].field).toBe("header Idempotency-Key");
  });
}

test("a missing Idempotency-Key is named together with the body's faults", async () => {
  const response = await fetch(`${api.baseUrl}/v1/images`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify(body("player.number", 0)),
  });
  const error = await expectError(response, "INVALID_REQUEST");
  expect(error.details.map((detail: Json) => detail.field)).toEqual([
    "header Idempotency-Key",
    "player.number",
  ]);
});

test("a refused request leaves nothing behind", async () => {
  const before = await queueDepth(api.store.read, "test");
  for (const value of [0, "9", null, 9.5]) {
    await expectError(await post(api.baseUrl, key, body("player.number", value)), "INVALID_REQUEST");
  }
  expect(await queueDepth(api.store.read, "test")).toEqual(before);
});
