import { resolve } from "node:path";
import { Command } from "commander";
import { createAccount, createKey } from "../app/people/manage-account.ts";
import { addMember, firstOperatorLink } from "../app/people/manage-users.ts";
import { type Config, readConfig, withPort } from "../config.ts";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { OperatorError } from "../core/errors.ts";
import { samplePhotoUrl } from "../core/sample-photo.ts";
import { curlCreate } from "../http/curl.ts";
import { jsonLog } from "../log.ts";
import { freePort } from "../service/free-port.ts";
import { type RunningServer, startServer } from "../service/server.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { listAccounts } from "../store/people/accounts.ts";
import { call, pollUntilEnded } from "./demo-calls.ts";
import { printResult } from "./output.ts";
import { step } from "./steps.ts";

const DEMO_ACCOUNT = "Demo FC";
const DEMO_OWNER = "owner@demo.example";
const DEMO_DATA_DIR = "./demo-data";
const GIVE_UP_MS = 120_000;
/** A service goes on trying; a demo gives up after the third time and says why. */
const MAX_FAILED_STARTS = 3;
const SIZE = { width: 1024, height: 1280 };

export function demoCommand(): Command {
  return new Command("demo")
    .description("start the service and make one real card over its HTTP API")
    .option("--once", "exit once the card is made")
    .option("--json", "print JSON once the card is made (with --once)")
    .action(async (options) => {
      // Steps are for people; with --json stdout carries a single value.
      const say = (text: string) => void (options.json || process.stdout.write(`${text}\n`));
      const show: typeof step = (title, work) => (options.json ? work(() => {}) : step(title, work));
      const config = await demoConfig(say);
      let server: RunningServer | undefined;
      try {
        server = await show("start the service", () => startAndWarm(config));
        const card = await makeCard(server, show);
        printResult(options.json, card, () => cardText(card));
        if (!options.once) {
          say(nextText(server, card, await consoleLinks(server, card.account_id)));
          await untilSignal();
          say("\nStopping…");
        }
      } finally {
        await server?.stop();
      }
      process.exit(process.exitCode ?? 0);
    });
}

async function demoConfig(say: (text: string) => void): Promise<Config> {
  const env: Record<string, string | undefined> = { CARDPRESS_DATA_DIR: DEMO_DATA_DIR, ...process.env };
  if (process.getuid?.() === 0 && !env.CARDPRESS_ALLOW_ROOT) {
    say("You are root, so the demo sets CARDPRESS_ALLOW_ROOT=1: Chromium runs without its sandbox.\n");
    env.CARDPRESS_ALLOW_ROOT = "1";
  }
  const config = readConfig(env);
  say(`cardpress demo. Everything it makes is kept in ${config.dataDir}; delete that folder to forget it.`);
  if (env.CARDPRESS_PORT || (await isFree(config))) return config;
  const port = await freePort(config.host);
  say(`Port ${config.port} is taken; using ${port}.`);
  return withPort(config, port);
}

async function isFree({ host, port }: Config): Promise<boolean> {
  try {
    await Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() }).stop(true);
    return true;
  } catch {
    return false;
  }
}

async function startAndWarm(config: Config): Promise<RunningServer> {
  const problems: string[] = [];
  /** Of the renderer's starts, oldest first. */
  const failures: string[] = [];
  const log = jsonLog((line) => {
    if (line.includes('"level":"info"')) return;
    problems.push(line);
    const { event, error } = JSON.parse(line) as { event: string; error?: string };
    if (event === "render_worker_start_failed") failures.push(error ?? line);
  });
  const server = await startServer(config, log);
  const deadline = Date.now() + GIVE_UP_MS;
  while (server.service.pool.health().ready === 0) {
    if (failures.length >= MAX_FAILED_STARTS) {
      await server.stop();
      throw new OperatorError(`The renderer does not start. ${failures.at(-1)}`);
    }
    if (Date.now() > deadline) {
      await server.stop();
      throw new OperatorError(`The renderer did not start. What it said:\n${problems.slice(-5).join("")}`);
    }
    await Bun.sleep(50);
  }
  return server;
}

