import { expect, test } from "bun:test";
import { isOwnHost } from "../../src/http/host.ts";

const isOwn = (host: string) =>
  isOwnHost(new Request("http://127.0.0.1/", { headers: { host } }), "https://cards.example.com");

test.each([
  "cards.example.com",
  "CARDS.example.com:8443",
  "cards.example.com.",
  "127.0.0.1:3000",
  "192.168.1.20",
  "[::1]:3000",
  "[2001:db8::7]",
  "localhost:8080",
  "console.localhost",
  "cardpress:3000",
  "cardpress.default.svc.cluster.local",
  "nas.home.arpa",
])("%s is the public address, or a name that only the reader's own network gives", (host) => {
  expect(isOwn(host)).toBeTrue();
});

test.each([
  "evil.example",
  "cards.example.com.evil.example",
  "evil-cards.example.com",
  "sub.cards.example.com",
  "127.0.0.1.nip.io:3000",
  "localhost.evil.example",
  "evil.example:3000",
  "a b",
])("%s may be somebody else's name", (host) => {
  expect(isOwn(host)).toBeFalse();
});

test("without the header, as in HTTP/1.0, the address asked for counts", () => {
  expect(isOwnHost(new Request("http://cards.example.com/"), "https://cards.example.com")).toBeTrue();
  expect(isOwnHost(new Request("http://evil.example/"), "https://cards.example.com")).toBeFalse();
});
