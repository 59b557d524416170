import { afterAll, beforeAll, expect, test } from "bun:test";
import { imageRequest, post, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ renders: false });
});
afterAll(() => server?.close());

const account = async () => {
  const own = await testAccount(server.service, { credits: 10 });
  const member = async (role: "owner" | "developer" | "viewer"): Promise<Client> =>
    client(
      server.service,
      server.baseUrl,
      await testMember(server.service, own.account.id, `${role}@${own.account.id}.example`, role),
    );
  return { own, member };
};
const mainOf = async (who: Client, path: string) =>
  /<main.*<\/main>/s.exec(await (await who.get(path)).text())?.[0] ?? "";
const WAYS = /<img class="example"[^>]+one-card\.webp.*Make one card.*squad\.webp.*Upload a squad list/s;
const STEPS = /<details class="card fold"( open)?><summary>First steps for developers<\/summary>/;

test("an account without cards is shown the two ways to them, and developers the API below", async () => {
  const { member } = await account();
  const owner = await mainOf(await member("owner"), "/console");
  expect(owner).toMatch(WAYS);
  expect(STEPS.exec(owner)?.[1]).toBeUndefined();
  expect(owner.search(STEPS)).toBeGreaterThan(owner.search(WAYS));
  expect(owner).not.toContain("Requests today");
  const developer = await mainOf(await member("developer"), "/console");
  expect(developer).toMatch(WAYS);
  expect(STEPS.exec(developer)?.[1]).toBe(" open");
  // Who may make no cards is offered none.
  const viewer = await mainOf(await member("viewer"), "/console");
  expect(viewer).not.toMatch(WAYS);
  expect(viewer).not.toMatch(STEPS);
  expect(viewer).toContain("No cards yet");
});

test("once there are cards they come first, and both ways stay in the head of the page", async () => {
  const { own, member } = await account();
  expect((await post(server.baseUrl, own.testKey, imageRequest())).status).toBe(202);
  const page = await mainOf(await member("owner"), "/console");
  expect(page).not.toContain('class="example"');
  expect(page).toMatch(/page-head.*Make one card.*Upload a squad list.*Latest test cards/s);
});

test("empty pages show what they are for, and their pictures are there", async () => {
  const { member } = await account();
  const owner = await member("owner");
  const pages = {
    "/console/images": ["one-card.webp", "Make one card", "Upload a squad list"],
    "/console/batches": ["squad.webp", "before anything is made or charged"],
    "/console/sets": ["squad.webp", "for cards that people collect"],
    "/console/kits": ["kits.webp", "what all cards of a team have in common", "The same player in two kits."],
    "/console/consent": ["Cards need none."],
  };
  for (const [path, texts] of Object.entries(pages)) {
    const page = await mainOf(owner, path);
    for (const text of texts) expect(page).toContain(text);
    const [, src = "/console/assets/squad.webp"] = /<img class="example" src="([^"]+)"/.exec(page) ?? [];
    const picture = await owner.get(src);
    expect(picture.headers.get("content-type")).toBe("image/webp");
    expect(await new Bun.Image(await picture.bytes()).metadata()).toMatchObject({ format: "webp" });
  }
  // Who may only look is offered nothing to make.
  expect(await mainOf(await member("viewer"), "/console/images")).not.toContain("Make one card");
});
