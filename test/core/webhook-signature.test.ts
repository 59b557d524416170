import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { formatWebhookSecret, webhookHeaders } from "../../src/core/webhook-signature.ts";

const secretOf = (fill: number) => formatWebhookSecret(new Uint8Array(32).fill(fill));
const SECRET = secretOf(1);
const OLD_SECRET = secretOf(2);
const BODY = '{"type":"image.completed","data":{"name":"Łukasz 👟"}}';
const MINUTE_MS = 60_000;

const signed = (secrets = [SECRET], timestampMs = Date.now()) =>
  webhookHeaders({ id: "evt_1", timestampMs, body: BODY }, secrets);

test("a secret is whsec_ and the random bytes in base64", () => {
  expect(SECRET).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(() => formatWebhookSecret(new Uint8Array(31))).toThrow("32 random bytes");
});

test("the signature is the one of the standard's own example", () => {
  // From the test vectors of the Standard Webhooks libraries.
  const headers = webhookHeaders(
    { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampMs: 1614265330_000, body: '{"test": 2432232314}' },
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  );
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

describe("the standard's own verifier", () => {
  const verify = (secret: string, body: string, headers: Record<string, string>) =>
    new Webhook(secret).verify(body, headers);

  test("takes what was signed", () => {
    expect(() => verify(SECRET, BODY, signed())).not.toThrow();
  });

  test("takes the old and the new secret while both sign", () => {
    const headers = signed([SECRET, OLD_SECRET]);
    expect(() => verify(SECRET, BODY, headers)).not.toThrow();
    expect(() => verify(OLD_SECRET, BODY, headers)).not.toThrow();
  });

  test("refuses a changed body, id or time, and a foreign secret", () => {
    const headers = signed();
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => verify(SECRET, BODY.replace("image", "Image"), headers)).toThrow();
    expect(() => verify(SECRET, `${BODY} `, headers)).toThrow();
    expect(() => verify(SECRET, BODY, { ...headers, "webhook-id": "evt_2" })).toThrow();
    expect(() => verify(SECRET, BODY, { ...headers, "webhook-timestamp": later })).toThrow();
    expect(() => verify(OLD_SECRET, BODY, headers)).toThrow();
  });

  test("refuses what is rightly signed but old, or from the future", () => {
    expect(() => verify(SECRET, BODY, signed([SECRET], Date.now() - 6 * MINUTE_MS))).toThrow("too old");
    expect(() => verify(SECRET, BODY, signed([SECRET], Date.now() + 6 * MINUTE_MS))).toThrow("too new");
  });
});
