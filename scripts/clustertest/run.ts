import { appendFileSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { createAccount, createKey } from "../../src/app/people/manage-account.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import type { BucketSettings } from "../../src/blobs/bucket.ts";
import { openWorkspace, type Workspace } from "../../src/service/workspace.ts";
import { silentLog, TEST_CACHE_DIR, testConfig } from "../../test/harness.ts";
import { type PostgresServer, startPostgres } from "../postgres-server.ts";
import { manyPhotos } from "../soak/photos.ts";
import { dice } from "../soak/run.ts";
import { steadyPort } from "../steady-port.ts";
import { startBalancer } from "./balancer.ts";
import * as checks from "./checks.ts";
import { cardClient } from "./client.ts";
import { doFaults } from "./faults.ts";
import { emptyFigures, type Figures } from "./figures.ts";
import { type Partner, startLoad } from "./load.ts";
import { clusterNode, type Node } from "./node.ts";
import { type Receiver, webhookReceiver } from "./receiver.ts";
import { startSamples } from "./samples.ts";
import { storageProxy } from "./storage-proxy.ts";
import { tcpProxy } from "./tcp-proxy.ts";

export interface ClusterTestOptions {
  /** An empty folder. */
  dir: string;
  seed: number;
  nodes: number;
  seconds: number;
  /** An empty bucket. */
  bucket: BucketSettings;
  /** Creates a second, and how many of them are live. */
  rate: number;
  liveShare: number;
  note: (line: string) => void;
}

/** Share of the photos that no node has cut out before. */
const NEW_PHOTOS = 0.1;
const REFUSALS_EVERY_MS = 15_000;
const MONTH_AGO_MS = 31 * 86_400_000;

/** Runs a cluster under load and faults, then looks at what became of everything. */
export async function clusterTest(options: ClusterTestOptions): Promise<Figures> {
  const figures = emptyFigures(options.note);
  const ends: (() => unknown)[] = [];
  try {
    await run(options, figures, (end) => ends.push(end));
  } finally {
    for (const end of ends.reverse()) await end();
  }
  return figures;
}

async function run(
  options: ClusterTestOptions,
  figures: Figures,
  atEnd: (end: () => unknown) => void,
): Promise<void> {
  const { seed, note } = options;
  const random = dice(seed);
  const postgres = await startPostgres();
  atEnd(postgres.stop);
  const receiver = webhookReceiver(dice(seed + 1));
  atEnd(receiver.stop);
  const photos = manyPhotos(NEW_PHOTOS);
  atEnd(photos.stop);
  const cluster = await startCluster(options, { postgres, photos: photos.origin, receiver, atEnd });
  const { nodes, env, balancer } = cluster;
  const workspace = await openWorkspace(testConfig(join(options.dir, "admin"), env), silentLog);
  atEnd(() => workspace.store.close());
  const partners = await makePartners(workspace, receiver, options.seconds);
  const renewed = await lastMonthsAccounts(workspace);
  for (const node of nodes) node.start();
  await Promise.all(nodes.map((node) => node.untilReady()));
  note(`${nodes.length} nodes are ready`);

  const admin = new SQL(env.CARDPRESS_DATABASE_URL ?? "", { max: 1 });
  atEnd(() => admin.close({ timeout: 0 }));
  const client = cardClient(balancer.address, nodes, figures);
  const books: checks.Books = { workspace, admin, figures, client, nodes };
  const { rate, liveShare } = options;
  const loadOptions = { client, nodes, partners, figures, random, photo: photos.url, rate, liveShare };
  const load = startLoad(loadOptions);
  const samples = startSamples(env.CARDPRESS_DATABASE_URL ?? "", nodes);
  const refusals = repeatRefusals(books, partners.at(-1));
  const places = {
    ...cluster,
    postgres,
    databaseUrl: env.CARDPRESS_DATABASE_URL ?? "",
    figures,
    random,
    note,
  };
  await doFaults(places, options.seconds * 1000);
  note("the last fault is over");
  await refusals.stop();
  const answered = load.stop();
  await checks.checkDrain(books);
  await answered;
  samples.stop(figures);
  Object.assign(figures.storage, cluster.storage.met);
  note(`load: ${JSON.stringify(load.counts)}; storage: ${JSON.stringify(cluster.storage.met)}`);
  await checks.checkRates(books);
  await checks.checkPromises(loadOptions, load, books);
  await checks.checkDrain(books);
  await checks.checkPictures(
    books,
    load.promised.flatMap(({ picture }) => picture ?? []),
  );
  await endNodes(nodes, figures);
  await checks.checkLedger(books, partners);
  await checks.checkRenders(books);
  await checks.checkWebhooks(books, receiver);
  await checks.checkGrants(books, renewed);
  figures.notes.keys = `${load.counts.repeated} sent to two nodes at once, ${load.counts.otherBody} with another body, ${load.counts.batches} batches`;
}

interface Around {
  postgres: PostgresServer;
  photos: string;
  receiver: Receiver;
  atEnd: (end: () => unknown) => void;
}

async function startCluster(options: ClusterTestOptions, { postgres, photos, receiver, atEnd }: Around) {
  const { dir, seed, bucket } = options;
  const admin = new SQL(`${postgres.url}/postgres`, { max: 1 });
  await admin.unsafe("CREATE DATABASE cardpress_cluster");
  await admin.close();
  const wire = await tcpProxy(postgres.port);
  atEnd(wire.stop);
  const storage = await storageProxy(bucket.endpoint, dice(seed + 2), (line) =>
    appendFileSync(join(dir, "storage.log"), `${new Date().toISOString()} ${line}\n`),
  );
  atEnd(storage.stop);
  const keyFile = join(dir, "secret.key");
  await Bun.write(keyFile, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"));
  const port = await steadyPort();
  const env: Record<string, string> = {
    CARDPRESS_BASE_URL: `http://127.0.0.1:${port}`,
    CARDPRESS_DATABASE_URL: `${postgres.url}/cardpress_cluster`,
    CARDPRESS_S3_ENDPOINT: bucket.endpoint,
    CARDPRESS_S3_REGION: bucket.region,
    CARDPRESS_S3_BUCKET: bucket.bucket,
    CARDPRESS_S3_ACCESS_KEY_ID: bucket.accessKeyId,
    CARDPRESS_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    CARDPRESS_SECRET_KEY_FILE: keyFile,
    CARDPRESS_RENDER_WORKERS: "1",
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos,
    CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: receiver.origin,
  };
  const nodes: Node[] = [];
  mkdirSync(TEST_CACHE_DIR, { recursive: true });
  for (let n = 1; n <= options.nodes; n++) {
    const own =
      n === 1
        ? { CARDPRESS_DATABASE_URL: `postgres://cardpress@127.0.0.1:${wire.port}/cardpress_cluster` }
        : {};
    const home = join(dir, `node-${n}`);
    mkdirSync(join(home, "data"), { recursive: true });
    // The packaged browser is unpacked once, not by each node.
    symlinkSync(TEST_CACHE_DIR, join(home, "data/cache"));
    nodes.push(
      clusterNode({
        name: `node-${n}`,
        dir: home,
        port: await steadyPort(),
        env: { ...env, ...own, CARDPRESS_S3_ENDPOINT: storage.origin },
      }),
    );
  }
  atEnd(() => Promise.all(nodes.map((node) => node.kill())));
  const balancer = await startBalancer(port, nodes);
  atEnd(balancer.stop);
  return { nodes, wire, storage, env, balancer };
}

/** Two that buy many credits, one that runs out of them, and one that is suspended now and then. */
async function makePartners(workspace: Workspace, receiver: Receiver, seconds: number): Promise<Partner[]> {
  const partners: Partner[] = [];
  const limit = Math.max(3, Math.round(seconds / 20));
  for (const name of ["Rovers", "United", "City", "Wanderers"]) {
    const isLimited = name === "City";
    const account = await createAccount(workspace, {
      name,
      tier: "scale",
      credits: isLimited ? limit : 100_000,
    });
    const keyFor = async (environment: "live" | "test") =>
      (await createKey(workspace, { accountId: account.id, environment, name: "load", by: null })).key;
    for (const environment of ["live", "test"] as const) {
      const path = `/${name}/${environment}`;
      const { secret } = await createEndpoint(workspace, {
        accountId: account.id,
        environment,
        url: receiver.origin + path,
      });
      receiver.expect(path, secret);
    }
    const keys = { live: await keyFor("live"), test: await keyFor("test") };
    partners.push({ accountId: account.id, name, keys, ...(isLimited && { limit }) });
  }
  return partners;
}

async function lastMonthsAccounts(workspace: Workspace): Promise<string[]> {
  const clock = { ...workspace.clock, now: () => Date.now() - MONTH_AGO_MS };
  const made = Array.from({ length: 20 }, (_, n) =>
    createAccount({ ...workspace, clock }, { name: `Old ${n}`, tier: "starter", credits: 50 }),
  );
  return (await Promise.all(made)).map(({ id }) => id);
}

function repeatRefusals(books: checks.Books, partner: Partner | undefined) {
  let isOver = false;
  const turns = (async () => {
    while (!isOver && partner) {
      // The operator's commands meet faults too, and are repeated by the next turn.
      await checks.checkRefusals(books, partner).catch(() => {});
      for (let waited = 0; waited < REFUSALS_EVERY_MS && !isOver; waited += 100) await Bun.sleep(100);
    }
    if (partner) await checks.checkRefusals(books, partner);
  })();
  return {
    stop: () => {
      isOver = true;
      return turns;
    },
  };
}

/** Ends all nodes as a service manager does; nothing of them may be left. */
async function endNodes(nodes: readonly Node[], figures: Figures): Promise<void> {
  const codes = await Promise.all(nodes.map((node) => node.terminate()));
  for (const [n, code] of codes.entries())
    figures.check("flat", code === 0, () => `${nodes[n]?.name} ended with ${code} at SIGTERM`);
  for (const { name, dir } of nodes) {
    for (const folder of ["profiles", "scratch"]) {
      const left = readdirSync(join(dir, "data", folder));
      figures.check("flat", left.length === 0, () => `${name} left ${folder}/${left.join(", ")}`);
    }
  }
}
