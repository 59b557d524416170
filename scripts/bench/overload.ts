/**
 * What partners experience at five times the load the machine can render:
 *
 *     bun scripts/bench/overload.ts [--seconds 60]
 *
 * The server is a separate process with real renders; this process sends at a fixed rate, whatever the
 * answers are, and another account that occasionally sends a single image shows what a quiet partner notices.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import {
  get,
  imageRequest,
  photoServer,
  post,
  testAccount,
  testConfig,
  testFolder,
  untilEnded,
} from "../../test/harness.ts";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, factor: { type: "string", default: "5" } },
});
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";
const seconds = Number(values.seconds);
const folder = testFolder();
const photos = photoServer();
const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
const partners = await Promise.all(
  [1, 2].map((n) => testAccount(workspace, { name: `Partner ${n}`, credits: 1e6 })),
);
const quiet = await testAccount(workspace, { name: "Quiet", credits: 1e6 });
await workspace.store.close();

const server = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
  env: {
    ...process.env,
    CARDPRESS_DATA_DIR: folder.dir,
    CARDPRESS_PORT: "0",
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
  },
  stdout: "pipe",
  stderr: "inherit",
});
const listening = Promise.withResolvers<string>();
void (async () => {
  let log = "";
  for await (const chunk of server.stdout as unknown as AsyncIterable<Uint8Array>) {
    if (log.length > 1e6) continue;
    log += new TextDecoder().decode(chunk);
    const address = /"address":"([^"]+)"/.exec(log)?.[1];
    if (address) listening.resolve(address);
  }
})();
const address = await listening.promise;
const body = imageRequest({ player: { source_image_url: photos.url("astronaut.png") } });

async function create(
  key: string,
): Promise<{ status: number; id: string; retryAfter: string | null; ms: number }> {
  const startedAt = performance.now();
  const answer = await post(address, key, body);
  const { data } = (await answer.json()) as { data: { image_id: string } | null };
  return {
    status: answer.status,
    id: data?.image_id ?? "",
    retryAfter: answer.headers.get("retry-after"),
    ms: performance.now() - startedAt,
  };
}

/** User and system time of the server process (proc(5), fields 14 and 15, in ticks of 10 ms). */
async function serverCpuMs(): Promise<number> {
  const stat = await Bun.file(`/proc/${server.pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function percentiles(ms: number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${sorted.length})`;
}

// The machine's capacity: a short burst, from the first claim to the last card.
const burst = await Promise.all(Array.from({ length: 24 }, () => create(quiet.liveKey)));
await untilEnded(address, quiet.liveKey, burst[0]?.id ?? "");
const burstAt = performance.now();
for (const { id } of burst) await untilEnded(address, quiet.liveKey, id);
const perSecond = (burst.length - 2) / ((performance.now() - burstAt) / 1000);
const rate = perSecond * Number(values.factor);
console.log(
  `renders ${perSecond.toFixed(1)} cards/s; sending ${rate.toFixed(0)} creates/s and as many polls for ${seconds} s`,
);

const posts: number[] = [];
const gets: number[] = [];
const statuses = new Map<string, number>();
const retryAfters: number[] = [];
const quietWaits: number[] = [];
const known: { key: string; id: string }[] = [];
const pending = new Set<Promise<unknown>>();
const start = (work: Promise<unknown>) => {
  pending.add(work);
  void work.catch((error) => count(`error ${error}`)).finally(() => pending.delete(work));
};
const count = (what: string) => statuses.set(what, (statuses.get(what) ?? 0) + 1);

async function oneCreate(n: number): Promise<void> {
  const key = partners[n % partners.length]?.liveKey ?? "";
  const answer = await create(key);
  posts.push(answer.ms);
  count(`POST ${answer.status}`);
  if (answer.retryAfter !== null) retryAfters.push(Number(answer.retryAfter));
  if (answer.status === 202) known.push({ key, id: answer.id });
}

async function onePoll(): Promise<void> {
  const target = known[Math.floor(Math.random() * known.length)];
  if (!target) return;
  const startedAt = performance.now();
  const answer = await get(address, target.key, `/v1/images/${target.id}`);
  await answer.arrayBuffer();
  gets.push(performance.now() - startedAt);
  count(`GET ${answer.status}`);
}

async function oneQuietCard(): Promise<void> {
  const startedAt = performance.now();
  const { status, id } = await create(quiet.liveKey);
  count(`quiet POST ${status}`);
  if (status !== 202) return;
  await untilEnded(address, quiet.liveKey, id);
  quietWaits.push(performance.now() - startedAt);
}

const cpuAt = await serverCpuMs();
const begin = performance.now();
let sent = 0;
let quietCards = 0;
while (performance.now() - begin < seconds * 1000) {
  const due = ((performance.now() - begin) / 1000) * rate;
  for (; sent < due; sent++) {
    start(oneCreate(sent));
    start(onePoll());
  }
  if ((performance.now() - begin) / 5_000 >= quietCards) {
    quietCards += 1;
    start(oneQuietCard());
  }
  await Bun.sleep(5);
}
await Promise.all(pending);
const cpu = (await serverCpuMs()) - cpuAt;
console.log(
  `server process: ${((100 * cpu) / (performance.now() - begin)).toFixed(0)} % of a core, without its workers`,
);
console.log(`POST: ${percentiles(posts)}`);
console.log(`GET:  ${percentiles(gets)}`);
console.log(`quiet partner, create to finished card: ${percentiles(quietWaits)}`);
console.log([...statuses].map(([what, n]) => `${what}: ${n}`).join(", "));
if (retryAfters.length > 0)
  console.log(`Retry-After ${Math.min(...retryAfters)} to ${Math.max(...retryAfters)} s`);
server.kill("SIGTERM");
console.log(`drained with exit code ${await server.exited}`);
const after = await openWorkspace(testConfig(folder.dir), quietLog());
console.log(`audit ${(await audit(after.store, Date.now())).ok ? "ok" : "BROKEN"}`);
await after.store.close();
const db = new Database(join(folder.dir, "cardpress.db"));
console.log(db.query("SELECT state, count(*) AS images FROM images GROUP BY 1").all());
db.close();
await photos.stop();
await folder.remove();
process.exit(0);
