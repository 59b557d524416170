import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, fingerprintOf } from "../../src/core/idempotency.ts";

test("the order of keys does not change the fingerprint, at any depth", () => {
  expect(fingerprintOf({ a: 1, b: { c: "x", d: [1, 2] } })).toBe(
    fingerprintOf({ b: { d: [1, 2], c: "x" }, a: 1 }),
  );
});

test("canonical JSON means the same as the value it was made from", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("different payloads have different fingerprints", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      fc.pre(!Bun.deepEquals(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))));
      expect(fingerprintOf(a)).not.toBe(fingerprintOf(b));
    }),
  );
});
