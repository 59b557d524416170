import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { PROVIDER_VISIT_MS, SIGN_INS_PER_EMAIL_AND_ADDRESS } from "../../src/core/sign-in-limits.ts";
import { findUserByEmail } from "../../src/store/people/users.ts";
import { fakeClock, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestIssuer, testIssuer } from "../issuer.ts";
import { client, PASSWORD, testMember } from "./sessions.ts";

// What an attacker tries between this service, somebody's browser and the provider.

let issuer: TestIssuer;
let server: TestServer;
const clock = fakeClock(new Date().toISOString());
beforeAll(async () => {
  issuer = await testIssuer();
  server = await testServer({
    renders: false,
    clock,
    env: { ...issuer.env, CARDPRESS_OIDC_OPERATOR_GROUPS: "office" },
  });
});
afterEach(() => issuer.behave());
afterAll(async () => {
  await server?.close();
  await issuer?.close();
});

/** A browser of its own: what it asks for, it asks with its cookies. */
function browser() {
  const cookies = new Map<string, string>();
  const get = async (path: string) => {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await fetch(server.baseUrl + path, { redirect: "manual", headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = set.split(";")[0]?.split("=") ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const setOut = async (next = "") => {
    const answer = await get(`/console/sign-in/oidc${next && `?next=${encodeURIComponent(next)}`}`);
    return answer.headers.get("location") ?? "";
  };
  const comeBack = (query: URLSearchParams) => get(`/console/sign-in/oidc/callback?${query}`);
  return { cookies, get, setOut, comeBack, isIn: () => cookies.has("cardpress") };
}

/** Lets the next sign-in in. */
function asOperator(sub: string): void {
  Object.assign(issuer.answer.claims, { sub, email: `${sub}@league.example`, groups: ["office"] });
}

test("somebody else's way back signs nobody in: neither the attacker's in a victim's browser nor the reverse", async () => {
  asOperator("olga");
  const attacker = browser();
  const victim = browser();
  const stolen = issuer.callback(await attacker.setOut());
  const refused = await victim.comeBack(stolen);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("This sign-in was not begun in this browser");
  expect(victim.isIn()).toBe(false);
  // Also while the victim's browser has begun one of its own.
  await victim.setOut();
  const mixed = await victim.comeBack(stolen);
  expect(await mixed.text()).toContain("Another sign-in was begun in this browser since");
  expect(victim.isIn()).toBe(false);
});

test("a way back counts once, also for whoever kept its cookie", async () => {
  asOperator("olga");
  const own = browser();
  const address = await own.setOut();
  const kept = own.cookies.get("cardpress-provider") ?? "";
  expect((await own.comeBack(issuer.callback(address))).status).toBe(303);
  const replaying = browser();
  replaying.cookies.set("cardpress-provider", kept);
  const replayed = await replaying.comeBack(issuer.callback(address));
  expect(await replayed.text()).toContain("was used already");
  expect(replaying.isIn()).toBe(false);
});

test("of two ways back at the same moment one signs in", async () => {
  asOperator("olga");
  const own = browser();
  const address = await own.setOut();
  const twin = browser();
  twin.cookies.set("cardpress-provider", own.cookies.get("cardpress-provider") ?? "");
  const callbacks = [own.comeBack(issuer.callback(address)), twin.comeBack(issuer.callback(address))];
  expect((await Promise.all(callbacks)).map(({ status }) => status).sort()).toEqual([303, 403]);
});

test("what a browser takes along cannot be altered, read or kept for later", async () => {
  asOperator("olga");
  const own = browser();
  const query = issuer.callback(await own.setOut("/console/keys"));
  const sealed = own.cookies.get("cardpress-provider") ?? "";
  expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("/console/keys");
  const altered = Buffer.from(Buffer.from(sealed, "base64url").toString().replace(/.{6}$/, "AAAAAA"));
  for (const wrong of ["", "x", altered.toString("base64url"), sealed.slice(0, -9)]) {
    own.cookies.set("cardpress-provider", wrong);
    expect((await own.comeBack(query)).status).toBe(403);
  }
  own.cookies.set("cardpress-provider", sealed);
  clock.advance(PROVIDER_VISIT_MS);
  expect((await own.comeBack(query)).status).toBe(403);
  own.cookies.set("cardpress-provider", sealed);
  clock.advance(-PROVIDER_VISIT_MS);
  expect((await own.comeBack(query)).headers.get("location")).toBe("/console/keys");
});

test("the cookie is for the server alone, short-lived, and sent along from another site's link only", async () => {
  const answer = await fetch(`${server.baseUrl}/console/sign-in/oidc`, { redirect: "manual" });
  expect(answer.headers.get("set-cookie")).toMatch(
    /^cardpress-provider=[\w-]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/,
  );
});

test("after signing in people stay on this site, whatever page was asked for", async () => {
  asOperator("olga");
  for (const next of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/console/..//evil.example",
  ]) {
    const own = browser();
    const back = await own.comeBack(issuer.callback(await own.setOut(next)));
    expect(back.headers.get("location")).toBe("/console");
  }
  const own = browser();
  const back = await own.comeBack(issuer.callback(await own.setOut(`/console/keys?x=${"y".repeat(5_000)}`)));
  expect(back.headers.get("location")).toBe("/console");
});

test("refused sign-ins from one network are bounded", async () => {
  issuer.answer.claims = { sub: "nobody", email: "nobody@league.example", groups: [] };
  let status = 403;
  let tries = 0;
  while (status === 403) {
    const own = browser();
    ({ status } = await own.comeBack(issuer.callback(await own.setOut())));
    tries += 1;
  }
  expect(status).toBe(429);
  expect(tries).toBeLessThanOrEqual(SIGN_INS_PER_EMAIL_AND_ADDRESS + 1);
});

test("an account is connected in the session that set out alone, and not without its password", async () => {
  const { account } = await testAccount(server.service);
  const ana = await testMember(server.service, account.id, "ana@rovers.example");
  const tom = await testMember(server.service, account.id, "tom@rovers.example");
  const hers = await client(server.service, server.baseUrl, ana);
  const path = "/console/profile/oidc";
  expect((await hers.post(path, { password: "wrong" })).headers.get("refresh")).toBeNull();
  const between = await hers.post(path, { password: PASSWORD });
  const address = between.headers.get("refresh")?.replace("0; url=", "") ?? "";
  const taken = /cardpress-provider=[\w-]+/.exec(between.headers.get("set-cookie") ?? "")?.[0] ?? "";
  const his = await client(server.service, server.baseUrl, tom);
  const back = (cookie: string) =>
    fetch(`${server.baseUrl}/console/sign-in/oidc/callback?${issuer.callback(address)}`, {
      redirect: "manual",
      headers: { cookie },
    });
  for (const cookie of [taken, `${taken}; ${his.cookie}`]) expect((await back(cookie)).status).toBe(403);
  expect((await back(`${taken}; ${hers.cookie}`)).headers.get("location")).toBe("/console/profile");
  expect(await (await hers.get("/console/profile")).text()).toContain("Test ID is connected");
  expect(await findUserByEmail(server.service.store.read, "subject-1")).toBeUndefined();
});
