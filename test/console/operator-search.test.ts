import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAccount } from "../../src/store/people/accounts.ts";
import { imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { type Client, client, testMember, testOperator } from "./sessions.ts";

let server: TestServer;
let operator: Client;
const accounts: Record<string, Awaited<ReturnType<typeof testAccount>>> = {};
beforeAll(async () => {
  server = await testServer();
  const { service, baseUrl } = server;
  for (const name of ["Harbour Rovers", "100 % United", "Old_Town"])
    accounts[name] = await testAccount(service, { name });
  await testMember(service, accounts.Old_Town?.account.id ?? "", "Kim@Valley.example");
  operator = await client(service, baseUrl, await testOperator(service, "op@service.example"));
});
afterAll(() => server.close());

/** The names that a search of the accounts shows. */
async function found(search: string): Promise<string[]> {
  const html = await (
    await operator.get(`/console/operator/accounts?${new URLSearchParams({ q: search })}`)
  ).text();
  return Object.keys(accounts).filter((name) => html.includes(`>${name}</a>`));
}

test("accounts are found by a part of their name, a member's email or their id, whatever signs that has", async () => {
  expect(await found("ROVERS")).toEqual(["Harbour Rovers"]);
  expect(await found("kim@valley")).toEqual(["Old_Town"]);
  expect(await found(accounts["100 % United"]?.account.id ?? "")).toEqual(["100 % United"]);
  expect(await found("%")).toEqual(["100 % United"]);
  expect(await found("_")).toEqual(["Old_Town"]);
  expect(await found("'; drop table accounts; --")).toEqual([]);
  expect(await found("")).toHaveLength(3);
});

test("an operator gives an account another name, which is written down, and nothing else changes", async () => {
  const { account, testKey } = accounts["Harbour Rovers"] ?? (await testAccount(server.service));
  const path = `/console/operator/accounts/${account.id}`;
  await operator.post(`${path}/rename`, { name: "  Harbour City " });
  expect(await findAccount(server.service.store.read, account.id)).toMatchObject({ name: "Harbour City" });
  expect(await (await operator.get(path)).text()).toContain("Harbour Rovers is now Harbour City");
  expect((await post(server.baseUrl, testKey, imageRequest())).status).toBe(202);
  await operator.post(`${path}/rename`, { name: "x".repeat(121) }, { referer: server.baseUrl + path });
  expect(await (await operator.get(path)).text()).toContain("must have 1 to 120 characters");
  await operator.post(`${path}/rename`, { name: "Harbour Rovers" });
});

test("the overview shows what failed live with the photo beside it, to operators alone, and no test failures", async () => {
  const { account, liveKey, testKey } = accounts["100 % United"] ?? (await testAccount(server.service));
  const make = async (key: string, external_id: string) => {
    const player = { external_id, name: external_id, source_image_url: server.photos.url("cat.png") };
    const answer = await post(server.baseUrl, key, imageRequest({ player }));
    const { data } = (await answer.json()) as { data: { image_id: string } };
    expect((await untilEnded(server.baseUrl, key, data.image_id)).status).toBe("failed");
    return data.image_id;
  };
  const live = await make(liveKey, "cat_of_the_club");
  const simulated = await make(testKey, "test_fail_no_player");
  const overview = await (await operator.get("/console/operator")).text();
  expect(overview).toContain("cat_of_the_club");
  expect(overview).not.toContain("test_fail_no_player");
  const photo = (id: string) => `/console/operator/failures/${id}/photo`;
  expect(overview).toContain(photo(live));
  const picture = await operator.get(photo(live));
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/webp"]);
  expect((await new Bun.Image(await picture.bytes()).metadata()).width).toBe(168);
  expect((await operator.get(photo(simulated))).status).toBe(404);
  const ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, account.id, "ana@united.example"),
  );
  expect((await ana.get(photo(live))).status).not.toBe(200);
});

test("the page of the disk says what takes it, the largest first, and what bounds each, to operators alone", async () => {
  const { service, baseUrl } = server;
  for (const [name, megabytes] of [
    ["one", 2],
    ["two", 1],
  ] as const)
    writeFileSync(join(service.config.dataDir, "cutouts", name), Buffer.alloc(megabytes * 2 ** 20, 1));
  let page = "";
  // Where measuring takes longer than a visitor waits, a later visit shows it.
  while (!page.includes("What takes the disk"))
    page = await (await operator.get("/console/operator/disk")).text();
  const rows = [...page.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    row.replace(/<[^>]*>/g, "|").replace(/\|+/g, "|"),
  );
  expect(rows.find((row) => row.startsWith("Players cut out"))).toBe(
    "Players cut out|3.0 MB|2|7 days, then made again when needed|",
  );
  const place = (name: string) => rows.findIndex((row) => row.startsWith(name));
  expect(place("Players cut out")).toBeLessThan(place("Write-ahead log"));
  expect(rows).toHaveLength(11);
  const member = await testMember(service, accounts.Old_Town?.account.id ?? "", "disk@valley.example");
  const theirs = await client(service, baseUrl, member);
  expect((await theirs.get("/console/operator/disk")).status).toBe(404);
});
