import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { DISCARD_IDLE_MS } from "../../src/core/limits.ts";
import { discardBody, readBounded } from "../../src/http/body.ts";
import { AcceptedImageResponse, ImageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import {
  expectError,
  expectStandardHeaders,
  expectSuccess,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

// What no good client sends: written to the socket by hand, because a good client would correct it.

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await testApi();
  key = (await testAccount(api)).testKey;
});
afterAll(() => api.close());

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Writes the pieces to one connection and reads until the service closes it or the answer is whole. */
function converse(pieces: string[], options: { hangUp?: boolean } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(api.baseUrl).port),
      socket: {
        open: (socket) => {
          for (const piece of pieces) socket.write(piece);
          if (options.hangUp) socket.end();
        },
        data: (socket, data) => {
          answer += data.toString();
          const [head = "", body = ""] = answer.replace(CONTINUE, "").split("\r\n\r\n");
          if (/content-length: (\d+)/i.exec(head)?.[1] === String(Buffer.byteLength(body))) socket.end();
        },
        close: () => resolve(answer),
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
}

async function listImages({ store: { read } }: TestApi) {
  return read.db.select({ id: read.t.images.id }).from(read.t.images);
}

/** The answer's parts as a client's library would give them. */
function parsed(answer: string): Response {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const [name = "", ...value] = line.split(": ");
    return [name, value.join(": ")];
  });
  return new Response(body, { status: Number(status.split(" ")[1]), headers });
}

for (const host of ["", "a b<>", "cards.example.org:99999", "[::1", "a/b\\c", "%zz"]) {
  for (const [method, path] of [
    ["GET", "/v1/usage?period=current_month"],
    ["POST", "/v1/images"],
    ["GET", "/docs"],
  ] as const) {
    test(`${method} ${path} with the Host "${host}" is refused in the envelope, and shows no source code`, async () => {
      const answer = await converse([
        `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\nContent-Length: 0\r\n\r\n`,
      ]);
      expect(answer).not.toMatch(/server\.ts|<html|stack/i);
      const error = await expectError(parsed(answer), "INVALID_REQUEST");
      expect(error.details[0].field).toBe("header Host");
    });
  }
}

const head = (...headers: string[]) =>
  [
    "POST /v1/images HTTP/1.1",
    "Host: cards.example.org",
    `X-API-Key: ${key}`,
    `Idempotency-Key: ${crypto.randomUUID()}`,
    "Content-Type: application/json",
    ...headers,
    "\r\n",
  ].join("\r\n");
const BODY = JSON.stringify(imageRequest());
const half = BODY.length >> 1;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

test("a body in chunks, in pieces, after a 100 Continue, or with headers in any case is read whole", async () => {
  const length = `Content-Length: ${BODY.length}`;
  for (const pieces of [
    [head("Transfer-Encoding: chunked"), chunk(BODY.slice(0, half)), chunk(BODY.slice(half)), "0\r\n\r\n"],
    [head(length), BODY.slice(0, half), BODY.slice(half)],
    [
      head(length)
        .toLowerCase()
        .replace(key.toLowerCase(), key)
        .replace("post", "POST")
        .replace("http", "HTTP"),
      BODY,
    ],
  ]) {
    await expectSuccess(parsed(await converse(pieces)), 202, AcceptedImageResponse);
  }
  const answer = await converse([head(length, "Expect: 100-continue"), BODY]);
  expect(answer).toStartWith(`${CONTINUE}HTTP/1.1 202 Accepted`);
});

for (const coding of ["gzip", "br", "deflate", "identity, gzip"]) {
  test(`a body in ${coding} is refused by name`, async () => {
    const response = await post(api.baseUrl, key, imageRequest(), { "Content-Encoding": coding });
    const error = await expectError(response, "UNSUPPORTED_MEDIA_TYPE");
    expect(error.details[0].field).toBe("header Content-Encoding");
  });
}

test("a header that must be given once is refused when it is given twice", async () => {
  for (const [name, field, code] of [
    ["Idempotency-Key: second", "header Idempotency-Key", "INVALID_REQUEST"],
    ["Content-Type: text/plain", "header Content-Type", "UNSUPPORTED_MEDIA_TYPE"],
  ] as const) {
    const response = parsed(await converse([head(`Content-Length: ${BODY.length}`, name), BODY]));
    expect((await expectError(response, code)).details[0].field).toBe(field);
  }
});

/** Sends everything before it listens, as simple clients do; resolves with the answer's first line. */
function sendAllFirst(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(api.baseUrl).port) });
    socket.pause();
    socket.on("error", reject);
    socket.write(text, () => {
      socket.once("data", (data) => {
        socket.destroy();
        resolve(data.toString().split("\r\n")[0] ?? "");
      });
      socket.resume();
    });
  });
}

