import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:https";
import { connect } from "node:tls";
import { Value } from "@sinclair/typebox/value";
import { ErrorResponse } from "../../src/http/schemas.ts";
import { freePort } from "../../src/service/free-port.ts";
import { type TestApi, testApi } from "../http/api.ts";
import { HOST, PROXIES, startProxy } from "./proxies.ts";

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** Asks through the proxy, over TLS, as a browser of its public name would. */
function ask(port: number, path: string, options: { headers?: Record<string, string>; body?: Buffer } = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const { headers = {}, body } = options;
    const call = request(
      {
        host: "127.0.0.1",
        port,
        path,
        servername: HOST,
        rejectUnauthorized: false,
        agent: false,
        method: body ? "POST" : "GET",
        headers: { Host: HOST, ...headers, ...(body && { "Content-Length": String(body.length) }) },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}

/** What a proxy says to the head of a request whose body never comes. */
async function answered(port: number, head: string): Promise<Answer> {
  const socket = connect({ host: "127.0.0.1", port, servername: HOST, rejectUnauthorized: false });
  socket.write(head);
  let said = "";
  for await (const chunk of socket) {
    said += chunk;
    if (said.endsWith("}")) break;
  }
  const [top = "", text = ""] = said.split("\r\n\r\n");
  const [status = "", ...lines] = top.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]]),
  );
  return { status: Number(status.split(" ")[1]), headers, text };
}

function expectRefusal({ status, headers, text }: Answer, wanted: number, code: string): void {
  expect([status, headers["content-type"]]).toEqual([wanted, "application/json; charset=utf-8"]);
  const body = JSON.parse(text);
  expect([...Value.Errors(ErrorResponse, body)]).toEqual([]);
  expect(body.error).toMatchObject({
    code,
    docs_url: `https://${HOST}/docs/errors/${code}`,
    request_id: headers["x-request-id"],
  });
}

/** Opens a connection, says a part of a request and waits. `closed` resolves when the proxy has enough. */
async function trickle(port: number, text: string) {
  const socket = connect({ host: "127.0.0.1", port, servername: HOST, rejectUnauthorized: false });
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  });
  socket.on("data", () => {});
  await new Promise<void>((resolve) => socket.once("secureConnect", () => resolve()));
  socket.write(text);
  return { closed, end: () => socket.destroy() };
}

for (const proxy of PROXIES) {
  describe.skipIf(Bun.which(proxy.name) === null)(`deploy's ${proxy.name}`, () => {
    let api: TestApi;
    let running: Awaited<ReturnType<typeof startProxy>>;
    let port: number;
    beforeAll(async () => {
      api = await testApi({ env: { CARDPRESS_BASE_URL: `https://${HOST}` } });
      port = await freePort("127.0.0.1");
      const upstream = Number(new URL(api.baseUrl).port);
      running = await startProxy(proxy, { port, upstream }, proxy.strict);
    });
    afterAll(async () => {
      await running.stop();
      await api.close();
    });

    test("passes the service on over TLS, and keeps what is for operators inside", async () => {
      const live = await ask(port, "/live");
      expect([live.status, live.headers["strict-transport-security"]]).toEqual([200, "max-age=31536000"]);
      expect((await ask(port, "/docs/openapi.json")).status).toBe(200);
      for (const path of ["/metrics", "/ready"]) expect((await ask(port, path)).status).toBe(404);
    });

    test("passes on the client's own address, whatever the client claims", async () => {
      const remaining = async (claimed: string) => {
        const { headers } = await ask(port, "/v1/usage", {
          headers: { "X-Forwarded-For": claimed, "X-API-Key": "sk_live_wrong" },
        });
        return Number(headers["x-ratelimit-remaining"]);
      };
      const first = await remaining("203.0.113.1");
      expect([await remaining("203.0.113.2"), await remaining("203.0.113.3")]).toEqual([
        first - 1,
        first - 2,
      ]);
    });

    test("lets the service refuse a body that is too long for a create, and refuses itself what no photo is", async () => {
      const headers = { "Content-Type": "application/json", "X-API-Key": "sk_live_wrong" };
      const small = await ask(port, "/v1/images", { headers, body: Buffer.alloc(100_000, "a") });
      expect(small.status).toBe(401);
      expect(JSON.parse(small.text).error.code).toBe("INVALID_API_KEY");
      const huge = await ask(port, "/v1/images", { headers, body: Buffer.alloc(17 * 2 ** 20) }).catch(
        () => undefined,
      );
      // An answer before all of it is sent closes the connection, which some clients see as a broken one.
      // Caddy passes on what the service says before it has read as much, and calls its own refusal 502
      // before version 2.7.
      expect([undefined, 413, ...(proxy.name === "caddy" ? [401, 502] : [])]).toContain(huge?.status);
    });

    test("cuts off clients that send their request too slowly", async () => {
      const head = await trickle(port, `GET /live HTTP/1.1\r\nHost: ${HOST}\r\nX-Slow: `);
      const body = await trickle(
        port,
        `POST /v1/images HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 9\r\n\r\n{`,
      );
      await Promise.all([head.closed, body.closed]);
      expect((await ask(port, "/live")).status).toBe(200);
    });

    test.if(proxy.name === "nginx")("answers what it refuses itself as the API does", async () => {
      // What is too long is refused by its head.
      const long = await answered(
        port,
        `POST /v1/photos HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 17000000\r\n\r\n`,
      );
      expectRefusal(long, 413, "PAYLOAD_TOO_LARGE");
      const start = `POST /v1/images HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 9\r\n\r\n{`;
      const held = [await trickle(port, start), await trickle(port, start)];
      const many = await ask(port, "/v1/usage");
      for (const each of held) each.end();
      expectRefusal(many, 429, "RATE_LIMIT_EXCEEDED");
      expect(many.headers["retry-after"]).toBe("1");
    });

    test.if(proxy.name === "nginx")("bounds the connections of one client", async () => {
      const start = `POST /v1/images HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 9\r\n\r\n{`;
      const held = [await trickle(port, start), await trickle(port, start)];
      expect((await ask(port, "/live")).status).toBe(429);
      for (const each of held) each.end();
    });
  });
}
