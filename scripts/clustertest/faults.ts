import { SQL } from "bun";
import type { PostgresServer } from "../postgres-server.ts";
import { familyOf } from "../soak/processes.ts";
import type { Figures } from "./figures.ts";
import { killBrowser, type Node, sendSignal } from "./node.ts";
import type { StorageProxy } from "./storage-proxy.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

export interface FaultPlaces {
  nodes: readonly Node[];
  postgres: PostgresServer;
  /** To the test's database, past every proxy. */
  databaseUrl: string;
  /** Between the first node and PostgreSQL. */
  wire: TcpProxy;
  storage: StorageProxy;
  figures: Figures;
  random: () => number;
  note: (line: string) => void;
}

const SECOND = 1_000;
const KILL_EVERY_MS = 10 * SECOND;
const RESTART_AFTER_MS = 2 * SECOND;
/** How often a node may end at its start while storage is there. */
const MAX_STARTS = 5;
/** In a short run no fault takes longer than this. */
const SHORT_MS = 4 * SECOND;
/** A run of this length meets faults at their full length. */
const LONG_RUN_MS = 300 * SECOND;
/** A frozen node is given up on after this time. */
const ZOMBIE_PATIENCE_MS = 150 * SECOND;

/** Does faults to everything for this long; resolves when the last one is over and all nodes are ready. */
export async function doFaults(places: FaultPlaces, forMs: number): Promise<void> {
  const until = performance.now() + forMs;
  places.storage.setMode("flaky");
  await Promise.all([killNodes(places, until), doOthers(places, until, forMs >= LONG_RUN_MS)]);
  places.storage.setMode("well");
  await Promise.all(places.nodes.map((node) => node.untilReady()));
}

/** A node of which nothing else is asked, chosen by chance; undefined when there is none. */
function takeNode({ nodes, random }: FaultPlaces): Node | undefined {
  const free = nodes.filter((node) => !node.isBusy && node.pid() !== undefined);
  // Somebody is left to serve, where there is more than one.
  if (free.length === 0 || (nodes.length > 1 && free.length < 2)) return undefined;
  const node = free[Math.floor(random() * free.length)];
  if (node) node.isBusy = true;
  return node;
}

async function killNodes(places: FaultPlaces, until: number): Promise<void> {
  const { figures, note } = places;
  while (performance.now() + KILL_EVERY_MS < until) {
    await Bun.sleep(KILL_EVERY_MS);
    const node = takeNode(places);
    if (!node) continue;
    note(`kill -9 ${node.name}`);
    count(figures, "kill -9");
    await node.kill();
    await Bun.sleep(RESTART_AFTER_MS);
    await startUntilReady(node, places);
    node.isBusy = false;
  }
}

/**
 * A node whose start meets a fault ends with a message, and is started again as a service manager would: for
 * as long as storage is down, and a few times beside.
 */
async function startUntilReady(node: Node, { figures, storage }: FaultPlaces): Promise<void> {
  for (let refused = 0; ; ) {
    node.start();
    try {
      return await node.untilReady();
    } catch (error) {
      if (!storage.isDown()) refused += 1;
      if (refused === MAX_STARTS) {
        figures.problem("flat", String(error));
        throw error;
      }
      count(figures, "start refused");
      await Bun.sleep(RESTART_AFTER_MS);
    }
  }
}

async function doOthers(places: FaultPlaces, until: number, isLong: boolean): Promise<void> {
  const { figures, note, random } = places;
  const kinds = faultKinds(places, isLong);
  for (let round: [string, () => Promise<boolean>][] = []; performance.now() < until; ) {
    if (round.length === 0) round = Object.entries(kinds).toSorted(() => random() - 0.5);
    const [name, doFault] = round.pop() ?? [];
    if (!name || !doFault) return;
    note(name);
    if (await doFault()) count(figures, name);
    await Bun.sleep(SECOND + random() * 3 * SECOND);
  }
}

const count = ({ faults }: Figures, name: string) => {
  faults[name] = (faults[name] ?? 0) + 1;
};