const LONG = "x".repeat(8 * 1024 * 1024);
for (const [name, headers, body] of [
  ["announced", `Content-Length: ${LONG.length}`, LONG],
  ["in chunks", "Transfer-Encoding: chunked", `${chunk(LONG)}0\r\n\r\n`],
] as const) {
  test(`whoever sends 8 MB before listening, ${name}, still reads the refusal`, async () => {
    expect(await sendAllFirst(head(headers) + body)).toStartWith("HTTP/1.1 413");
    expect(await sendAllFirst(head(headers).replace(key, "sk_live_wrong") + body)).toStartWith(
      "HTTP/1.1 401",
    );
  });
}

test("whoever asked for 100 Continue before sending 16 MB reads the refusal, not a broken connection", async () => {
  const bytes = Buffer.alloc(16 * 1024 * 1024);
  const refused = await new Promise<string>((resolve, reject) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(api.baseUrl).port) });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
    socket.on("data", (data) => {
      answer += data.toString();
      if (!answer.startsWith(CONTINUE) || socket.bytesWritten > bytes.length) return;
      // As curl does: it listens again once all is sent.
      socket.pause();
      socket.write(bytes, () => socket.resume());
    });
    socket.write(head(`Content-Length: ${bytes.length}`, "Expect: 100-continue"));
  });
  expect(refused).toStartWith(`${CONTINUE}HTTP/1.1 413`);
});

test("what arrives while the service itself stands still is not taken for a client that went silent", async () => {
  let body: ReadableStreamDefaultController<Uint8Array> | undefined;
  const bytes = new ReadableStream<Uint8Array>({
    start: (controller) => {
      body = controller;
      controller.enqueue(new Uint8Array(1));
    },
  });
  const isOver = discardBody(new Request("https://x/", { method: "POST", body: bytes }));
  const turn = () => new Promise((resolve) => setTimeout(resolve));
  await turn();
  Bun.sleepSync(2 * DISCARD_IDLE_MS);
  // As sockets are: read after the timers that are due by now.
  await turn();
  body?.enqueue(new Uint8Array(1));
  body?.close();
  expect(await isOver).toBe(true);
});

/** More than what is discarded and what the system's buffers hold. */
const FAR_TOO_MUCH = 128 * 1024 * 1024;

/** Sends without end. Resolves with how much went before the service hung up; "endless" when it never did. */
function flood(text: string, piece: string): Promise<number | "endless"> {
  const bytes = Buffer.from(piece);
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(api.baseUrl).port) });
    let sent = 0;
    const end = (how: number | "endless") => {
      socket.destroy();
      resolve(how);
    };
    const push = () => {
      while (!socket.destroyed) {
        if (sent > FAR_TOO_MUCH) return end("endless");
        sent += bytes.length;
        if (!socket.write(bytes)) return void socket.once("drain", push);
      }
    };
    // Read, as a client would: what came before the end is no matter here.
    socket.on("data", () => {});
    socket.on("error", () => end(sent));
    socket.on("close", () => end(sent));
    socket.write(text);
    push();
  });
}

const ENDLESS = "Transfer-Encoding: chunked";
for (const line of [
  "POST /v1/images",
  "POST /v1/nothing",
  "PUT /live",
  "GET /live",
  "HEAD /docs",
  "POST /console/sign-in",
]) {
  test(`${line} with a body that never ends is cut, in large pieces and in single bytes`, async () => {
    const text = `${line} HTTP/1.1\r\nHost: cards.example.org\r\n`;
    const byBytes = chunk("A").repeat(10_000);
    expect(await flood(`${text}${ENDLESS}\r\n\r\n`, chunk("x".repeat(65_536)))).toBeNumber();
    // Long before as many bytes: each costs more than a large piece.
    expect(await flood(`${text}${ENDLESS}\r\n\r\n`, byBytes)).toBeLessThan(16 * 1024 * 1024);
    expect(await flood(`${text}Content-Length: 99999999999\r\n\r\n`, "x".repeat(65_536))).toBeNumber();
  });
}

test("a refused request whose body is over keeps its connection", async () => {
  const refused = head(`Content-Length: ${BODY.length}`).replace(key, "sk_live_wrong") + BODY;
  const answer = await converse([refused]);
  expect(answer).toStartWith("HTTP/1.1 401");
  expect(answer).not.toMatch(/connection: close/i);
});

for (const [name, line, field] of [
  ["a second Host", "Host: other.example", "header Host"],
  ["fields announced to follow the body", "Trailer: X-Checksum", "header Trailer"],
] as const) {
  test(`${name} is refused, accepts nothing, and ends the connection`, async () => {
    const before = (await listImages(api)).length;
    const text = head(`Content-Length: ${BODY.length}`, line) + BODY;
    const answer = await converse([text]);
    expect(answer).toMatch(/connection: close/i);
    expect((await expectError(parsed(answer), "INVALID_REQUEST")).details[0].field).toBe(field);
    expect((await listImages(api)).length).toBe(before);
  });
}

