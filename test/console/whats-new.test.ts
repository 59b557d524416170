import { afterAll, beforeAll, expect, test } from "bun:test";
import type { User } from "../../src/store/people/users.ts";
import { VERSION } from "../../src/version.ts";
import { type TestServer, testAccount, testServer } from "../harness.ts";
import { client, testMember, testOperator } from "./sessions.ts";

const RELEASE = {
  version: "99.1.0",
  changelog: `# Changelog

## 99.1.0 - 2027-01-02

### Before you upgrade

- Take \`a backup\` first, all of it.

### Partners

- **Cards that sing**: with \`style.song\`.

### Operators

- **A page of the state** for partners.

### Designers

- Templates may **glow**.

## 0.1.0

- Long ago.
`,
};

let server: TestServer;
let accountId: string;
beforeAll(async () => {
  server = await testServer({ renders: false, release: RELEASE });
  accountId = (await testAccount(server.service)).account.id;
});
afterAll(() => server.close());

const visitor = (user: User) => client(server.service, server.baseUrl, user);
const textOf = async (answer: Response) => (await answer.text()).replace(/<[^>]+>/g, "");

test("after an upgrade an operator reads once what changed, what is to be done first, and it stays read", async () => {
  const { get, post } = await visitor(await testOperator(server.service, "op@new.example"));
  const page = await textOf(await get("/console/operator"));
  expect(page).toContain("New in cardpress 99.1.0");
  // They have upgraded.
  expect(page).toContain("What the upgrade changed");
  expect(page).not.toContain("Before you upgrade");
  const places = ["Take a backup first, all of it.", "A page of the state", "Cards that sing", "glow"];
  const found = places.map((words) => page.indexOf(words));
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found[0]).toBeGreaterThan(0);
  expect(page).not.toContain("Long ago");
  const seen = await post("/console/whats-new/seen", { next: "/console/operator" });
  expect([seen.status, seen.headers.get("location")]).toEqual([303, "/console/operator"]);
  expect(await textOf(await get("/console/operator"))).not.toContain("New in cardpress");
});

test("a partner's people read the partners' part alone, each until they have read it", async () => {
  const ana = await visitor(await testMember(server.service, accountId, "ana@new.example"));
  const ben = await visitor(await testMember(server.service, accountId, "ben@new.example", "developer"));
  const page = await textOf(await ana.get("/console"));
  expect(page).toContain("Cards that sing");
  for (const words of ["backup", "A page of the state", "glow"]) expect(page).not.toContain(words);
  await ana.post("/console/whats-new/seen", { next: "https://evil.example/" });
  expect(await textOf(await ana.get("/console"))).not.toContain("Cards that sing");
  expect(await textOf(await ben.get("/console"))).toContain("Cards that sing");
});

test("nothing is new to whoever came with this version, and all of it to those who were there before it was kept", async () => {
  const changelog = RELEASE.changelog.replaceAll(RELEASE.version, VERSION);
  const own = await testServer({ renders: false, release: { version: VERSION, changelog } });
  const user = await testOperator(own.service, "op@first.example");
  const { get } = await client(own.service, own.baseUrl, user);
  expect(await textOf(await get("/console/operator"))).not.toContain("New in cardpress");
  await own.service.store.write("test", ({ db, t }) =>
    db
      .update(t.users)
      .set({ seenVersion: null })
      .then(() => {}),
  );
  expect(await textOf(await get("/console/operator"))).toContain(`New in cardpress ${VERSION}`);
  await own.close();
});