/** The faults beside kill -9, each with whether it could be done. */
function faultKinds(places: FaultPlaces, isLong: boolean): Record<string, () => Promise<boolean>> {
  const { wire, storage, postgres, nodes } = places;
  const lasting = (ms: number) => Bun.sleep(isLong ? ms : Math.min(ms, SHORT_MS));
  const during = (begin: () => void, end: () => void, ms: number) => async () => {
    begin();
    await lasting(ms);
    end();
    return true;
  };
  const freeze = (seconds: number) => async () => {
    const frozen = familyOf(postgres.pid()).map(({ pid }) => pid);
    for (const pid of frozen) sendSignal(pid, "SIGSTOP");
    await Bun.sleep(seconds * SECOND);
    for (const pid of frozen) sendSignal(pid, "SIGCONT");
    return true;
  };
  const stalled = during(
    () => wire.setMode("stall"),
    () => wire.setMode("pass"),
    12 * SECOND,
  );
  const cut = during(
    () => wire.setMode("cut"),
    () => wire.setMode("pass"),
    5 * SECOND,
  );
  const down = during(
    () => storage.setMode("down"),
    () => storage.setMode("flaky"),
    60 * SECOND,
  );
  return {
    "PostgreSQL frozen for 3 s": freeze(3),
    ...(isLong && { "PostgreSQL frozen for 8 s": freeze(8), "PostgreSQL frozen for 20 s": freeze(20) }),
    "all connections terminated": () => terminateAll(places),
    "PostgreSQL restarted": async () => {
      await postgres.restart();
      return true;
    },
    "a node's connections stalled": stalled,
    "a node's connections cut": cut,
    "storage down": down,
    "a browser killed": async () => nodes.some((node) => !node.isBusy && killBrowser(node)),
    ...(nodes.length > 1 && {
      "rolling restart": () => rollingRestart(places),
      ...(isLong && { "a node frozen past its claim": () => zombie(places) }),
    }),
  };
}

async function terminateAll({ databaseUrl }: FaultPlaces): Promise<boolean> {
  const admin = new SQL(databaseUrl, { max: 1 });
  try {
    await admin.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    return true;
  } finally {
    await admin.close({ timeout: 0 });
  }
}

async function rollingRestart(places: FaultPlaces): Promise<boolean> {
  for (const node of places.nodes) {
    while (node.isBusy) await Bun.sleep(SECOND / 10);
    node.isBusy = true;
    const code = await node.terminate();
    places.figures.check("flat", code === 0, () => `${node.name} ended with ${code} at SIGTERM`);
    await startUntilReady(node, places);
    node.isBusy = false;
  }
  return true;
}

/** Stops a node that renders a card until another one has taken the work over, and lets it go on. */
async function zombie(places: FaultPlaces): Promise<boolean> {
  const { databaseUrl, note } = places;
  const admin = new SQL(databaseUrl, { max: 1, connectionTimeout: 5 });
  const claims = async (): Promise<string[]> => {
    const rows = await admin
      // Of a test image's stale claim nothing is logged: drawing it takes no time.
      .unsafe("SELECT lease_token FROM images WHERE state = 'rendering' AND environment = 'live'")
      .catch(() => []);
    return rows.map(({ lease_token }: { lease_token: string }) => lease_token);
  };
  try {
    for (const until = performance.now() + ZOMBIE_PATIENCE_MS; performance.now() < until; ) {
      const node = takeNode(places);
      if (!node) {
        await Bun.sleep(SECOND);
        continue;
      }
      node.freeze();
      const held = await claims();
      // Whatever still runs has ended by then; the others are its own.
      await Bun.sleep(6 * SECOND);
      const now = await claims();
      let own = held.filter((token) => now.includes(token));
      if (own.length > 0) note(`${node.name} is frozen with ${own.length} claims`);
      while (own.length > 0 && performance.now() < until) {
        await Bun.sleep(SECOND);
        const left = await claims();
        own = own.filter((token) => left.includes(token));
        if (own.length > 0) continue;
        node.wake();
        node.isBusy = false;
        return true;
      }
      node.wake();
      node.isBusy = false;
      await Bun.sleep(SECOND);
    }
    return false;
  } finally {
    await admin.close({ timeout: 0 });
  }
}
