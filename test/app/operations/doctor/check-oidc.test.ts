import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { checkOidc } from "../../../../src/app/operations/doctor/check-oidc.ts";
import { oidcRedirectUri } from "../../../../src/app/people/oidc-client.ts";
import { testConfig } from "../../../harness.ts";
import { type TestIssuer, testIssuer } from "../../../issuer.ts";
import { type TestProvider, testProvider } from "../../../openid.ts";

let issuer: TestIssuer;
let provider: TestProvider;
beforeAll(async () => {
  issuer = await testIssuer();
  provider = await testProvider();
});
afterEach(() => issuer.behave());
afterAll(async () => {
  await issuer.close();
  await provider.close();
});

const look = (env: Record<string, string>) =>
  checkOidc(testConfig("/nowhere", { CARDPRESS_OIDC_OPERATOR_GROUPS: "office", ...env }));

test("a real provider that knows this service is found in order, and the redirect URI to register is named", async () => {
  const config = testConfig("/nowhere", provider.env);
  provider.register(oidcRedirectUri(config));
  const { status, message } = await look(provider.env);
  expect({ status, message }).toMatchObject({ status: "ok" });
  expect(message).toContain(`must be ${config.baseUrl}/console/sign-in/oidc/callback`);
});

test("a client secret that the provider does not accept is said to be wrong", async () => {
  const { status, message } = await look({ ...provider.env, CARDPRESS_OIDC_CLIENT_SECRET: "an old one" });
  expect(status).toBe("failed");
  expect(message).toContain("does not accept CARDPRESS_OIDC_CLIENT_ID and CARDPRESS_OIDC_CLIENT_SECRET");
  expect(message).not.toContain("an old one");
});

test("an issuer that calls itself otherwise, is not there, or has no discovery is told apart", async () => {
  issuer.answer.discovery = { issuer: "https://login.example/realms/club" };
  expect(await look(issuer.env)).toMatchObject({
    status: "failed",
    message: expect.stringContaining("calls itself https://login.example/realms/club"),
  });
  issuer.behave();
  issuer.answer.status = 404;
  expect((await look(issuer.env)).message).toContain("openid-configuration answers 404");
  const nobody = { ...issuer.env, CARDPRESS_OIDC_ISSUER: "http://127.0.0.1:1" };
  expect((await look(nobody)).message).toContain("cannot be read");
});

test("a clock that is apart, scopes and PKCE that are not offered, and groups that give nothing are doubts", async () => {
  issuer.answer.date = new Date(Date.now() - 200_000);
  issuer.answer.discovery = { scopes_supported: ["openid"], code_challenge_methods_supported: ["plain"] };
  const { status, message } = await look({ ...issuer.env, CARDPRESS_OIDC_OPERATOR_GROUPS: "" });
  expect(status).toBe("warning");
  for (const doubt of [
    /Its clock is \d+ seconds behind/,
    /no.* PKCE/i,
    /the scopes email, profile/,
    /No group gives/,
  ])
    expect(message).toMatch(doubt);
});

test("without a provider in the settings nothing is asked", async () => {
  expect(await checkOidc(testConfig("/nowhere"))).toMatchObject({ status: "ok" });
});
