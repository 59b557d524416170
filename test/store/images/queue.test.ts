import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { MAX_RENDERS } from "../../../src/core/limits.ts";
import { leaseTokens } from "../../../src/store/engine/lease-holders.ts";
import { abandonedRenders } from "../../../src/store/images/images.ts";
import { acceptLive } from "../../app/accepting.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
let rovers: string;
let united: string;
beforeAll(async () => {
  workspace = await testWorkspace();
  rovers = (await testAccount(workspace, { name: "Rovers", credits: 1000 })).account.id;
  united = (await testAccount(workspace, { name: "United", credits: 1000 })).account.id;
});
afterAll(() => workspace.close());

/** Claims the next image and ends it as given; returns whose it was, undefined when nothing waits. */
async function serve(end: "refused" | "fault" | "leave" = "refused"): Promise<string | undefined> {
  const image = await claimImage(workspace, "live");
  if (!image || end === "leave") return image?.accountId;
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(
    workspace,
    lease,
    end === "fault" ? { kind: "fault" } : { kind: "refused", message: "x", reason: "no_player" },
  );
  return image.accountId;
}

async function serveAll(): Promise<string[]> {
  const order: string[] = [];
  workspace.clock.advance(60_000);
  for (let who = await serve(); who !== undefined; who = await serve())
    order.push(who === rovers ? "R" : "U");
  return order;
}

async function accept(account: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    workspace.clock.advance(1);
    await acceptLive(workspace, account);
  }
}

test("an account with a long queue delays another's images by one render each, not by its queue", async () => {
  await accept(rovers, 50);
  await accept(united, 5);
  const order = (await serveAll()).join("");
  expect(order.slice(0, 10)).toBe("RURURURURU");
  expect(order.length).toBe(55);
});

test("a newcomer does not overtake an account that was alone for long", async () => {
  // Rovers always has one image under way, so its turns grow while nothing waits.
  await accept(rovers, 1);
  for (let n = 0; n < 20; n++) {
    await serve("leave");
    await accept(rovers, 1);
    const db = new Database(workspace.folder.database);
    const [lease] = db
      .query("SELECT id, lease_token, renders FROM images WHERE state = 'rendering'")
      .values() as [string, string, number][];
    db.close();
    if (!lease) throw new Error("nothing is being rendered");
    await finishImage(
      workspace,
      { imageId: lease[0], token: lease[1], renders: lease[2] },
      { kind: "refused", message: "x", reason: "no_player" },
    );
  }
  await serve("leave");
  await accept(united, 10);
  await accept(rovers, 10);
  const order = (await serveAll()).join("");
  // Alternating from the start, after the one of Rovers that is in the making.
  for (let n = 0; n <= order.length; n++) {
    const ahead = [...order.slice(0, n)].reduce((sum, who) => sum + (who === "U" ? 1 : -1), 0);
    expect(Math.abs(ahead)).toBeLessThanOrEqual(2);
  }
  // The one left in its render is taken back.
  await finishLeft();
});

test("an image that waits for another attempt does not pull a newcomer past everyone", async () => {
  await accept(rovers, 30);
  await serve("fault");
  for (let n = 0; n < 19; n++) await serve();
  // Ten of Rovers' images wait at high turns, one retry at a low one; United comes with twenty.
  await accept(united, 20);
  const order = (await serveAll()).join("");
  const firstTwenty = [...order.slice(0, 20)];
  expect(firstTwenty.filter((who) => who === "R").length).toBeGreaterThanOrEqual(9);
  expect(order.length).toBe(31);
});

async function finishLeft(): Promise<void> {
  const { read } = workspace.store;
  const left = await abandonedRenders(read, { now: 0, limit: 10, tokens: await leaseTokens(read) });
  for (const lease of left)
    await finishImage(workspace, { ...lease, renders: MAX_RENDERS }, { kind: "fault" });
}

test("an account's moving cards, which take longer, let others' cards pass between", async () => {
  await serveAll();
  for (let n = 0; n < 3; n++) await acceptLive(workspace, rovers, { format: "webm" });
  await accept(united, 20);
  expect((await serveAll()).join("")).toBe("RUUUUUUUURUUUUUUUURUUUU");
});

test("a render that came to nothing costs its account a turn, as any render does", async () => {
  await serveAll();
  await accept(rovers, 3);
  await accept(united, 3);
  expect(await serve("fault")).toBe(rovers);
  const order: string[] = [];
  workspace.clock.advance(60_000);
  for (let n = 0; n < 6; n++) order.push((await serve()) === rovers ? "R" : "U");
  // Its retried first image stays its first, but other accounts never wait for two of its renders in a row.
  expect(order.join("")).toBe("URURUR");
});
