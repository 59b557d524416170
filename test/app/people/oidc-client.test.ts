import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { type OidcClient, oidcClient } from "../../../src/app/people/oidc-client.ts";
import { Refusal } from "../../../src/core/errors.ts";
import type { Log } from "../../../src/core/ports.ts";
import { fakeClock, seededRandom, silentLog, testConfig } from "../../harness.ts";
import { type TestIssuer, testIssuer } from "../../issuer.ts";

let issuer: TestIssuer;
const begin = (env: Record<string, string> = {}, log: Log = silentLog, aheadMs = 0) => {
  const clock = fakeClock(new Date(Date.now() + aheadMs).toISOString());
  const config = testConfig("/nowhere", { ...issuer.env, ...env });
  return oidcClient({ config, clock, random: seededRandom(), log }) as OidcClient;
};
beforeAll(async () => {
  issuer = await testIssuer();
});
afterEach(() => issuer.behave());
afterAll(() => issuer.close());

/** Who comes back, after the issuer's answer was changed. */
async function comeBack(change: Record<string, string | null> = {}, by = begin()) {
  const { url, attempt } = await by.begin();
  return by.finish(issuer.callback(url, change), attempt);
}

/** What the refused person reads; fails when they are let in. */
async function refusal(coming: Promise<unknown>): Promise<Refusal> {
  const outcome = await coming.then(
    (person) => new Error(`was let in: ${JSON.stringify(person)}`),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Refusal);
  return outcome as Refusal;
}

test("the provider is asked with PKCE, state, nonce, and exactly the redirect URI of the base address", async () => {
  const { url, attempt } = await begin({ CARDPRESS_BASE_URL: "https://cards.rovers.example" }).begin();
  const asked = Object.fromEntries(new URL(url).searchParams);
  expect(asked).toMatchObject({
    client_id: "cardpress",
    response_type: "code",
    redirect_uri: "https://cards.rovers.example/console/sign-in/oidc/callback",
    scope: "openid email profile",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge_method: "S256",
  });
  expect(asked.code_challenge).toBe(
    new Bun.CryptoHasher("sha256").update(attempt.verifier).digest("base64url"),
  );
  expect(new Set([attempt.state, attempt.nonce, attempt.verifier]).size).toBe(3);
});

test("who comes back is read from the signed ID token", async () => {
  expect(await comeBack()).toEqual({
    issuer: issuer.issuer,
    subject: "subject-1",
    email: "ana@rovers.example",
    isEmailVerified: true,
    groups: new Set(["staff"]),
  });
});

test("an email or groups that the ID token lacks are taken from the user info, of the same subject alone", async () => {
  issuer.answer.claims = { groups: ["staff"] };
  issuer.answer.userinfo = { sub: "subject-1", email: "ana@rovers.example", email_verified: true };
  expect(await comeBack()).toMatchObject({ email: "ana@rovers.example", isEmailVerified: true });
  issuer.answer.userinfo = { ...issuer.answer.userinfo, sub: "subject-2" };
  expect((await refusal(comeBack())).code).toBe("PROVIDER_FAILED");
  // Verified is only the address of which it is said.
  issuer.answer.claims = { email: "eve@rovers.example" };
  issuer.answer.userinfo = { sub: "subject-1", email: "ana@rovers.example", email_verified: true };
  expect(await comeBack()).toMatchObject({ email: "eve@rovers.example", isEmailVerified: false });
});

test("an address counts as verified when the provider says so, or when it says nothing and is trusted", async () => {
  const said = async (verified: unknown, env: Record<string, string> = {}) => {
    issuer.answer.claims = { email: "ana@rovers.example", groups: [], email_verified: verified };
    return (await comeBack({}, begin(env))).isEmailVerified;
  };
  expect(await said(true)).toBe(true);
  expect(await said("true")).toBe(true);
  for (const no of [false, "false", undefined, null, 1, "yes", {}]) expect(await said(no)).toBe(false);
  const trusting = { CARDPRESS_OIDC_TRUST_EMAIL: "1" };
  expect(await said(undefined, trusting)).toBe(true);
  expect(await said(false, trusting)).toBe(false);
  expect(await said("false", trusting)).toBe(false);
});