interface DemoCard {
  account_id: string;
  image_id: string;
  image_url: string;
  /** The page that shows the card alive. */
  share_url: string;
  file: string;
  width: number;
  height: number;
  data_dir: string;
  live_key: string;
  test_key: string;
}

async function makeCard(server: RunningServer, show: typeof step): Promise<DemoCard> {
  const { service, config } = server;
  const keys = await show("open an account with a live and a test key", async () => {
    // Reuses the account of an earlier demo in this folder; its keys were shown once and cannot be shown
    // again.
    const account =
      (await listAccounts(service.store.read)).find(({ name }) => name === DEMO_ACCOUNT) ??
      (await createAccount(service, { name: DEMO_ACCOUNT, tier: "starter", credits: 1000 }));
    const make = (environment: "live" | "test") =>
      createKey(service, { accountId: account.id, environment, name: "demo", by: null });
    return { accountId: account.id, live: (await make("live")).key, test: (await make("test")).key };
  });
  const accepted = await show(`POST ${API_PATHS.images}`, () =>
    call(config.baseUrl + API_PATHS.images, keys.live, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
      body: JSON.stringify(cardRequest(config)),
    }),
  );
  const done = await show("find the player, cut out, set and photograph the card", (note) =>
    pollUntilEnded(() => call(`${config.baseUrl}${accepted.poll_url}`, keys.live), note),
  );
  const { image_url, share_url } = done.result;
  const file = await show("fetch the picture and check it", async () => {
    const bytes = await (await fetch(image_url)).bytes();
    const { format, width, height } = await new Bun.Image(bytes).metadata();
    if (format !== "png" || width !== SIZE.width || height !== SIZE.height) {
      throw new OperatorError(
        `The picture is ${format} ${width}x${height}, not png ${SIZE.width}x${SIZE.height}.`,
      );
    }
    return service.blobs.local("picture", image_url.slice(image_url.lastIndexOf("/") + 1));
  });
  return {
    account_id: keys.accountId,
    image_id: accepted.image_id,
    image_url,
    share_url,
    file: resolve(file),
    ...SIZE,
    data_dir: config.dataDir,
    live_key: keys.live,
    test_key: keys.test,
  };
}

function cardRequest(config: Config): object {
  return {
    type: "player_card",
    player: {
      external_id: "demo-1",
      name: "Eileen Collins",
      position: "ST",
      number: 9,
      skill_level: 93,
      source_image_url: samplePhotoUrl(config),
    },
    style: { preset: config.presets[0], ...SIZE, background_theme: "galaxy" },
  };
}

function cardText(card: DemoCard): string {
  const { image_url, share_url, file, width, height } = card;
  return `\nYour card: ${image_url}\n    Alive: ${share_url}\n     File: ${file} (${width}x${height} PNG)\n`;
}

/** Ways into the console: one-time setup links, or the sign-in page for people who have a password. */
async function consoleLinks({ service, config }: RunningServer, accountId: string): Promise<string[]> {
  const member = { accountId, email: DEMO_OWNER, role: "owner", vouched: true } as const;
  const { setupUrl } = await addMember(service, member);
  const operatorUrl = await firstOperatorLink(service);
  return [
    `The console, as the owner of ${DEMO_ACCOUNT} (${DEMO_OWNER}):`,
    setupUrl ?? `${config.baseUrl}/console`,
    ...(operatorUrl === null ? [] : ["The console, as the operator of the service:", operatorUrl]),
  ];
}

function nextText(server: RunningServer, card: DemoCard, links: string[]): string {
  const { baseUrl } = server.config;
  const curl = (key: string) => curlCreate(baseUrl, cardRequest(server.config), key);
  return [
    `The service is up at ${baseUrl} (API ${baseUrl}/v1, documentation ${baseUrl}/docs).`,
    "",
    "A test image (a watermarked placeholder, free):",
    curl(card.test_key),
    "",
    "A live image (the real thing, one credit):",
    curl(card.live_key),
    "",
    "Ask for it with the poll_url of the answer:",
    `curl ${baseUrl}${fillPath(API_PATHS.image, card)} -H "X-API-Key: ${card.live_key}"`,
    "",
    ...links,
    "",
    "Ctrl-C stops the service.",
  ].join("\n");
}
