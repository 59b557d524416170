import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { checkUrl, isPublicAddress } from "../../src/sources/address-rules.ts";
import { GuardedHttpError, type GuardedHttpOptions, guardedRequest } from "../../src/sources/guarded-http.ts";
import { ownAddresses } from "../../src/sources/own-addresses.ts";
import { AMPLE_MS } from "./ask.ts";
import { type Canary, serveRaw, startCanary } from "./servers.ts";

const HOSTILE = readFileSync(join(import.meta.dir, "hostile-addresses.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
const REFUSALS = ["bad_url", "not_https", "address_refused"];
const NONE: ReadonlySet<string> = new Set();

let canary: Canary;
beforeAll(async () => {
  canary = await startCanary();
});
afterAll(() => canary.close());

/** What the request failed with; fails the test when it did not. */
async function refusal(url: string, options: GuardedHttpOptions): Promise<GuardedHttpError> {
  const request = {
    method: "GET",
    url,
    timeoutMs: AMPLE_MS,
    maxResponseBytes: 1000,
    maxRedirects: 3,
    onOversize: "fail",
  } as const;
  const outcome = await guardedRequest(request, options).catch((error) => error);
  if (!(outcome instanceof GuardedHttpError)) throw new Error(`${url} was not refused: ${outcome}`);
  return outcome;
}

describe("hostile addresses", () => {
  test("the canary counts whoever really connects", async () => {
    const origin = `http://127.0.0.1:${canary.port}`;
    const error = await refusal(origin, { allowedOrigins: new Set([origin]) });
    expect(error.kind).toBe("protocol");
    expect(await canary.connections()).toBe(1);
    if (!canary.listensOnIpv6) return;
    const overV6 = `http://[::1]:${canary.port}`;
    await refusal(overV6, { allowedOrigins: new Set([overV6]) });
    expect(await canary.connections()).toBe(2);
  });

  test("asked for directly: every one is refused before any name is looked up", async () => {
    const before = await canary.connections();
    const lookedUp: string[] = [];
    const resolve = async (name: string) => {
      lookedUp.push(name);
      return ["127.0.0.1"];
    };
    for (const line of HOSTILE) {
      const url = line.replace("PORT", String(canary.port));
      expect(REFUSALS, line).toContain((await refusal(url, { allowedOrigins: NONE, resolve })).kind);
    }
    expect(lookedUp).toEqual([]);
    expect(await canary.connections()).toBe(before);
  });

  test("reached by a redirect from an allowed origin: refused all the same", async () => {
    const before = await canary.connections();
    let location = "";
    const server = await serveRaw((socket) => {
      socket.write(Buffer.from(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`));
    });
    const options = { allowedOrigins: new Set([server.origin]), resolve: async () => ["127.0.0.1"] };
    for (const line of HOSTILE) {
      location = line.replace("PORT", String(canary.port));
      expect(REFUSALS, line).toContain((await refusal(`${server.origin}/photo`, options)).kind);
    }
    expect(server.requests).toHaveLength(HOSTILE.length);
    expect(await canary.connections()).toBe(before);
    server.close();
  });

  test("hidden behind an innocent name: refused, alone, first or last among public addresses", async () => {
    const before = await canary.connections();
    const literals = HOSTILE.map((line) => URL.parse(line.replace("PORT", "1"))?.hostname ?? "")
      .map((host) => host.replace(/^\[|\]$/g, ""))
      .filter((host) => isIP(host) !== 0);
    expect(literals.length).toBeGreaterThan(50);
    for (const ip of [
      ...literals,
      "fe80::1%eth0",
      "::1%lo",
      "127.1",
      "0177.0.0.1",
      "0x7f.1",
      "2130706433",
      "",
      "x",
    ]) {
      for (const answer of [[ip], [ip, "8.8.8.8"], ["2606:4700::1111", ip]]) {
        const url = `https://innocent.example:${canary.port}/`;
        const { kind } = await refusal(url, { allowedOrigins: NONE, resolve: async () => answer });
        expect(kind, answer.join()).toBe("address_refused");
      }
    }
    expect(await canary.connections()).toBe(before);
  });

  test("text that is no address of its own is refused", () => {
    for (const text of [
      "",
      " ",
      "127.0.0.1:80",
      "/etc/passwd",
      "good.example/x.jpg",
      "https://",
      "https://?x",
    ]) {
      expect(() => checkUrl(text, NONE), text).toThrow(GuardedHttpError);
    }
    expect(() => checkUrl(`https://good.example/${"a".repeat(5000)}`, NONE)).toThrow("longer than");
  });

  test("whether a private name exists cannot be read from the answer", async () => {
    const url = "https://db.company.example/";
    const missing = await refusal(url, {
      allowedOrigins: NONE,
      resolve: async () => {
        throw new Error("ENOTFOUND");
      },
    });
    const present = await refusal(url, { allowedOrigins: NONE, resolve: async () => ["10.0.0.7"] });
    const literal = await refusal("https://10.0.0.7:5432/", { allowedOrigins: NONE });
    const reserved = await refusal("https://metadata.google.internal/", { allowedOrigins: NONE });
    const messages = [missing, present, literal, reserved].map(({ message }) => message);
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).not.toContain("10.0.0.7");
  });
});

test("this machine's own public addresses are refused, by name or number, unless the origin is allowed", async () => {
  const own = () => new Set(["203.0.114.7", "2a00:1450::7"]);
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return host === "v6.example" ? ["2a00:1450::7"] : ["198.41.0.4", "203.0.114.7"];
  };
  const hosts = ["203.0.114.7", "[2a00:1450::7]", "[2a00:1450:0:0::0007]", "v6.example", "both.example"];
  for (const host of hosts) {
    const error = await refusal(`https://${host}/`, { allowedOrigins: NONE, resolve, ownAddresses: own });
    expect([host, error.kind], error.message).toEqual([host, "address_refused"]);
    expect(error.message).toContain("the machine that this service runs on");
  }
  expect(asked).toEqual(["v6.example", "both.example"]);
  // An allowed origin is requested; that nothing listens there is a different error.
  const canaryOff = `http://127.0.0.1:1`;
  const loopback = () => new Set(["127.0.0.1"]);
  const allowed = await refusal(canaryOff, { allowedOrigins: new Set([canaryOff]), ownAddresses: loopback });
  expect(allowed.kind).toBe("connect");
});

test("the machine's own addresses are those of its interfaces", () => {
  const known = Object.values(networkInterfaces()).flatMap((ips = []) => ips.map(({ address }) => address));
  expect([...ownAddresses()].toSorted()).toEqual([...new Set(known)].toSorted());
  expect(ownAddresses().has("127.0.0.1")).toBeTrue();
});

describe("ordinary addresses", () => {
  test.each([
    ["https://photos.example/a.jpg", "photos.example"],
    ["HTTPS://Photos.Example./a.jpg#face", "photos.example"],
    ["https://photos.example:8443/a b.jpg?x=1", "photos.example"],
    ["https://bücher.example/a.jpg", "xn--bcher-kva.example"],
    ["https://8.8.8.8/a.jpg", "8.8.8.8"],
    ["https://[2606:4700::1111]/a.jpg", "2606:4700::1111"],
    ["https://localhost.example.com/", "localhost.example.com"],
    ["https://my-local.club/", "my-local.club"],
  ])("%s is allowed", (url, host) => {
    const checked = checkUrl(url, NONE);
    expect(checked.host).toBe(host);
    expect(checked.trusted).toBe(false);
    expect(checked.url.hash).toBe("");
  });

  test("an allowed origin is exempt from https and public address, not from the rest", () => {
    const allowed = new Set(["http://minio:9000", "https://10.0.0.5:443", "http://[::1]:80"]);
    expect(checkUrl("http://minio:9000/a.jpg", allowed).trusted).toBe(true);
    expect(checkUrl("https://10.0.0.5/a.jpg", allowed).trusted).toBe(true);
    expect(checkUrl("http://[::1]/a.jpg", allowed).host).toBe("::1");
    for (const other of [
      "http://minio:9001/",
      "https://minio:9000/",
      "http://u:p@minio:9000/",
      "https://10.0.0.5:444/",
    ]) {
      expect(() => checkUrl(other, allowed), other).toThrow(GuardedHttpError);
    }
  });

  test.each([
    "1.1.1.1",
    "93.184.215.14",
    "172.15.0.1",
    "172.32.0.1",
    "100.128.0.1",
    "2a00:1450:4001:80b::200e",
    "2001:4860:4860::8888",
  ])("%s is public", (ip) => expect(isPublicAddress(ip)).toBe(true));

  test("no IPv6 address that carries an IPv4 address is public, whichever one it carries", () => {
    fc.assert(
      fc.property(fc.ipV4(), (ipv4) => {
        const hex = ipv4.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
        const tail = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
        const carriers = [`::${tail}`, `::ffff:${tail}`, `::ffff:0:${tail}`, `64:ff9b::${tail}`];
        carriers.push(`64:ff9b:1::${tail}`, `2002:${tail}::1`, `2001:0:${tail}::1`);
        return carriers.every((carrier) => !isPublicAddress(carrier));
      }),
    );
  });
});
