import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAILED_LOOKUP_KEPT_MS } from "../../src/core/outbound-limits.ts";
import {
  createNameLookup,
  type LookupRequest,
  type NameLookupOptions,
} from "../../src/sources/name-lookup.ts";
import { type DnsAnswer, type DnsServer, dnsServer, NXDOMAIN } from "./dns-server.ts";

const dir = mkdtempSync(join(tmpdir(), "cardpress-names-"));
const hostsFile = join(dir, "hosts");
const resolvConf = join(dir, "resolv.conf");
const servers: DnsServer[] = [];
const given = new AbortController();
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

async function world(answer: (name: string, type: string) => DnsAnswer, options: NameLookupOptions = {}) {
  const server = await dnsServer(answer);
  servers.push(server);
  const lookup = createNameLookup({ servers: [server.address], hostsFile, resolvConf, ...options });
  const ask = (name: string, request: Partial<LookupRequest> = {}) =>
    lookup(name, { signal: given.signal, trusted: false, ...request });
  return { server, ask };
}

const ALIVE = { a: ["93.184.216.34"] };
const kindOf = (error: { kind: string; message: string }) => error.kind;

test("both kinds of addresses are found, IPv4 first, through a CNAME and in any spelling", async () => {
  const { ask } = await world((name) =>
    name === "photos.example"
      ? { cname: "cdn.example", a: ["93.184.216.34"], aaaa: [`2606${"0".repeat(27)}1`] }
      : NXDOMAIN,
  );
  expect(await ask("PHOTOS.example")).toEqual(["93.184.216.34", "2606::1"]);
  expect(await ask("other.example").catch(kindOf)).toBe("dns");
});

test("a name server that drops questions for IPv6 costs a moment, not the photo", async () => {
  const { ask } = await world((_, type) => (type === "AAAA" ? undefined : ALIVE));
  expect(await ask("photos.example")).toEqual(ALIVE.a);
});

test("fifty silent names hold up neither files nor another name, and a cancelled one leaves no socket", async () => {
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const { server, ask } = await world((name) => (name === "photos.example" ? ALIVE : undefined));
  const before = descriptors();
  const giveUp = new AbortController();
  let ended = 0;
  const silent = Array.from({ length: 50 }, (_, n) =>
    ask(`silent${n}.example`, { party: `acct_${n}`, signal: giveUp.signal }).catch((error) => {
      ended += 1;
      return error;
    }),
  );
  await server.got(100);
  for (let n = 0; n < 20; n++) await readFile(import.meta.path);
  expect(await ask("photos.example", { party: "acct_other" })).toEqual(ALIVE.a);
  expect(ended).toBe(0);
  const reason = new Error("nobody waits");
  giveUp.abort(reason);
  expect(new Set(await Promise.all(silent))).toEqual(new Set([reason]));
  expect(descriptors()).toBeLessThan(before + 10);
});

test("a party has two look-ups under way, and another waits for none of them", async () => {
  const giveUp = new AbortController();
  const { server, ask } = await world((name) => (name.startsWith("quick") ? ALIVE : undefined));
  const all = ["slow1", "slow2", "quick1"].map((name) =>
    ask(`${name}.example`, { party: "acct_a", signal: giveUp.signal }).catch(() => "given up"),
  );
  await server.got(4);
  expect(await ask("quick2.example", { party: "acct_b" })).toEqual(ALIVE.a);
  expect(server.asked.filter((question) => question.endsWith("quick1.example"))).toEqual([]);
  giveUp.abort(new Error("enough"));
  expect(await Promise.all(all)).toEqual(["given up", "given up", "given up"]);
});

test("a name that failed is not asked for again for a while, and then it is", async () => {
  let now = 0;
  const { server, ask } = await world(() => NXDOMAIN, { now: () => now });
  await expect(ask("gone.example")).rejects.toMatchObject({ kind: "dns" });
  const asked = server.asked.length;
  now = FAILED_LOOKUP_KEPT_MS - 1;
  await expect(ask("gone.example")).rejects.toMatchObject({ kind: "dns" });
  expect(server.asked).toHaveLength(asked);
  now = FAILED_LOOKUP_KEPT_MS;
  await expect(ask("gone.example")).rejects.toMatchObject({ kind: "dns" });
  expect(server.asked.length).toBeGreaterThan(asked);
});

test("a name whose servers fail is reported as such; a resolver that does not work is our fault and not remembered", async () => {
  const lame = await world((name) => (name === "" ? {} : { code: 2 }));
  expect((await lame.ask("lame.example").catch((error) => error)).message).toContain("gave no answer");
  for (const code of [2, 5]) {
    const broken = await world(() => ({ code }));
    for (let n = 1; n <= 2; n++) {
      expect(await broken.ask("photos.example").catch(kindOf)).toBe("ours");
      expect(broken.server.asked.filter((question) => question === "A photos.example")).toHaveLength(n);
    }
  }
});

test("the hosts file counts without DNS, also after it changed; localhost needs neither", async () => {
  const { server, ask } = await world(() => NXDOMAIN);
  writeHosts("10.0.0.5 minio  Bucket.internal # ours\n::1 six\nnonsense\n");
  expect(await ask("minio")).toEqual(["10.0.0.5"]);
  expect(await ask("bucket.internal")).toEqual(["10.0.0.5"]);
  expect(await ask("localhost")).toEqual(["127.0.0.1", "::1"]);
  writeHosts("10.0.0.66 minio\n10.0.0.67 minio localhost\n");
  expect(await ask("minio")).toEqual(["10.0.0.66", "10.0.0.67"]);
  expect(await ask("localhost")).toEqual(["10.0.0.67"]);
  expect(server.asked).toEqual([]);
});

test("search domains complete the operator's own names and nobody else's", async () => {
  writeHosts("");
  writeFileSync(resolvConf, "domain old\nsearch default.svc cluster.local\n");
  const { ask } = await world((name) => (name === "minio.cluster.local" ? { a: ["10.0.0.9"] } : NXDOMAIN));
  expect(await ask("minio", { trusted: true })).toEqual(["10.0.0.9"]);
  expect(await ask("cdn.minio").catch(kindOf)).toBe("dns");
});

function writeHosts(text: string) {
  writeFileSync(hostsFile, text);
}
