import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { type Receiver, receiver, verify } from "../app/webhooks/receivers.ts";
import { imageRequest, post, type TestFolder, testFolder } from "../harness.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

let folder: TestFolder;
let partner: Receiver;
let env: Record<string, string>;
const running: Subprocess[] = [];
beforeAll(() => {
  folder = testFolder();
  partner = receiver();
  env = {
    ...(process.env as Record<string, string>),
    CARDPRESS_DATA_DIR: folder.dir,
    CARDPRESS_PORT: "0",
    CARDPRESS_RENDER_WORKERS: "1",
    CARDPRESS_ALLOW_ROOT: "1",
  };
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});
afterAll(async () => {
  partner.close();
  await folder.remove();
});

/** Runs one command to its end. */
async function cardpress(command: string) {
  const child = Bun.spawn([process.execPath, MAIN, ...command.split(" "), "--json"], {
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON as a shell script would.
async function json(command: string): Promise<any> {
  const { code, out, err } = await cardpress(command);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

/** Starts a long-running command; `line` resolves with its next matching JSON line. */
function start(command: string) {
  const child = Bun.spawn([process.execPath, MAIN, ...command.split(" "), "--json"], {
    env,
    stdout: "pipe",
    stderr: "inherit",
  });
  running.push(child);
  const lines = child.stdout
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(
      new TransformStream<string, string>({
        transform(chunk, out) {
          rest += chunk;
          const parts = rest.split("\n");
          rest = parts.pop() ?? "";
          for (const part of parts) out.enqueue(part);
        },
      }),
    )
    .getReader();
  let rest = "";
  return {
    child,
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    line: async (fits: (value: any) => boolean): Promise<any> => {
      for (;;) {
        const { value, done } = await lines.read();
        if (done) throw new Error("the command ended");
        const parsed = JSON.parse(value);
        if (fits(parsed)) return parsed;
      }
    },
  };
}

async function serve() {
  const server = start("serve");
  const { address } = await server.line((line) => line.event === "listening");
  return { ...server, address: address as string };
}

async function partnerAccount() {
  const { account_id: account } = await json("account create --name Rovers --tier scale --credits 5");
  const { key } = await json(`key create --account ${account} --environment test`);
  return { account: account as string, key: key as string };
}

test("the command line sets endpoints up, rotates, lists and tests them, and names what is wrong", async () => {
  env.CARDPRESS_WEBHOOK_ALLOWED_ORIGINS = partner.origin;
  const { account } = await partnerAccount();
  const create = `webhook create --account ${account} --environment test`;
  const made = await json(`${create} --url ${partner.url} --events image.failed,image.completed`);
  expect(Object.keys(made)).toEqual(["endpoint_id", "secret"]);
  const endpoint = made.endpoint_id;
  const [row] = await json(`webhook list --account ${account}`);
  expect(row).toMatchObject({
    endpoint_id: endpoint,
    url: partner.url,
    state: "enabled",
    events: ["image.completed", "image.failed"],
  });
  expect(JSON.stringify(row)).not.toContain("whsec_");
  const rotated = await json(`webhook rotate --endpoint ${endpoint}`);
  expect(rotated.secret).not.toBe(made.secret);
  expect(Date.parse(rotated.old_secret_signs_until)).toBeGreaterThan(Date.now());
  const sent = await json(`webhook test --endpoint ${endpoint}`);
  expect(await json(`webhook deliveries --endpoint ${endpoint}`)).toMatchObject({
    deliveries: [{ delivery_id: sent.delivery_id, type: "webhook.test", state: "pending", attempts: [] }],
    next_cursor: null,
  });
  const refused = await cardpress(`${create} --url http://10.0.0.1/`);
  expect([refused.code, refused.out]).toEqual([1, ""]);
  expect(JSON.parse(refused.err).error).toContain("url: The address");
  expect((await cardpress(`webhook recover --endpoint ${endpoint} --since yesterday`)).code).toBe(2);
});

test("beside a running server, listen forwards what happens to a local address, signed with the secret it shows", async () => {
  const { account, key } = await partnerAccount();
  const local = receiver();
  try {
    const server = await serve();
    const listen = start(`webhook listen --account ${account} --environment test --forward ${local.url}`);
    const { secret } = await listen.line((line) => "secret" in line);
    const answer = await post(server.address, key, imageRequest());
    const { data } = (await answer.json()) as { data: { image_id: string } };
    const shown = await listen.line((line) => "event_id" in line);
    expect(shown).toMatchObject({
      type: "image.completed",
      status: 200,
      body: { data: { image_id: data.image_id } },
    });
    expect(local.received).toHaveLength(1);
    verify(secret, local.received[0] as never, Date.now());
    expect(local.received[0]?.headers["webhook-id"]).toBe(shown.event_id);
    listen.child.kill("SIGINT");
    expect(await listen.child.exited).toBe(0);
  } finally {
    local.close();
  }
});

test("a server killed three times in the middle of deliveries loses no event, and repeats them under the same id", async () => {
  const { account, key } = await partnerAccount();
  const killAt = new Set([1, 9, 17]);
  const images = 20;
  let server: Awaited<ReturnType<typeof serve>>;
  const partner = receiver((_, count) => {
    if (!killAt.has(count)) return new Response("ok");
    // The newest one: it delivers before it says that it listens.
    running.at(-1)?.kill("SIGKILL");
    return new Promise<Response>(() => {});
  });
  try {
    env.CARDPRESS_WEBHOOK_ALLOWED_ORIGINS = partner.origin;
    server = await serve();
    // Made while the server runs: it holds from the next event on.
    const made = await json(`webhook create --account ${account} --environment test --url ${partner.url}`);
    const restarted = (async () => {
      for (const _ of killAt) {
        await running.at(-1)?.exited;
        // It may be killed before it listens; then the next one follows.
        server = await serve().catch(() => server);
      }
    })();
    for (let i = 0; i < images; i++) {
      const body = imageRequest({ player: { external_id: `player-${i}` } });
      const accepted = () => post(server.address, key, body, { "Idempotency-Key": `kill-${i}` });
      while ((await accepted().catch(() => undefined))?.status !== 202) await Bun.sleep(25);
    }
    await restarted;
    const bodies = () => new Map(partner.received.map(({ headers, body }) => [headers["webhook-id"], body]));
    while (bodies().size < images) await Bun.sleep(25);
    for (const got of partner.received) {
      expect(bodies().get(got.headers["webhook-id"] ?? "")).toBe(got.body);
      verify(made.secret, got, Date.now());
    }
    const imageIds = new Set(partner.received.map(({ event }) => event.data.image_id));
    expect(imageIds.size).toBe(images);
    for (;;) {
      const { deliveries } = await json(`webhook deliveries --endpoint ${made.endpoint_id} --limit 100`);
      if (deliveries.every(({ state }: { state: string }) => state === "delivered")) break;
    }
    // Only what was on its way when a server died may come twice: the share of one endpoint, three times.
    expect(partner.received.length - images).toBeLessThanOrEqual(3 * 8);
    expect(partner.received.length).toBeGreaterThan(images);
  } finally {
    partner.close();
  }
});
