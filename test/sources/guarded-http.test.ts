import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { guardedRequest } from "../../src/sources/guarded-http.ts";
import type { GuardedHttpError } from "../../src/sources/guarded-http-error.ts";
import { AMPLE_MS, expectKind, get, LOOPBACK, text } from "./ask.ts";
import { head, serveRaw, serveSilence, startCanary, TEST_AUTHORITY } from "./servers.ts";

const SHORT_MS = 80;
/** A limit that a busy machine keeps, and a stop far beyond it. */
const KEPT_MS = 3_000;
const STILL_MS = 5_500;

const servers: { close: () => void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
async function using<T extends { close: () => void }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  servers.push(server);
  return server;
}

describe("the connection", () => {
  test("goes to the looked-up address, with the name in Host and the certificate checked against it", async () => {
    const server = await using(serveRaw((socket) => socket.end(`${head(200)}ok`), "photos.example"));
    const answer = await get(server, { url: `${server.origin}/photo.jpg?size=big#face` });
    expect({ ...answer, body: text(answer.body) }).toEqual({
      status: 200,
      headers: {},
      body: "ok",
      url: `${server.origin}/photo.jpg?size=big`,
    });
    expect(server.requests[0]).toStartWith("GET /photo.jpg?size=big HTTP/1.1\r\n");
    expect(server.requests[0]).toContain(`Host: photos.example:${server.port}\r\n`);
    expect(server.requests[0]).toContain("Accept-Encoding: identity\r\n");
  });

  test("stays at the checked address when the name changes its mind", async () => {
    const canary = await using(startCanary());
    let lookUps = 0;
    // A routed-nowhere address of the public range first, this machine at every later look-up.
    const resolve = async () => (++lookUps === 1 ? ["3ffe::1"] : ["127.0.0.1"]);
    const request = { method: "GET", maxResponseBytes: 1_000, maxRedirects: 3, onOversize: "fail" } as const;
    const answer = guardedRequest(
      { ...request, url: `https://rebind.example:${canary.port}/`, timeoutMs: SHORT_MS },
      { allowedOrigins: new Set(), resolve },
    );
    const error = await answer.catch((cause) => cause);
    expect(["connect", "timeout"]).toContain(error.kind);
    expect(lookUps).toBe(1);
    expect(await canary.connections()).toBe(0);
  });

  test("is looked up and checked anew at every hop", async () => {
    const canary = await using(startCanary());
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const server = await using(
      serveRaw(
        (socket) => socket.end(head(302, { Location: `https://photos.example:${canary.port}/` })),
        "photos.example",
      ),
    );
    await expectKind(get(server, {}, { resolve: async () => answers.shift() ?? [] }), "address_refused");
    expect(answers).toEqual([]);
    expect(await canary.connections()).toBe(0);
  });

  test("uses the next address when the first does not answer", async () => {
    const server = await using(serveRaw((socket) => socket.end(`${head(200)}ok`), "photos.example"));
    const answer = await get(server, {}, { resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    expect(text(answer.body)).toBe("ok");
  });

  test("ignores the proxies and the TLS switch of the environment", async () => {
    const proxy = await using(startCanary());
    const server = await using(serveRaw((socket) => socket.end(`${head(200)}ok`), "photos.example"));
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const script = `
      import { guardedRequest } from ${JSON.stringify(`${import.meta.dir}/../../src/sources/guarded-http.ts`)};
      const ask = (ca) => guardedRequest(
        { method: "GET", url: "${server.origin}/", timeoutMs: 10000, maxResponseBytes: 100, maxRedirects: 0, onOversize: "fail" },
        { allowedOrigins: new Set(["${server.origin}"]), resolve: async () => ["127.0.0.1"], ...ca },
      ).then(({ status }) => status, ({ kind }) => kind);
      console.log(await ask({ ca: ${JSON.stringify(TEST_AUTHORITY)} }), await ask({}));`;
    const env = Object.fromEntries(
      ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxyUrl]),
    );
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: {
        ...process.env,
        ...env,
        NO_PROXY: "",
        NODE_USE_ENV_PROXY: "1",
        NODE_TLS_REJECT_UNAUTHORIZED: "0",
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect((await new Response(child.stdout).text()).trim()).toBe("200 tls");
    expect(await proxy.connections()).toBe(0);
  });
});

describe("TLS", () => {
  const unknownAuthority = "comes from no known authority";
  test.each([
    ["self-signed", { ca: TEST_AUTHORITY }, unknownAuthority],
    ["photos.example", {}, unknownAuthority],
    ["expired", { ca: TEST_AUTHORITY }, "has expired"],
  ] as const)("a certificate %s with %o is refused", async (certificate, ca, message) => {
    const server = await using(serveRaw((socket) => socket.end(`${head(200)}ok`), certificate));
    const request = {
      method: "GET",
      timeoutMs: AMPLE_MS,
      maxResponseBytes: 100,
      maxRedirects: 0,
      onOversize: "fail",
    } as const;
    const options = { allowedOrigins: new Set([server.origin]), resolve: LOOPBACK, ...ca };
    const error = await expectKind(guardedRequest({ ...request, url: server.origin }, options), "tls");
    expect(error.message).toContain(message);
    expect(server.requests).toEqual([]);
  });

  test("a certificate for another name is refused", async () => {
    const server = await using(serveRaw((socket) => socket.end(`${head(200)}ok`), "photos.example"));
    for (const host of ["other.example", "127.0.0.1"]) {
      const origin = `https://${host}:${server.port}`;
      const error = await expectKind(
        get(server, { url: origin }, { allowedOrigins: new Set([origin]) }),
        "tls",
      );
      expect(error.message).toContain("belongs to another host name");
    }
    expect(server.requests).toEqual([]);
  });

  test("a server that does not speak TLS is refused", async () => {
    const server = await using(serveSilence("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const error = await expectKind(get(server), "tls");
    expect(error.message).toContain("No secure connection");
  });
});

describe("the time limit covers", () => {
  test("a name look-up that never ends", async () => {
    const server = await using(serveRaw(() => {}, "photos.example"));
    await expectKind(
      get(server, { timeoutMs: SHORT_MS }, { resolve: () => new Promise(() => {}) }),
      "timeout",
    );
  });

  test("a TLS handshake that never ends; the connection is closed", async () => {
    const server = await using(serveSilence());
    await expectKind(get(server, { timeoutMs: SHORT_MS }), "timeout");
    await server.firstClosed;
  });

  test("headers that never come", async () => {
    const server = await using(serveRaw(() => {}));
    await expectKind(get(server, { timeoutMs: SHORT_MS }), "timeout");
    await server.firstClosed;
  });

  test("no time in which this process stood still: what came meanwhile is read", async () => {
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200));
        setImmediate(() => {
          // As after a stop signal: when it goes on, the limit is long over.
          Bun.sleepSync(STILL_MS);
          socket.end("ok");
        });
      }),
    );
    expect(text((await get(server, { timeoutMs: KEPT_MS })).body)).toBe("ok");
  });

  test("headers and bodies that drip, although each byte comes in time", async () => {
    const drip = (socket: Socket, opening: string) => {
      socket.write(opening);
      const timer = setInterval(() => socket.write("a"), 5);
      socket.on("close", () => clearInterval(timer));
    };
    for (const opening of ["HTTP/1.1 200 OK\r\nX: ", head(200, { "Content-Length": 900 })]) {
      const server = await using(serveRaw((socket) => drip(socket, opening)));
      await expectKind(get(server, { timeoutMs: SHORT_MS }), "timeout");
      await server.firstClosed;
    }
  });

  test("all redirects together", async () => {
    const server = await using(
      serveRaw((socket, request) => {
        if (request.startsWith("GET /photo.jpg")) socket.end(head(302, { Location: "/slow" }));
      }),
    );
    // A limit within which a busy machine comes as far as the second hop.
    let timeoutMs = SHORT_MS;
    do {
      server.requests.length = 0;
      timeoutMs *= 2;
      await expectKind(get(server, { timeoutMs }), "timeout");
    } while (server.requests.length < 2);
    expect(server.requests).toHaveLength(2);
  });

  test("nothing once the caller gives up: before, or in the middle", async () => {
    const connected = Promise.withResolvers<void>();
    const server = await using(serveRaw(() => connected.resolve()));
    await expectKind(get(server, { signal: AbortSignal.abort() }), "aborted");
    expect(server.requests).toEqual([]);
    const controller = new AbortController();
    const answer = get(server, { signal: controller.signal });
    await connected.promise;
    controller.abort();
    await expectKind(answer, "aborted");
    await server.firstClosed;
  });
});