test("groups are a name, a list of names, or none; another form does not pass for none", async () => {
  const of = async (groups: unknown) => {
    issuer.answer.claims = { email: "ana@rovers.example", groups };
    return [...(await comeBack()).groups];
  };
  expect(await of("staff")).toEqual(["staff"]);
  expect(await of(["staff", 7, null, ["x"], "board"])).toEqual(["staff", "board"]);
  expect(await of(undefined)).toEqual([]);
  const many = Array.from({ length: 10_000 }, (_, i) => `group-${i}`);
  expect(await of(many)).toHaveLength(10_000);
  for (const odd of [{ staff: true }, 7, true])
    expect((await refusal(of(odd))).message).toContain("not a list of names");
  issuer.answer.claims = { email: "a@b.example", _claim_names: { groups: "src1" } };
  expect((await refusal(comeBack())).message).toContain("more groups than Test ID puts into a sign-in");
});

test("a token is refused that is unsigned, signed with the client secret, or with a key nobody published", async () => {
  const secret = new TextEncoder().encode(issuer.env.CARDPRESS_OIDC_CLIENT_SECRET);
  issuer.answer.sign = async (claims) => new UnsecuredJWT(claims).encode();
  await refusal(comeBack());
  // Also where the provider itself says that it uses them.
  issuer.answer.discovery = { id_token_signing_alg_values_supported: ["RS256", "HS256", "none"] };
  await refusal(comeBack());
  issuer.answer.sign = (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret);
  await refusal(comeBack());
  issuer.behave();
  const other = await testIssuer();
  try {
    issuer.answer.sign = async (claims) => {
      const { url } = await begin({ CARDPRESS_OIDC_ISSUER: other.issuer }).begin();
      other.answer.claims = claims;
      const form = new FormData();
      form.set("code", other.callback(url).get("code") ?? "");
      const answered = await fetch(`${other.issuer}/token`, { method: "POST", body: form });
      return ((await answered.json()) as { id_token: string }).id_token;
    };
    await refusal(comeBack());
  } finally {
    await other.close();
  }
});

test("a token is refused with another nonce, issuer, audience or authorised party, and one that is altered", async () => {
  for (const wrong of [
    { nonce: "another" },
    { nonce: undefined },
    { iss: "https://evil.example" },
    { iss: `${"http://127.0.0.1"}:1` },
    { aud: "another-service" },
    { aud: ["cardpress", "another-service"], azp: "another-service" },
    { sub: undefined },
  ]) {
    issuer.behave();
    Object.assign(issuer.answer.claims, wrong);
    expect((await refusal(comeBack())).code).toBe("PROVIDER_FAILED");
  }
  issuer.behave();
  const by = begin();
  const { url, attempt } = await by.begin();
  const parts = (await tokenFor(url)).split(".");
  const altered = { ...JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString()), sub: "subject-2" };
  parts[1] = Buffer.from(JSON.stringify(altered)).toString("base64url");
  issuer.answer.sign = async () => parts.join(".");
  await refusal(by.finish(issuer.callback(url), attempt));
});

/** An ID token for a sign-in that began at this address. */
async function tokenFor(url: string): Promise<string> {
  const form = new FormData();
  form.set("code", issuer.callback(url).get("code") ?? "");
  const answered = await fetch(`${issuer.issuer}/token`, { method: "POST", body: form });
  return ((await answered.json()) as { id_token: string }).id_token;
}

test("an answer that names another issuer, or another state, is refused before the code is used", async () => {
  await refusal(comeBack({ iss: "https://evil.example" }));
  await refusal(comeBack({ state: "another" }));
  await refusal(comeBack({ state: null }));
  // A provider that names itself in its answers must do so in each.
  issuer.answer.discovery = { authorization_response_iss_parameter_supported: true };
  await refusal(comeBack());
  expect((await comeBack({ iss: issuer.issuer })).subject).toBe("subject-1");
});

