/**
 * What one machine's cores do with one server on SQLite, and with one, two and three on PostgreSQL and a
 * bucket:
 *
 *     bun scripts/bench/nodes.ts [--creates 160] [--reads 4000] [--cards 24]
 *
 * Creates and reads are answered by the real HTTP side with nothing to render; cards by whole servers with a
 * worker each. PostgreSQL, the bucket's emulator and this client share the cores, so more servers show what a
 * server costs, not what more machines would do: the processor's time is what to count with.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { stopEmulator } from "../../test/buckets.ts";
import { emptyCluster } from "../../test/clusters.ts";
import {
  get,
  imageRequest,
  photoServer,
  post,
  testAccount,
  testConfig,
  untilEnded,
} from "../../test/harness.ts";
import { clusterNode } from "../clustertest/node.ts";
import { offerHelp } from "../help.ts";
import { startPostgres } from "../postgres-server.ts";
import { steadyPort } from "../steady-port.ts";
import { within } from "./load.ts";
import { processorMsOf } from "./processes.ts";
import { type RunningServer, startServer } from "./running-server.ts";

offerHelp(import.meta);
const { values } = parseArgs({
  options: {
    creates: { type: "string", default: "160" },
    reads: { type: "string", default: "4000" },
    cards: { type: "string", default: "24" },
  },
});
const [creates, reads, cards] = [Number(values.creates), Number(values.reads), Number(values.cards)];
const AT_ONCE = 16;
const ACCOUNTS = 8;
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";

const dir = mkdtempSync(join(tmpdir(), "cardpress-nodes-"));
const photos = photoServer();
const body = imageRequest({ player: { source_image_url: photos.url("yoga.jpg") } });
const server = await startPostgres();
try {
  for (const [engine, nodes] of [
    ["sqlite", 1],
    ["postgres", 1],
    ["postgres", 2],
    ["postgres", 3],
  ] as const) {
    const place = join(dir, `${engine}-${nodes}`);
    mkdirSync(place);
    const fresh = async () =>
      engine === "sqlite" ? {} : await emptyCluster({ url: emptyDatabase(), dir: place });
    console.log(`${engine}, ${nodes === 1 ? "1 server" : `${nodes} servers`}:`);
    await answers({ place, settings: await fresh(), nodes });
    await rendered({ place, settings: await fresh(), nodes });
  }
} finally {
  await server.stop();
  await stopEmulator();
  await photos.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

function emptyDatabase(): URL {
  return new URL(`${server.url}/nodes_${crypto.randomUUID().replaceAll("-", "")}`);
}

interface Setup {
  place: string;
  settings: Record<string, string>;
  nodes: number;
}

/** Creates and reads, with nothing to render. */
async function answers({ place, settings, nodes }: Setup): Promise<void> {
  const data = (n: number) => join(place, settings.CARDPRESS_DATABASE_URL ? `answers-${n}` : "answers");
  const partners = await makePartners(data(0), settings);
  const running = await Promise.all(
    Array.from({ length: nodes }, (_, n) => startAnswering(data(n), settings)),
  );
  const addressOf = (n: number) => `http://127.0.0.1:${running[n % nodes]?.port}`;
  const create = async (n: number, key: string) => {
    const answer = await post(addressOf(n), key, body);
    const { data } = (await answer.json()) as { data: { image_id: string } | null };
    if (answer.status !== 202) throw new Error(`a create was answered with ${answer.status}`);
    return data?.image_id ?? "";
  };
  const keyOf = (n: number) => partners[n % partners.length] ?? "";
  for (let n = 0; n < 30 * nodes; n++) await create(n, keyOf(n));
  let id = "";
  const took = async (name: string, count: number, atOnce: number, work: (n: number) => Promise<unknown>) => {
    const processor = async () => {
      const reports = await Promise.all(running.map(({ report }) => report()));
      return reports.reduce((sum, { processorUs }) => sum + processorUs, 0) / 1000;
    };
    const [before, ofServer] = [await processor(), processorMsOf(server.pid())];
    const { perSecond, times } = await many(count, atOnce, work);
    const own = ((await processor()) - before) / count;
    const database = (processorMsOf(server.pid()) - ofServer) / count;
    console.log(
      `  ${name.padEnd(36)} ${perSecond.toFixed(0).padStart(5)}/s, half within ${within(times, 0.5).toFixed(1)} ms, 99 of 100 within ${within(times, 0.99).toFixed(1)} ms; processor ${own.toFixed(2)} ms, PostgreSQL ${database.toFixed(2)} ms`,
    );
  };
  await took("creates, one after the other", creates / 2, 1, async (n) => {
    id = await create(n, keyOf(n));
  });
  await took("creates, 16 at once, 8 accounts", creates, AT_ONCE, (n) => create(n, keyOf(n)));
  await took("creates, 16 at once, one account", creates, AT_ONCE, (n) => create(n, keyOf(0)));
  const owner = keyOf(creates / 2 - 1);
  await took("reads of an image, 16 at once", reads, AT_ONCE, async (n) => {
    const answer = await get(addressOf(n), owner, `/v1/images/${id}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`a read was answered with ${answer.status}`);
  });
  await Promise.all(running.map(({ stop }) => stop()));
}

/** Cards of one known photo, by whole servers with one worker each. */
async function rendered({ place, settings, nodes }: Setup): Promise<void> {
  const rest = {
    ...settings,
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
    CARDPRESS_RENDER_WORKERS: "1",
  };
  const whole = await Promise.all(
    Array.from({ length: nodes }, async (_, n) =>
      clusterNode({ name: `node ${n}`, dir: join(place, `node-${n}`), port: await steadyPort(), env: rest }),
    ),
  );
  const [key = ""] = await makePartners(join(place, "node-0/data"), settings);
  for (const node of whole) node.start();
  await Promise.all(whole.map((node) => node.untilReady()));
  const [first] = whole;
  const request = async () => {
    const answer = await post(first?.address ?? "", key, body);
    if (answer.status !== 202) throw new Error(`a create was answered with ${answer.status}`);
    return ((await answer.json()) as { data: { image_id: string } }).data.image_id;
  };
  const all = async (count: number) => {
    for (const id of await Promise.all(Array.from({ length: count }, request)))
      await untilEnded(first?.address ?? "", key, id);
  };
  await all(2 * nodes);
  const pids = whole.map((node) => node.pid() ?? 0);
  const processor = () => pids.reduce((sum, pid) => sum + processorMsOf(pid), 0);
  const [startedAt, before] = [performance.now(), processor()];
  await all(cards);
  const perSecond = (cards * 1000) / (performance.now() - startedAt);
  console.log(
    `  cards of one photo, a worker a server      ${perSecond.toFixed(1)}/s; processor ${((processor() - before) / cards).toFixed(0)} ms each`,
  );
  await Promise.all(whole.map((node) => node.terminate()));
}

async function makePartners(data: string, settings: Record<string, string>): Promise<string[]> {
  mkdirSync(data, { recursive: true });
  const workspace = await openWorkspace(testConfig(data, settings), quietLog());
  const partners: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++)
    partners.push((await testAccount(workspace, { name: `Club ${n}`, credits: 1e6 })).liveKey);
  await workspace.store.close();
  return partners;
}

function startAnswering(data: string, settings: Record<string, string>): Promise<RunningServer> {
  mkdirSync(data, { recursive: true });
  return startServer("cardpress", { dir: data, photos: photos.origin, settings });
}

async function many(count: number, atOnce: number, work: (n: number) => Promise<unknown>) {
  const times: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const one = async () => {
    while (next < count) {
      const at = performance.now();
      await work(next++);
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return {
    perSecond: (count * 1000) / (performance.now() - startedAt),
    times: times.toSorted((a, b) => a - b),
  };
}