describe("the size limit", () => {
  const endless = (opening: string) =>
    serveRaw((socket) => {
      socket.write(opening);
      const pour = () => {
        while (socket.writable && socket.write("a".repeat(10_000)));
      };
      socket.on("drain", pour);
      pour();
    });

  test("refuses by Content-Length before the body, and names the size", async () => {
    const server = await using(serveRaw((socket) => socket.write(head(200, { "Content-Length": 1_001 }))));
    expect((await expectKind(get(server), "too_large")).declaredBytes).toBe(1_001);
    await server.firstClosed;
  });

  test("stops an endless body without length", async () => {
    const server = await using(endless(head(200)));
    await expectKind(get(server), "too_large");
    await server.firstClosed;
  });

  test("stops an endless chunked body", async () => {
    const server = await using(endless(`${head(200, { "Transfer-Encoding": "chunked" })}ffffffff\r\n`));
    await expectKind(get(server), "too_large");
    await server.firstClosed;
  });

  test("stops a body that comes in pieces of a byte, long before its bytes are too many", async () => {
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200, { "Transfer-Encoding": "chunked" }));
        const pieces = "1\r\nA\r\n".repeat(1_000);
        const go = () => {
          while (!socket.destroyed && socket.write(pieces)) {}
        };
        socket.on("drain", go);
        go();
      }),
    );
    const error = await expectKind(get(server, { maxResponseBytes: 15 << 20 }), "protocol");
    expect(error.message).toContain("pieces of a few bytes");
    await server.firstClosed;
  });

  test("lets a body of unknown length grow to it, piece by piece", async () => {
    const piece = "0123456789".repeat(20);
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200, { "Transfer-Encoding": "chunked" }));
        for (let n = 0; n < 2_000; n++) socket.write(`c8\r\n${piece}\r\n`);
        socket.end("0\r\n\r\n");
      }),
    );
    const { body } = await get(server, { maxResponseBytes: 400_000 });
    expect(text(body)).toBe(piece.repeat(2_000));
    await expectKind(get(server, { maxResponseBytes: 399_999 }), "too_large");
  });

  test("cuts off instead when asked to", async () => {
    const server = await using(endless(head(200, { "Content-Length": 1_000_000 })));
    expect((await get(server, { onOversize: "truncate" })).body).toHaveLength(1_000);
    await server.firstClosed;
  });

  test("allows exactly the limit", async () => {
    const server = await using(serveRaw((socket) => socket.end(head(200) + "a".repeat(1_000))));
    expect((await get(server)).body).toHaveLength(1_000);
  });

  test("holds for what is sent, since nothing is inflated", async () => {
    const bomb = gzipSync(Buffer.alloc(500_000));
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200, { "Content-Encoding": "gzip", "Content-Length": bomb.length }));
        socket.end(bomb);
      }),
    );
    expect(Buffer.from((await get(server)).body)).toEqual(bomb);
  });
});

