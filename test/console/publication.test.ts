import { afterAll, beforeAll, expect, test } from "bun:test";
import { findImage } from "../../src/store/images/image-reads.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;
let path: string;
const later = new Date(Date.now() + 86_400_000).toISOString().replace(/:\d\d\.\d+Z/, ":00Z");
beforeAll(async () => {
  server = await testServer({ knowsPhotos: true });
  own = await testAccount(server.service, { credits: 10 });
  const member = await testMember(server.service, own.account.id, "ana@rovers.example");
  ana = await client(server.service, server.baseUrl, member);
  const card = { ...imageRequest({}), publish_at: later };
  const { data } = (await (await post(server.baseUrl, own.testKey, card)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  path = `/console/images/${data.image_id}`;
});
afterAll(() => server.close());

const text = async (address: string) => (await ana.get(address)).text();
const imageAt = async (address: string) => {
  const scope = {
    accountId: own.account.id,
    environment: "test",
    id: address.split("/").at(-1) ?? "",
  } as const;
  return findImage(server.service.store.read, scope);
};
const publishAt = async (address: string) => (await imageAt(address))?.publishAt ?? null;

test("a card that is made again asks when it is published, and keeps the time that is to come", async () => {
  const form = await text(`${path}/again`);
  expect(form).toContain(`name="publish_on" type="datetime-local" value="${later.slice(0, 16)}"`);
  const again = async (fields: Record<string, string>) => {
    const answer = await ana.upload(`${path}/again`, new File([], ""), fields);
    return answer.headers.get("location") ?? "";
  };
  expect(await publishAt(await again({ background_theme: "rain" }))).toBe(Date.parse(later));
  expect(await publishAt(await again({ publish_on: "" }))).toBe(null);
  const moved = { publish_on: later.slice(0, 16).replace(/T\d\d/, "T23"), publish_zone: "UTC" };
  expect(await publishAt(await again(moved))).toBe(Date.parse(`${moved.publish_on}:00Z`));
});

test("what is changed of a card is seen before it is made, with the photo that was just chosen", async () => {
  const form = await text(`${path}/again`);
  expect(form).toMatch(new RegExp(`hx-post="${path}/again/preview"[^>]*from:#again`));
  // The preview stands before the button that makes the card.
  expect(form.indexOf(`${path}/again/preview`)).toBeLessThan(form.indexOf("Make it again"));
  const photo = new File([await Bun.file("test/photos/yoga.jpg").bytes()], "yoga.jpg");
  const part = await (
    await ana.upload(`${path}/again/photo`, photo, { source_image_url: "https://a.example" })
  ).text();
  const [, address = ""] = /value="([^"]+\/v1\/photos\/pho_\w+)"/.exec(part) ?? [];
  expect(address).not.toBe("");
  const preview = async (fields: Record<string, string>) =>
    (await ana.post(`${path}/again/preview`, fields)).text();
  expect(await preview({ number: "500" })).toContain("player.number");
  for (let shown = ""; !shown.includes("<img"); ) {
    shown = await preview({ source_image_url: address, name: "Ada" });
    expect(shown).toMatch(/Being drawn|The card of Ada/);
  }
});

test("the time of a publication is moved and lifted on the card's page, and who did is logged", async () => {
  expect(await text(path)).toContain("Not published yet");
  const next = later.slice(0, 16).replace(/T\d\d/, "T22");
  await ana.post(`${path}/publication`, { publish_on: next, publish_zone: "UTC" });
  expect(await text(path)).toContain("The time is changed.");
  expect(await publishAt(path)).toBe(Date.parse(`${next}:00Z`));
  await ana.post(`${path}/publication`, { publish_on: "2999-01-01T00:00", publish_zone: "UTC" });
  expect(await text(path)).toContain("The time must lie at most");
  await ana.post(`${path}/publication`, { publish_on: next, at_once: "yes" });
  expect(await text(path)).toMatch(/The card is published\.(?!.*Not published yet)/s);
  const log = await listActivity(server.service.store.read, { accountId: own.account.id, limit: 9 });
  expect(log.filter(({ entry }) => entry.action === "image.publication_changed")).toHaveLength(2);
});