test("what follows a body in chunks is never taken for another request", async () => {
  for (const rest of ["", "XX", "X-Sum: 1\r\n", "X-Sum: 1\r\n\r\n"]) {
    const before = api.lines.length;
    const smuggled = `GET /v1/smuggled HTTP/1.1\r\nHost: cards.example.org\r\n\r\n`;
    await converse([head(ENDLESS), chunk(BODY), `0\r\n${rest}`, smuggled]);
    await send(api, "/live");
    expect(api.lines.slice(before).join("\n")).not.toContain("smuggled");
  }
});

test("a client that hangs up in the middle of its body is no fault of the service", async () => {
  const before = api.lines.length;
  await converse([head("Content-Length: 500"), '{"type":'], { hangUp: true });
  await expectSuccess(await post(api.baseUrl, key, imageRequest()), 202, AcceptedImageResponse);
  const said = api.lines.slice(before).join("\n");
  expect(said).not.toContain("request_failed");
  expect(said).not.toContain('"status":500');
});

test("a body in single bytes is given up by name, long before its limit of bytes", async () => {
  let pieces = 0;
  const bytes = new ReadableStream({
    pull: (controller) => {
      pieces += 1;
      controller.enqueue(new Uint8Array(1));
    },
  });
  const request = new Request("https://x/", { method: "POST", body: bytes });
  const field = { field: "body", message: expect.stringContaining("pieces of a few bytes each") };
  await expect(readBounded(request)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    headers: { Connection: "close" },
    details: [field],
  });
  expect(pieces).toBeLessThan(2_000);
});

test("a body in pieces of any larger size is read whole into one buffer", async () => {
  const piece = new Uint8Array(700).fill(7);
  let left = 3_000;
  const bytes = new ReadableStream({
    pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
  });
  const request = new Request("https://x/", { method: "POST", body: bytes });
  const body = await readBounded(request, 60_000, 3_000 * 700);
  expect(body).toEqual(new Uint8Array(3_000 * 700).fill(7));
});

test("a body that never ends is given up, by name", async () => {
  const cancelled = Promise.withResolvers<void>();
  const endless = new ReadableStream({ cancel: () => cancelled.resolve() });
  const request = new Request("https://x/", { method: "POST", body: endless });
  await expect(readBounded(request, 1)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    headers: { Connection: "close" },
    details: [{ field: "body", message: "must arrive within 0.001 s." }],
  });
  await cancelled.promise;
});

for (const [method, path] of [
  ["GET", "/v1/nothing"],
  ["POST", "/v1/usage"],
  ["DELETE", "/v1/usage"],
] as const) {
  test(`${method} ${path} counts against the account's budget and reports it; a wrong key is 401 there too`, async () => {
    const { liveKey } = await testAccount(api, { tier: "starter" });
    const ask = (given: string) => send(api, path, { method, headers: { "X-API-Key": given } });
    for (const remaining of [119, 118]) {
      expect(expectStandardHeaders(await ask(liveKey))).toMatchObject({ limit: 120, remaining });
    }
    await expectError(await ask("sk_live_wrong"), "INVALID_API_KEY");
    expect((await send(api, path, { method })).status).toBe(method === "GET" ? 404 : 405);
  });
}

test("HEAD has the length that GET would have", async () => {
  for (const path of ["/v1/images", "/v1/nothing", "/docs", "/docs/assets/card.webp", "/live"]) {
    const headers = { "X-API-Key": key };
    const { length } = await (await send(api, path, { headers })).bytes();
    const response = await send(api, path, { method: "HEAD", headers });
    expect({ path, length: response.headers.get("content-length") }).toEqual({
      path,
      length: String(length),
    });
  }
});

test("HEAD of an archive makes none, and promises no length", async () => {
  const own = await testAccount(api);
  const made = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": own.testKey, "Content-Type": "application/json" },
    body: JSON.stringify({ cards: [imageRequest()] }),
  });
  const { data } = (await made.json()) as Json;
  const head = await send(api, data.pictures_url, { method: "HEAD", headers: { "X-API-Key": own.testKey } });
  expect([head.status, head.headers.get("content-type")]).toEqual([200, "application/zip"]);
  expect(head.headers.get("content-length")).toBeNull();
});

test("a name, an identifier and metadata of the longest kind make a card, in characters of two code units as well", async () => {
  const body = imageRequest({
    player: { external_id: "😀".repeat(255), name: "😀".repeat(100) },
    metadata: { mood: "😀".repeat(256) },
  });
  const { testKey } = await testAccount(api);
  const accepted = await expectSuccess(await post(api.baseUrl, testKey, body), 202, AcceptedImageResponse);
  const ask = async () =>
    expectSuccess(
      await send(api, accepted.poll_url, { headers: { "X-API-Key": testKey } }),
      200,
      ImageResponse,
    );
  let view = await ask();
  for (; view.status === "processing"; view = await ask()) {
    await renderNextTestImage(api, new AbortController().signal, () => {});
  }
  expect(view.status).toBe("completed");
});