describe("an answer that is not as HTTP wants it", () => {
  test.each([
    ["shorter than its Content-Length", `${head(200, { "Content-Length": 100 })}abc`],
    ["cut off inside a chunk", `${head(200, { "Transfer-Encoding": "chunked" })}5\r\nabc`],
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["nothing at all", ""],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${`X: ${"a".repeat(1_000)}\r\n`.repeat(1_000)}`],
    ["a switch of protocols", head(101, { Upgrade: "x", Connection: "upgrade" })],
    ["an unreadable redirect", head(302, { Location: "https://[::" })],
  ])("is refused: %s", async (_, bytes) => {
    const server = await using(serveRaw((socket) => socket.end(bytes)));
    const { kind } = (await get(server).catch((error) => error)) as GuardedHttpError;
    expect(["protocol", "bad_url"]).toContain(kind);
  });

  test("is refused: interim answers without end", async () => {
    const interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    const server = await using(serveRaw((socket) => socket.write(interim.repeat(9))));
    await expectKind(get(server), "protocol");
    const patient = await using(serveRaw((socket) => socket.end(`${interim.repeat(8)}${head(200)}ok`)));
    expect(text((await get(patient)).body)).toBe("ok");
  });

  test("but bytes after a complete answer are only ignored", async () => {
    const server = await using(
      serveRaw((socket) => socket.end(`${head(200, { "Content-Length": 3 })}abcdefgh`)),
    );
    expect(text((await get(server)).body)).toBe("abc");
  });

  test("a closed port is a failed connection", async () => {
    const server = await serveRaw(() => {});
    server.close();
    await expectKind(get(server), "connect");
  });
});

test("a POST carries its body and length, and any status is an answer", async () => {
  const server = await using(
    serveRaw((socket) => socket.end(`${head(410, { "X-A": "1" })}gone`), "photos.example"),
  );
  const answer = await get(server, {
    method: "POST",
    body: '{"ü":1}',
    headers: { "Content-Type": "application/json" },
  });
  expect([answer.status, text(answer.body), answer.headers["x-a"]]).toEqual([410, "gone", "1"]);
  expect(server.requests[0]).toMatch(/^POST \/photo\.jpg HTTP\/1\.1\r\n/);
  expect(server.requests[0]).toMatch(/content-length: 8\r\n/i);
});

test("an answer that announces a body it may not have comes with none", async () => {
  const server = await using(serveRaw((socket) => socket.end(head(304, { "Content-Length": 500 }))));
  expect(await get(server)).toMatchObject({ status: 304, body: new Uint8Array(0) });
});

test("the head can end a request before its body is read", async () => {
  const server = await using(serveRaw((socket) => socket.write(head(200, { "Content-Length": 500 }))));
  const onHead = () => {
    throw new RangeError("not this one");
  };
  await expect(get(server, { onHead })).rejects.toThrow(RangeError);
  await server.firstClosed;
});
