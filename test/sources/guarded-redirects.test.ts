import { afterEach, describe, expect, test } from "bun:test";
import { expectKind, get, text } from "./ask.ts";
import { head, serveRaw } from "./servers.ts";

const servers: { close: () => void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
async function using<T extends { close: () => void }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  servers.push(server);
  return server;
}

describe("redirects", () => {
  /** Counts down in the path: `/2` redirects to `/1`, that to `/0`, which answers. */
  const countdown = (status: number) =>
    serveRaw((socket, request) => {
      const left = Number(request.split(" ")[1]?.slice(1));
      socket.end(left > 0 ? head(status, { Location: `/${left - 1}` }) : `${head(200)}arrived`);
    });

  test.each([301, 302, 303, 307, 308])("%d is followed three times, not four", async (status) => {
    const server = await using(countdown(status));
    const answer = await get(server, { url: `${server.origin}/3` });
    expect([text(answer.body), answer.url]).toEqual(["arrived", `${server.origin}/0`]);
    const error = await expectKind(get(server, { url: `${server.origin}/4` }), "too_many_redirects");
    expect(error.message).toContain("more than 3 times");
    expect(server.requests).toHaveLength(8);
  });

  test("a loop ends at the limit", async () => {
    const server = await using(serveRaw((socket) => socket.end(head(302, { Location: "/photo.jpg" }))));
    await expectKind(get(server), "too_many_redirects");
    expect(server.requests).toHaveLength(4);
  });

  test("are handed back when none is wanted, and always for POST", async () => {
    const server = await using(countdown(307));
    const none = await get(server, { url: `${server.origin}/2`, maxRedirects: 0 });
    expect([none.status, none.headers.location]).toEqual([307, "/1"]);
    const posted = await get(server, { url: `${server.origin}/2`, method: "POST", body: "{}" });
    expect(posted.status).toBe(307);
    expect(server.requests).toHaveLength(2);
  });

  test("from an allowed origin to one that is not on the list are refused", async () => {
    const other = await using(serveRaw((socket) => socket.end(`${head(200)}secret`)));
    const server = await using(serveRaw((socket) => socket.end(head(302, { Location: `${other.origin}/` }))));
    await expectKind(get(server), "not_https");
    expect(other.requests).toEqual([]);
  });

  test("leave secrets behind when the origin changes", async () => {
    const other = await using(serveRaw((socket) => socket.end(`${head(200)}ok`)));
    const server = await using(serveRaw((socket) => socket.end(head(302, { Location: `${other.origin}/` }))));
    const headers = { Authorization: "Bearer x", cookie: "a=b", "X-Kept": "1" };
    await get(server, { headers }, { allowedOrigins: new Set([server.origin, other.origin]) });
    expect(server.requests[0]).toContain("Authorization: Bearer x");
    expect(other.requests[0]).not.toMatch(/authorization|cookie/i);
    expect(other.requests[0]).toContain("X-Kept: 1");
  });

  test("may be written in unescaped UTF-8", async () => {
    const server = await using(
      serveRaw((socket, request) => {
        const first = request.startsWith("GET /photo.jpg");
        socket.end(
          Buffer.from(first ? "HTTP/1.1 302 Found\r\nLocation: /Fußball.jpg\r\n\r\n" : `${head(200)}ok`),
        );
      }),
    );
    expect((await get(server)).url).toBe(`${server.origin}/Fu%C3%9Fball.jpg`);
  });
});
