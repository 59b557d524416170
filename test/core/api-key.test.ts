import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatApiKey, hashApiKey, parseApiKey } from "../../src/core/api-key.ts";

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("a key says its environment, and has the promised shape for any random bytes", () => {
  fc.assert(
    fc.property(secrets, fc.constantFrom("live" as const, "test" as const), (secret, environment) => {
      const key = formatApiKey(environment, secret);
      expect(key).toMatch(new RegExp(`^sk_${environment}_[0-9A-Za-z]{49}$`));
      expect(parseApiKey(key)).toBe(environment);
    }),
  );
});

test("a key with any one character changed is refused by its checksum", () => {
  fc.assert(
    fc.property(secrets, fc.nat(48), fc.constantFrom(..."0aZ9"), (secret, at, letter) => {
      const key = formatApiKey("live", secret);
      const place = "sk_live_".length + at;
      fc.pre(key[place] !== letter);
      expect(parseApiKey(key.slice(0, place) + letter + key.slice(place + 1))).toBeNull();
    }),
    { numRuns: 1000 },
  );
});

test("a live key cannot be passed off as a test key", () => {
  const key = formatApiKey("live", new Uint8Array(32).fill(7));
  expect(parseApiKey(key.replace("sk_live_", "sk_test_"))).toBeNull();
});

test.each(["", "sk_live_", "sk_live_abc", "Bearer x", "sk_prod_".padEnd(57, "0"), " "])(
  "%p is no key",
  (text) => {
    expect(parseApiKey(text)).toBeNull();
  },
);

test("what is stored of a key is its SHA-256", () => {
  // FIPS 180-2, appendix B.1.
  expect(hashApiKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