test("a code counts once", async () => {
  const by = begin();
  const { url, attempt } = await by.begin();
  const callback = issuer.callback(url);
  expect((await by.finish(callback, attempt)).subject).toBe("subject-1");
  expect((await refusal(by.finish(callback, attempt))).message).toContain("was opened twice");
});

test("a key that the provider has just begun to use is fetched once, and remembered", async () => {
  const by = begin();
  await comeBack({}, by);
  await issuer.rotate();
  const before = issuer.keyRequests();
  await comeBack({}, by);
  await comeBack({}, by);
  expect(issuer.keyRequests()).toBe(before + 1);
});

test("clocks a minute apart do no harm, and the refusal of those further apart says so", async () => {
  await comeBack({}, begin({}, silentLog, 300_000 + 50_000));
  const message = (await refusal(comeBack({}, begin({}, silentLog, 300_000 + 90_000)))).message;
  expect(message).toContain("The clocks of this service and of Test ID differ");
});

test("subjects of more than 255 characters, or with control characters, are refused", async () => {
  for (const sub of ["s".repeat(256), "s\u0000", "s\n2"]) {
    issuer.answer.claims = { sub, email: "ana@rovers.example", groups: [] };
    expect((await refusal(comeBack())).message).toContain("an unusable id");
  }
  issuer.answer.claims = { sub: "s".repeat(255), email: "ana@rovers.example", groups: [] };
  expect((await comeBack()).subject).toHaveLength(255);
});

test("each fault of the provider says what to do, and the log says more without tokens", async () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void lines.push({ event, ...fields }) };
  const said = async (change: Record<string, string | null>, behaviour: () => void = () => {}) => {
    issuer.behave();
    const by = begin({}, log);
    const { url, attempt } = await by.begin();
    behaviour();
    return refusal(by.finish(issuer.callback(url, change), attempt));
  };
  const denied = await said({ error: "access_denied", error_description: "the user said no", code: null });
  expect(denied).toMatchObject({ code: "NOT_ALLOWED" });
  expect(denied.message).toContain("the sign-in was cancelled there");
  const token = (status: number, body: unknown) => () => {
    issuer.answer.token = () => Response.json(body, { status });
  };
  expect((await said({ error: "server_error", code: null })).message).toContain("Wait a minute");
  expect((await said({}, token(400, { error: "invalid_grant" }))).message).toContain("took too long");
  expect((await said({}, token(401, { error: "invalid_client" }))).message).toContain("cardpress doctor");
  expect((await said({}, token(503, { x: 1 }))).message).toContain("a problem of its own");
  expect((await said({}, token(200, { access_token: "a", token_type: "Bearer" }))).message).toContain(
    "not as it must be",
  );
  const long = await said({}, () => {
    issuer.answer.token = () => new Response("x".repeat(3 * 1024 * 1024));
  });
  expect(long.message).toContain("not as it must be");
  expect(JSON.stringify(lines)).toContain("the user said no");
  expect(JSON.stringify(lines)).not.toContain("eyJ");
});

test("a provider that is down or calls itself by another address says so, and is asked anew the next time", async () => {
  const by = begin();
  issuer.answer.status = 503;
  expect((await refusal(by.begin())).message).toContain("a problem of its own");
  issuer.behave();
  issuer.answer.discovery = { issuer: "https://login.example.com" };
  expect((await refusal(by.begin())).message).toContain("by another address than CARDPRESS_OIDC_ISSUER");
  issuer.behave();
  expect((await by.begin()).url).toStartWith(`${issuer.issuer}/authorize?`);
  const nobody = begin({ CARDPRESS_OIDC_ISSUER: "http://127.0.0.1:1" });
  expect((await refusal(nobody.begin())).message).toContain("does not answer this service");
});

test("a discovery document leads browsers to web addresses only", async () => {
  for (const address of ["javascript:alert(1)", "http://login.example.com/authorize", "//x", undefined]) {
    issuer.answer.discovery = { authorization_endpoint: address };
    await refusal(begin().begin());
  }
});
