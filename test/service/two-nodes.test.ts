import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { resumeAccount, suspendAccount } from "../../src/app/people/manage-account.ts";
import { leaseHolderOf } from "../../src/core/lease.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { leaseTokens } from "../../src/store/engine/lease-holders.ts";
import { findImage } from "../../src/store/images/image-reads.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { stopEmulator } from "../buckets.ts";
import { emptyCluster } from "../clusters.ts";
import { client, testMember } from "../console/sessions.ts";
import {
  get,
  imageRequest,
  photoServer,
  post,
  silentLog,
  type TestAccount,
  testAccount,
  testConfig,
  testFolder,
  untilEnded,
} from "../harness.ts";
import { ENGINE } from "../postgres.ts";

const CREDITS = 100;

interface Node {
  dir: string;
  address: string;
  kill(): Promise<unknown>;
  stop(): Promise<unknown>;
}

/** The real program as a process of its own; resolves when it listens. */
async function startNode(env: Record<string, string>, dir = testFolder().dir): Promise<Node> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
    env: {
      ...process.env,
      ...env,
      CARDPRESS_DATA_DIR: dir,
      CARDPRESS_PORT: "0",
      CARDPRESS_RENDER_WORKERS: "1",
      CARDPRESS_ALLOW_ROOT: "1",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = (signal: NodeJS.Signals) => () => {
    child.kill(signal);
    return child.exited;
  };
  let read = "";
  const decoder = new TextDecoder();
  const listening = Promise.withResolvers<string>();
  void (async () => {
    for await (const chunk of child.stdout) {
      read += decoder.decode(chunk, { stream: true });
      const line = read.split("\n").find((entry) => entry.includes('"listening"'));
      if (line) listening.resolve(JSON.parse(line).address);
    }
    listening.reject(new Error(`the node ended: ${read}`));
  })();
  return { dir, address: await listening.promise, kill: end("SIGKILL"), stop: end("SIGTERM") };
}

describe.skipIf(ENGINE !== "postgres")("two nodes on one database and one bucket", () => {
  let workspace: Workspace;
  let rovers: TestAccount;
  let photos: ReturnType<typeof photoServer>;
  let env: Record<string, string>;
  let a: Node;
  let b: Node;

  beforeAll(async () => {
    photos = photoServer();
    env = { ...(await emptyCluster()), CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin };
    workspace = await openWorkspace(testConfig(testFolder().dir, env), silentLog);
    rovers = await testAccount(workspace, { credits: CREDITS });
    [a, b] = await Promise.all([startNode(env), startNode(env)]);
  });
  afterAll(async () => {
    await Promise.all([a, b].map((node) => node?.stop()));
    await workspace?.store.close();
    await photos?.stop();
    await stopEmulator();
  });

  const body = () => imageRequest({ player: { source_image_url: photos.url("astronaut.png") } });
  const nodeOn = async ({ dir }: Node) => (await Bun.file(join(dir, "node")).text()).trim();
  async function create(node: Node, headers: Record<string, string> = {}): Promise<string> {
    const answer = await post(node.address, rovers.liveKey, body(), headers);
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { data: { image_id: string } }).data.image_id;
  }
  /** Every image ever accepted is paid for once, and the books add up. */
  async function expectPaid(images: number): Promise<void> {
    const report = await audit(workspace.store, Date.now(), { blobs: workspace.blobs });
    expect(report.findings.filter(({ ok }) => !ok)).toEqual([]);
    const account = await findAccount(workspace.store.read, rovers.account.id);
    expect((account?.creditsPlan ?? 0) + (account?.creditsTopup ?? 0)).toBe(CREDITS - images);
    expect(account?.creditsHeld).toBe(0);
  }

  test("each completes cards once that are polled, and whose pictures are fetched, at the other", async () => {
    const ids = await Promise.all([create(a), create(b), create(a), create(b)]);
    expect(new Set(ids).size).toBe(4);
    for (const [n, id] of ids.entries()) {
      const other = n % 2 === 0 ? b : a;
      const card = await untilEnded(other.address, rovers.liveKey, id);
      expect(card.status).toBe("completed");
      const { pathname } = new URL(card.result.image_url);
      const [here, there] = await Promise.all(
        [a, b].map(async ({ address }) => (await fetch(address + pathname)).bytes()),
      );
      expect(here?.length).toBeGreaterThan(10_000);
      expect(there).toEqual(here as Uint8Array<ArrayBuffer>);
    }
    await expectPaid(4);
  });

  test("one idempotency key that is sent to both at once gives one image, paid once", async () => {
    const ids = new Set<string>();
    for (let n = 0; n < 4; n++) {
      const headers = { "Idempotency-Key": `both-${n}` };
      const [one, two] = await Promise.all([create(a, headers), create(b, headers)]);
      expect(two).toBe(one);
      ids.add(one);
    }
    expect(ids.size).toBe(4);
    for (const id of ids) await untilEnded(b.address, rovers.liveKey, id);
    await expectPaid(8);
  });

  test("what is suspended at one is refused by both at their next request", async () => {
    const statuses = () =>
      Promise.all(
        [a, b].map(async ({ address }) => (await get(address, rovers.liveKey, "/v1/images")).status),
      );
    expect(await statuses()).toEqual([200, 200]);
    await suspendAccount(workspace, rovers.account.id, "unpaid");
    expect(await statuses()).toEqual([403, 403]);
    await resumeAccount(workspace, rovers.account.id);
    expect(await statuses()).toEqual([200, 200]);
  });

  test("who signs out at one has no session at either", async () => {
    const member = await testMember(workspace, rovers.account.id, "kit@rovers.example");
    const browser = await client(workspace, a.address, member);
    const pages = () =>
      Promise.all(
        [a, b].map(({ address }) =>
          fetch(`${address}/console/profile`, { headers: { cookie: browser.cookie }, redirect: "manual" }),
        ),
      );
    expect((await pages()).map(({ status }) => status)).toEqual([200, 200]);
    await browser.post("/console/sign-out");
    const after = await pages();
    expect(after.map(({ status, headers }) => [status, headers.get("location")?.split("?")[0]])).toEqual([
      [303, "/console/sign-in"],
      [303, "/console/sign-in"],
    ]);
  });

  test("what one was making when it was killed the other makes, and it comes back under another name", async () => {
    const name = await nodeOn(a);
    const ids: string[] = [];
    const holds = async () =>
      (await leaseTokens(workspace.store.read)).some((t) => leaseHolderOf(t) === name);
    // One at a time: a machine that is slow to draw gets no heap of cards, of which some would be refused.
    const isOpen = async () => {
      const scope = { accountId: rovers.account.id, environment: "live" as const };
      const last = await findImage(workspace.store.read, { ...scope, id: ids.at(-1) ?? "none" });
      return last?.completedAt === null;
    };
    while (!(await holds())) if (!(await isOpen())) ids.push(await create(a));
    await a.kill();
    for (const id of ids) expect((await untilEnded(b.address, rovers.liveKey, id)).status).toBe("completed");
    await expectPaid(8 + ids.length);

    a = await startNode(env, a.dir);
    expect(await nodeOn(a)).not.toBe(name);
    const id = await create(a);
    expect((await untilEnded(a.address, rovers.liveKey, id)).status).toBe("completed");
    await expectPaid(9 + ids.length);
  });
});
